"""Long sources in parts that fit a model's window, and the number of tokens of a text, estimated.

A model counts in its own tokens, which only its server knows.  The estimate errs on the high side:
in the vocabulary of XLM-R, which the default model has, English and Swedish prose has about 0.6 of
it, code and Chinese up to 0.9 (strings of random letters and digits have 1.2).  A part that is too
short costs a call; one that is too long is cut by some servers without a word.
"""

from __future__ import annotations

import bisect
import itertools
import re
import string
from collections.abc import Iterator

_PIECE = re.compile(r"\s{0,8}(?:\w{1,24}|[^\w\s])|\s{1,24}")
_SMALL, _SPACES = string.ascii_lowercase.encode(), string.whitespace.encode()
_CONTINUATIONS, _FOUR_BYTES = bytes(range(0x80, 0xC0)), bytes(range(0xF0, 0xF8))
"""Bytes that go on with a sign in UTF-8, and those that begin one outside the basic plane."""


def clean(text: str) -> str:
    """``text`` as it can be sent: no half surrogate pairs, no NUL, nothing around it."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "").strip()


def estimated_tokens(text: str) -> float:
    """An estimate of the tokens of ``text``; that of two texts together is the sum of theirs.

    A small ASCII letter is a third of a token, white space two thirds, any other sign one, an
    emoji (what UTF-8 writes in four bytes) four.
    """
    # Deleting bytes takes microseconds, where looking at words takes milliseconds.
    sent = text.encode("utf-8", "replace")
    thirds = 3 * len(sent)
    thirds -= 2 * (len(sent) - len(sent.translate(None, _SMALL)))
    thirds -= len(sent) - len(sent.translate(None, _SPACES))
    if len(sent) > len(text):
        thirds -= 3 * (len(sent) - len(sent.translate(None, _CONTINUATIONS)))
        thirds += 9 * (len(sent) - len(sent.translate(None, _FOUR_BYTES)))
    return thirds / 3


def windows(text: str, tokens: float, overlap: float) -> list[str]:
    """``text`` in overlapping parts, cut between words, that hold all of it.

    :param tokens: estimated tokens of one part at most; a single word (24 signs at most) is never
        cut further.
    :param overlap: estimated tokens that stand in two neighbouring parts, so that what stands at a
        border stands whole in one of them; less than ``tokens``.
    """
    if estimated_tokens(text) <= tokens:
        return [text] if text else []
    pieces = [(piece.end(), estimated_tokens(piece[0])) for piece in _PIECE.finditer(text)]
    starts = [0, *(end for end, _ in pieces)]
    sums = list(itertools.accumulate((cost for _, cost in pieces), initial=0.0))
    parts = []
    for first, last in _spans(sums, tokens, overlap):
        if part := text[starts[first] : starts[last]].strip():
            parts.append(part)
    return parts


def _spans(sums: list[float], tokens: float, overlap: float) -> Iterator[tuple[int, int]]:
    """Pieces from and up to (exclusive), as (first, last); ``sums`` are running totals."""
    first, end = 0, len(sums) - 1
    while True:
        last = max(first + 1, bisect.bisect_right(sums, sums[first] + tokens) - 1)
        yield first, min(last, end)
        if last >= end:
            return
        overlapping = bisect.bisect_right(sums, sums[last] - overlap) - 1
        # The next piece has to fit, or the window would bring nothing new.
        fitting = bisect.bisect_left(sums, sums[last + 1] - tokens)
        first = max(first + 1, min(last, max(overlapping, fitting)))
