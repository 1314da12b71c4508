"""Register of an answer: formality and caution from 1 to 5, by cues that are listed by language.

Formality counts slips (greetings, praise, exclamations, loose words, slang) against the number of
sentences.  Caution weighs what a sentence overstates (certainty, generalisation, accusation,
advice) against what ties it to evidence (who found it, a citation, a hedge, a time).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pytest_touchstone.judge.offline.conduct import LONGEST
from pytest_touchstone.judge.offline.lexicon import phrases, plain, spoken
from pytest_touchstone.judge.offline.lexicon.language import Language
from pytest_touchstone.paragraphs import CITATION, sentences
from pytest_touchstone.verdicts import Tone

_CITED = re.compile(CITATION)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_EXCLAIMS = re.compile(r"[!！](?!=)")
_SHOUTS = re.compile(r"\b[^\W\d_a-zà-ÿ]{5,}\b(?:\s+[^\W\d_a-zà-ÿ]{2,}\b){2}")
_EMOTICON = re.compile(r"(?:^|\s)[:;][-']?[)(DPp](?:\s|$)")
_SHOWN = 3


@dataclass(slots=True)
class _Cues:
    """What one sentence shows; each list holds the words that show it."""

    strong: list[str] = field(default_factory=list)
    chatty: list[str] = field(default_factory=list)
    everyday: list[str] = field(default_factory=list)
    address: list[str] = field(default_factory=list)
    accusing: list[str] = field(default_factory=list)
    sweeping: list[str] = field(default_factory=list)
    tied: list[str] = field(default_factory=list)
    dated: bool = False
    nothing: bool = False


def tone(question: str, answer: str) -> Tone:  # noqa: ARG001 (the question decides nothing here)
    """The two scores, each with the words that decided."""
    text = answer[:LONGEST]
    languages = spoken(plain(text))
    cues = [_cues(each, languages) for each in sentences(text)]
    formality, why = _formality(cues)
    caution, because = _caution(cues)
    return Tone(formality, why, caution, because)


def _cues(sentence: str, languages: tuple[Language, ...]) -> _Cues:
    read = plain(sentence)

    def said(kind: str) -> list[str]:
        return [match[0] for match in phrases(kind, languages).finditer(read)]

    cues = _Cues(
        strong=[*said("slang"), *_emoji(sentence)],
        chatty=[*said("chatty"), *(["!"] if _EXCLAIMS.search(sentence) else [])],
        everyday=said("everyday"),
        address=said("address"),
        accusing=said("accusing"),
        sweeping=[*said("sweeping"), *said("advising")],
        tied=[*said("attributed"), *said("hedged"), *_CITED.findall(sentence)],
        dated=bool(_YEAR.search(sentence)),
        nothing=bool(said("nothing")),
    )
    if _SHOUTS.search(sentence):
        cues.strong.append("CAPITALS")
    return cues


def _emoji(sentence: str) -> Iterator[str]:
    if sentence.isascii():
        yield from (match[0].strip() for match in _EMOTICON.finditer(sentence))
        return
    for character in sentence:
        pictured = unicodedata.category(character) == "So" and ord(character) >= 0x2600
        if pictured and character not in "☐☑☒✓✔✗✘●■◆★☆":
            yield character


def _formality(cues: Sequence[_Cues]) -> tuple[int, str]:
    if not cues:
        return 5, "The answer has no sentence."
    total = len(cues)
    strong = [word for each in cues for word in each.strong]
    chatty = [word for each in cues for word in each.chatty]
    loose = [word for each in cues for word in (*each.everyday, *each.address)]
    slips = sum(bool(each.chatty or each.strong) for each in cues)
    loosened = sum(bool(each.everyday or each.address) for each in cues)
    if strong and (len(strong) >= 2 or 2 * slips > total):
        return 1, _named("Slang, emoji, abuse or advertising", strong)
    if strong or 2 * slips > total or (slips >= 2 and slips + loosened > total):
        return 2, _named("Chatty", [*strong, *chatty, *loose])
    if slips + loosened >= 3 or 2 * (slips + loosened) > total or len(chatty) >= 2:
        return 3, _named("Everyday prose", [*chatty, *loose])
    if slips or loosened:
        return 4, _named("Sober, with a slip", [*chatty, *loose])
    return 5, "Sober throughout: no loose, chatty or advertising word."


def _caution(cues: Sequence[_Cues]) -> tuple[int, str]:
    if not cues:
        return 5, "The answer states nothing."
    stating = [each for each in cues if not each.nothing]
    # What others are said to have claimed is reported, not claimed.
    accusing = [word for each in stating for word in each.accusing if not each.tied]
    reported = [word for each in stating for word in each.accusing if each.tied]
    sweeping = [word for each in cues for word in each.sweeping if not each.tied]
    softened = [word for each in cues for word in each.sweeping if each.tied]
    over = len(sweeping) + 0.5 * (len(softened) + len(reported))
    if accusing and (len(accusing) >= 2 or over >= 1 or 2 * len(accusing) >= len(cues)):
        return 1, _named("Accuses or exaggerates", [*accusing, *sweeping])
    if accusing or over >= max(2.0, 0.4 * len(cues)):
        words = [*accusing, *sweeping, *softened, *reported]
        return 2, _named("Claims as certain or general", words)
    tied = sum(1.0 if each.tied else 0.5 * each.dated for each in stating)
    share = tied / len(stating) if stating else 1.0
    evidence = [word for each in stating for word in each.tied]
    if over and over >= min(1.0, 0.5 * len(cues)):
        score = 4 if share > 0.5 else 3 if share > 0.25 else 2
        return score, _named("One statement is stronger than its evidence", [*sweeping, *softened])
    if share > 0.5:
        return 5, _named("Says on what its statements rest", evidence)
    if share >= 0.25 and evidence:
        return 4, _named("Careful in part", evidence)
    if share >= 0.25:
        return 4, "Says for which time it holds."
    return 3, "States plainly, without saying who found it or how far it holds."


def _named(what: str, words: Sequence[str]) -> str:
    shown = list(dict.fromkeys(words))[:_SHOWN]
    return f"{what}: {', '.join(f'“{word[:40]}”' for word in shown)}."
