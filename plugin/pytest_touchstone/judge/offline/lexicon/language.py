"""What the rules know of a language."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Language:
    """Lists of one language.

    Each list but ``function_words`` (words parted by spaces) holds regular expressions for
    case-folded text with single spaces; they start and end at the edge of a word, and none repeats
    a group that may match in two ways, so that each is matched in linear time.

    :param furniture: what stands around text on a page or a site; tells in a short line alone.
    :param standing: phrases of notices, opinions and ceremony that documents repeat.
    :param slang: slang, abuse and advertising.
    :param chatty: greetings, praise of the question, offers, small talk.
    :param everyday: loose terms and contractions that an official text avoids.
    :param address: words that address the reader, where that is everyday and not official.
    :param accusing: accusations and exaggerations.
    :param sweeping: generalisations, certainty, guesses at motives, predictions.
    :param advising: tells the reader what to think or do.
    :param hedged: says how far a statement holds.
    :param attributed: says who found or said it.
    :param nothing: says that nothing was found.
    :param finding: somebody else looked and found: no word about the search.
    :param widened: says that other or fewer conditions were used.
    :param merely_possible: makes a search an offer.
    :param scope: tells what the collection covers, and nothing of the matter.
    :param asking: asks the reader for a condition without a question mark.
    :param courtesy: closing courtesies that ask for nothing.
    :param quantity: asks for a figure or a time.
    :param turning: words at which a sentence turns to something else.
    """

    function_words: str
    furniture: tuple[str, ...]
    standing: tuple[str, ...]
    slang: tuple[str, ...]
    chatty: tuple[str, ...]
    everyday: tuple[str, ...]
    address: tuple[str, ...]
    accusing: tuple[str, ...]
    sweeping: tuple[str, ...]
    advising: tuple[str, ...]
    hedged: tuple[str, ...]
    attributed: tuple[str, ...]
    nothing: tuple[str, ...]
    finding: tuple[str, ...]
    widened: tuple[str, ...]
    merely_possible: tuple[str, ...]
    scope: tuple[str, ...]
    asking: tuple[str, ...]
    courtesy: tuple[str, ...]
    quantity: tuple[str, ...]
    turning: tuple[str, ...]
