"""Places in an order, shares and multiples written in letters, and times of the clock.

"The third quarter", "Q3" and "tredje kvartalet" are one place; "a third of" and "en tredjedel" are
33 %; "doubled" is twice.  An ordinal counts only where it is one: "a second", "andra kommuner" are
none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

TIMES = "times"
"""The unit of "doubled" and "halved"."""

_EN = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
]
_SV = [
    "första",
    "andra",
    "tredje",
    "fjärde",
    "femte",
    "sjätte",
    "sjunde",
    "åttonde",
    "nionde",
    "tionde",
    "elfte",
    "tolfte",
    "trettonde",
    "fjortonde",
    "femtonde",
    "sextonde",
    "sjuttonde",
    "artonde",
    "nittonde",
    "tjugonde",
]
_RANKS = {word: n for words in (_EN, _SV) for n, word in enumerate(words, start=1)}
_DENOMINATORS = {
    "third": 3,
    "quarter": 4,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "eighth": 8,
    "tenth": 10,
    "tredjedel": 3,
    "fjärdedel": 4,
    "femtedel": 5,
    "sjättedel": 6,
    "åttondel": 8,
    "tiondel": 10,
}
_NUMERATORS = {
    **dict.fromkeys(("a", "an", "one", "en"), 1),
    **{"two": 2, "three": 3, "four": 4, "två": 2, "tre": 3, "fyra": 4},
}
_MULTIPLES = {
    **dict.fromkeys(
        ["doubled", "doubles", "doubling", "fördubblades", "fördubblats", "fördubblade"], 2.0
    ),
    **dict.fromkeys(["tripled", "trebled", "tredubblades", "tredubblats"], 3.0),
    **dict.fromkeys(["quadrupled", "fyrdubblades"], 4.0),
    **dict.fromkeys(["halved", "halverades", "halverats", "halverade"], 0.5),
}
_PART = "|".join(sorted(_DENOMINATORS, key=len, reverse=True))
_RANK = "|".join(sorted(set(_RANKS) - {"second", "andra"}, key=len, reverse=True))
_OF = (
    r"(?=\s(?:of|av|to|till|in|since|between|less|more|fewer|lower|higher|färre|fler|mer|mindre|lägre"
    r"|högre)\b|[,.;)]|$)"
)
_WRITTEN = re.compile(
    rf"""
    (?P<share>\b(?P<top>a|an|one|two|three|four|en|två|tre|fyra)[ -](?P<part>{_PART})
        (?:s|en|ar|ar?na)?\b{_OF})
    | (?P<half>(?<!first )(?<!second )(?<!other )(?<!latter )(?<!1st )(?<!2nd )(?<!and a )
        \b(?:half(?=\sof\b|\sthe\b|\sits\b|\stheir\b)|(?<=by )half\b
        |hälften(?=\sav\b)|(?<=till )hälften\b|(?<=med )hälften\b))
    | (?P<multiple>\b(?:{"|".join(_MULTIPLES)})\b)
    | (?P<quarter>\bQ(?P<q>[1-4])\b)
    | (?P<rank>(?<![\w-])(?:{_RANK}|(?<!a )(?<!per )(?<!each )(?<!one )second(?=\s[^\W\d_])
        |(?<=den )andra|(?<=det )andra|andra(?=\s\w+(?:et|gången|platsen|plats)\b))
        (?![\w-]))
    """,
    re.VERBOSE | re.IGNORECASE,
)
CLOCK = re.compile(
    r"""
    (?<![\w.:])(?P<h>\d\d?)(?:[.:](?P<m>[0-5]\d))?\s?(?P<half>[ap])\.?m\b\.?
    | \b(?:kl\.?|klockan)\s(?P<kl>\d\d?)(?:[.:](?P<klm>[0-5]\d))?(?![\d.,]*\d)
    | (?<![\w.:])(?P<hh>[01]?\d|2[0-4]):(?P<mm>[0-5]\d)(?![\w:])
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Times of the clock: "4 pm", "kl. 14.30", "16:00"."""


def written_ranks(text: str) -> Iterator[re.Match[str]]:
    """The ordinals, shares and multiples of a text, in order."""
    return _WRITTEN.finditer(text)


def rank_or_share(match: re.Match[str]) -> tuple[float, str | None]:
    """The value and unit of a match: a share in per cent, a multiple, or a place without a unit."""
    word = match[0].casefold()
    if match["share"]:
        return 100.0 * _NUMERATORS[match["top"].casefold()] / _DENOMINATORS[
            match["part"].casefold()
        ], "%"
    if match["half"]:
        return 50.0, "%"
    if match["multiple"]:
        return _MULTIPLES[word], TIMES
    return float(match["q"] or _RANKS[word]), None
