"""Words of a text in any script, for measures that compare texts word by word."""

from __future__ import annotations

import re
import unicodedata

# Scripts that put no space between words: each letter, with its marks, is a token.
_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # ideographic iteration mark and zero
    (0x3031, 0x30FF),  # kana
    (0x31F0, 0x31FF),  # kana extensions
    (0x3400, 0x4DBF),  # ideographs
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),  # half-width kana
    (0x1B000, 0x1B16F),  # kana supplements
    (0x20000, 0x3FFFD),  # further ideographs
)
_ZERO_WIDTH_SPACE = 0x200B
_TOKEN = re.compile("sm*|w[wm]*")


class _Invisible(dict[int, str | None]):
    """Code point to nothing where it only shapes or directs text, filled as points are met."""

    def __missing__(self, point: int) -> str | None:
        shapes = unicodedata.category(chr(point)) == "Cf" and point != _ZERO_WIDTH_SPACE
        self[point] = None if shapes else chr(point)
        return self[point]


class _Kinds(dict[int, str]):
    """Code point to its part in a token: a letter or digit of a word (``w``), one that is a
    token by itself (``s``), a mark on it (``m``), none (a space); filled as points are met."""

    def __missing__(self, point: int) -> str:
        category = unicodedata.category(chr(point))[0]
        if category == "M":
            kind = "m"
        elif category not in "LN":
            kind = " "
        else:
            kind = "s" if any(low <= point <= high for low, high in _UNSPACED) else "w"
        self[point] = kind
        return kind


_invisible = _Invisible()
_kinds = _Kinds()


def tokens(text: str) -> list[str]:
    """The words of a text, in order, in NFC and case-folded.

    A word is a run of letters, digits and their marks, by Unicode category; in scripts that put
    no space between words (ideographs, kana, Thai, Lao, Khmer, Myanmar) each letter is one.
    Characters that only shape or direct text (soft hyphens, joiners, bidirectional marks) do not
    count.  Texts that are canonically equivalent, or differ in case alone, have equal tokens
    (Unicode Standard, section 3.13, D145).
    """
    visible = unicodedata.normalize("NFD", text.translate(_invisible))
    folded = unicodedata.normalize("NFC", visible.casefold())
    kinds = folded.translate(_kinds)
    return [folded[match.start() : match.end()] for match in _TOKEN.finditer(kinds)]
