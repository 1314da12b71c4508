"""Whether a chunk is a paragraph or noise: sentences, repetition, debris, without a language model.

The text is parted into pieces (sentences, rows, list items).  Each piece is prose, or noise of a
kind with a degree; what makes up most of the text decides, as the label's meaning has it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from pytest_touchstone.judge.offline.lexicon import FUNCTION_WORDS, phrases, plain
from pytest_touchstone.paragraphs import sentences
from pytest_touchstone.verdicts import Coherence

Noise = Literal["boilerplate", "table_debris", "cut"]
Repeated = Callable[[str], float]
"""Share of the collection's chunks that hold a line, from 0 to 1; 0 where it is not known."""

LONGEST = 20_000
"""Characters of a text that are read: a chunk is shorter, and the rest would not change a label."""
NOISE_FROM = 0.5
"""From this much noise on, a text is no paragraph."""
REPEATED_FULLY = 0.1
"""A piece that a tenth of the chunks hold stands in every document alike."""

_LEADERS = re.compile(r"(?:[.·․_]\s?){5,}|…{2,}|(?:\.\s){4,}")
_LIST_MARK = re.compile(r"(?:[-*•–▪◦‣>#|]+|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.):])\s+")
_LINK = re.compile(r"https?://\S{1,300}|www\.\S{1,300}|\S{1,64}@\S{1,64}\.\w{2,8}")
_LINKED = re.compile(r"\[([^\[\]]{1,300})\]\([^()\s]{1,500}\)")
_PHONE = re.compile(
    r"(?:\+\d{1,3}[-\s]?|\(\d{2,4}\)\s?|\d{2,4}[-‐–])\d{2,4}[-\s]\d{2,4}(?:[-\s]\d{2,4})?"
)
_ENDS = re.compile(r"""[.!?…:;։؟۔।॥。！？：；]["'”’»)\]*_]*(?:\s*\[[\d, ]{1,20}\][.]?)*\s*$""")
_BREAKS_OFF = re.compile(r"[\w][-‐­]\s*$|[,(/]\s*$")
_CODE = re.compile(r"""[{}<>=$|\\;]|\(\)|":|::|->""")
_CRUMBS = re.compile(r"\s(?:[>›»|·•/]|->)\s")
_GLUED = re.compile(r"[^\W\d_][a-zà-ÿ][A-ZÀ-Þ][a-zà-ÿ]")
_REFERENCE = re.compile(
    r"\b[A-ZÅÄÖ][\w'’-]{1,30},\s(?:[A-ZÅÄÖ]\.\s?){1,3}|\(\d{4}[a-z]?\)|\bdoi\b|\bpp?\.\s?\d+"
    r"|\b[A-ZÅÄÖ][a-zåäöéü]{1,30} [A-Z]{1,2}(?=[.,](?:\s|$))|\b(?:19|20)\d\d;\s?\d+|:\d{1,5}[-–]\d+"
    r"|\b\d{1,4}\s?\(\d{1,3}\)|\bvol\.|\bet al\b|\bISBN\b"
)
_PAGE_OF = re.compile(r"(?:page|sid(?:a|an)?) \d{1,4} ?(?:of|av|/) ?\d{1,4}\b")
_NEXT_IN_SMALL = re.compile(r"\w[.!?]\s+[^\W\d_]+\s")
_CONTINUED = re.compile(
    r"\(?\W{0,2}(?:continued|cont'?d|cont\.|forts(?:\.|ättning))", re.IGNORECASE
)
_GARBLED = re.compile(r"\ufffd|Ã[\x80-\xbf¤¥¶©¨]|â€|(?:\b[^\W\d_]\s){4,}")
_CASED = re.compile(r"[a-zà-öø-ÿα-ωа-я]")
_WORDS = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence, row or item.

    :param kind: ``""`` is prose.
    :param degree: of the noise, from 0 to 1.
    """

    text: str
    kind: Noise | Literal[""]
    degree: float
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Words:
    """What the words of a piece are like; shares are of all of them."""

    number: int
    figures: float
    lower: float
    function: float

    @classmethod
    def of(cls, text: str) -> _Words:
        words = [w for w in _WORDS.findall(text) if any(map(str.isalnum, w))]
        total = max(len(words), 1)
        bare = [w.strip("\"'“”‘’()[]{}.,;:!?*_–-«»").casefold() for w in words]
        return cls(
            len(words),
            sum(any(map(str.isdigit, w)) for w in words) / total,
            sum(_first_letter(w).islower() for w in words) / total,
            sum(w in FUNCTION_WORDS for w in bare) / total,
        )


def coherence(text: str, repeated: Repeated) -> Coherence:
    """The form of a chunk, with what decided."""
    pieces = _pieces(text, repeated)
    if not pieces:
        return Coherence("table_debris", "The text has no word.")
    by_kind = _shares(pieces)
    noisy = min(1.0, sum(share for kind, share in by_kind.items() if kind))
    if noisy < NOISE_FROM:
        if noisy < 0.05:
            return Coherence("paragraph", "Whole sentences or list items that follow each other.")
        return Coherence("paragraph", f"{1 - noisy:.0%} of the text is whole sentences or items.")
    kind = max((k for k in by_kind if k), key=lambda k: by_kind[k])
    worst = max((p for p in pieces if p.kind == kind), key=lambda p: p.degree * len(p.text))
    return Coherence(kind, f"{noisy:.0%} of the text is noise; {worst.why}: “{_short(worst.text)}”")


def noise(text: str, repeated: Repeated) -> float:
    """How much of a chunk is noise, from 0 to 1; :func:`coherence` cuts it at ``NOISE_FROM``."""
    pieces = _pieces(text, repeated)
    if not pieces:
        return 1.0
    return min(1.0, sum(share for kind, share in _shares(pieces).items() if kind))


def _shares(pieces: Sequence[_Piece]) -> dict[Noise | Literal[""], float]:
    # With neither a beginning nor an end, what stands between is harder to follow.
    cut_off = len(pieces) > 1 and all(pieces[edge].kind == "cut" for edge in (0, -1))
    lengths = [len(piece.text) for piece in pieces]
    if cut_off:
        lengths[0], lengths[-1] = 2 * lengths[0], 2 * lengths[-1]
    shares: dict[Noise | Literal[""], float] = defaultdict(float)
    for piece, length in zip(pieces, lengths, strict=True):
        shares[piece.kind] += piece.degree * length / sum(lengths)
    return shares


def _pieces(text: str, repeated: Repeated) -> list[_Piece]:
    lines = _lines(text[:LONGEST])
    parts = [(line, part) for line in lines for part in _parts(line)]
    labels = _label_lines(lines)
    cased = bool(_CASED.search(text[:LONGEST]))
    # Where no sentence begins with a capital letter, a small one tells nothing of the first.
    begins = cased and not (_NEXT_IN_SMALL.search(text) and not any(map(str.isupper, text)))
    found = []
    for place, (line, part) in enumerate(parts):
        first, last = place == 0, place == len(parts) - 1
        edge = _cut(part, first=first, last=last and len(text) <= LONGEST, cased=begins)
        piece = _form(part, line in labels, cased)
        share = min(1.0, repeated(part) / REPEATED_FULLY) if _tellable(part) else 0.0
        known = _Piece(part, "boilerplate", share, "it stands in many chunks alike")
        # Of equal degrees the first counts: what stands everywhere is that, however it is cut.
        found.append(max((known, piece, edge), key=lambda each: each.degree))
    return found


def _tellable(part: str) -> bool:
    return any(map(str.isalpha, part))


def _lines(text: str) -> list[str]:
    """Lines without their breaks, those joined that one sentence runs through."""
    joined: list[str] = []
    for raw in re.split(r"[\r\n\x0b\x0c\x85\u2028\u2029]+", _LINKED.sub(r"\1", text)):
        line = " ".join(raw.split())
        if not any(map(str.isalnum, line)):
            continue
        if joined and _runs_on(joined[-1], line):
            joined[-1] = f"{joined[-1]} {line}" if len(joined[-1]) < LONGEST else line
        else:
            joined.append(line)
    return joined


def _runs_on(before: str, line: str) -> bool:
    if _ENDS.search(before[-40:]) or _LIST_MARK.match(line) or _LEADERS.search(before):
        return False
    last = before.rsplit(maxsplit=1)[-1].casefold()
    goes_on = _first_letter(line).islower() and len(before) > 25
    return goes_on or (len(before) > 40 and (last in FUNCTION_WORDS or before[-1] in ",-"))


def _parts(line: str) -> Iterator[str]:
    if _LEADERS.search(line):
        yield line
        return
    yield from sentences(line)


def _label_lines(lines: Sequence[str]) -> frozenset[str]:
    """Short lines without an end, where they outnumber the others: a menu, an index, a form."""
    short = [
        line
        for before, line in pairwise(["", *lines])
        if len(line) < 60
        and not _ENDS.search(line[-40:])
        and not _LIST_MARK.match(line)
        and not before.endswith(":")
    ]
    return frozenset(short) if len(short) >= 4 and 2 * len(short) > len(lines) else frozenset()


def _form(part: str, label: bool, cased: bool) -> _Piece:
    """What a piece is by its own make-up, wherever it stands."""
    read = plain(part)
    words = _Words.of(part)
    if _LEADERS.search(part):
        return _Piece(part, "boilerplate", 1.0, "dot leaders of a table of contents")
    for look in (_furniture, _garbled, _code, _apparatus, _standing, _row):
        if piece := look(part, read, words, cased):
            return piece
    if label:
        kind: Noise = "table_debris" if words.figures > 0.2 else "boilerplate"
        return _Piece(part, kind, 0.8, "one of many labels without a sentence")
    return _Piece(part, "", 0.0)


def _furniture(part: str, read: str, words: _Words, cased: bool) -> _Piece | None:  # noqa: ARG001
    crumbs = len(_CRUMBS.findall(part))
    ends = bool(_ENDS.search(part[-40:]))
    # A trail may run on into the first question of the page.
    trail = crumbs >= 2 and (not ends or (crumbs >= 3 and words.function < 0.25))
    if trail and words.number <= 8 * (crumbs + 1):
        return _Piece(part, "boilerplate", 0.9, "a row of navigation")
    if words.function < 0.25 and len(_GLUED.findall(part)) >= max(3, words.number // 8):
        return _Piece(part, "boilerplate", 0.9, "labels run together")
    if words.number <= 16 and not ends and _PAGE_OF.match(read):
        return _Piece(part, "boilerplate", 0.9, "the head or foot of a page")
    bare = read.strip(" .|·•-–—:>#*[]()")
    if words.number <= 12 and phrases("furniture").fullmatch(bare):
        return _Piece(part, "boilerplate", 1.0, "stands around the text of a page")
    marked = sum(len(each[0]) for each in phrases("furniture").finditer(read))
    if words.number >= 3 and words.function < 0.2 and marked > 0.5 * len(read):
        return _Piece(part, "boilerplate", 0.8, "labels of a page")
    return None


def _standing(part: str, read: str, words: _Words, cased: bool) -> _Piece | None:  # noqa: ARG001
    found = phrases("standing").search(read)
    # A phrase at the end of a row of figures does not make the row one.
    if found is None or (words.figures > 0.3 and words.function < 0.25):
        return None
    return _Piece(part, "boilerplate", 0.9, f"a standing phrase (“{found[0]}”)")


def _garbled(part: str, read: str, words: _Words, cased: bool) -> _Piece | None:  # noqa: ARG001
    lost = sum(len(each[0]) for each in _GARBLED.finditer(part))
    if lost and (lost > 0.1 * len(part) or len(_GARBLED.findall(part)) >= 0.15 * words.number):
        return _Piece(part, "cut", 0.9, "characters are lost")
    return None


def _code(part: str, read: str, words: _Words, cased: bool) -> _Piece | None:  # noqa: ARG001
    signs = len(_CODE.findall(part))
    if signs >= 3 and signs > 0.3 * words.number and words.function < 0.25:
        return _Piece(part, "table_debris", 0.8, "code or its output")
    return None


def _apparatus(part: str, read: str, words: _Words, cased: bool) -> _Piece | None:  # noqa: ARG001
    """Addresses and lists of references."""
    contacts = len(_LINK.findall(part)) + len(_PHONE.findall(part))
    told = words.function >= 0.12 and bool(_ENDS.search(part[-40:]))
    if contacts and words.number <= 12 * contacts and words.function < 0.2 and not told:
        return _Piece(part, "boilerplate", 0.8, "an address")
    if len(_REFERENCE.findall(part)) >= max(2, words.number // 12) and words.function < 0.3:
        return _Piece(part, "boilerplate", 0.8, "an entry of a list of references")
    return None


def _row(part: str, read: str, words: _Words, cased: bool) -> _Piece | None:  # noqa: ARG001
    """Figures and labels that no sentence connects."""
    if words.number < 3 and not words.figures:
        return None
    if not cased:
        loose = words.figures > 0.5 and words.number >= 4
        return _Piece(part, "table_debris", 0.8, "a row of figures") if loose else None
    ends = bool(_ENDS.search(part[-40:]))
    connected = words.function + 0.35 * words.lower * (0.6 if not ends else 1.0)
    lacking = min(1.0, max(0.0, (0.42 - connected) / 0.3))
    if ends and words.figures < 0.4 and words.lower >= 0.4:
        return None
    if words.figures >= 0.2:
        degree = min(1.0, lacking + words.figures - 0.2)
        return _Piece(part, "table_debris", degree, "figures and labels that no sentence connects")
    if words.number >= 8 and not ends:
        return _Piece(part, "boilerplate", 0.9 * lacking, "a row of labels without a sentence")
    return None


def _cut(part: str, *, first: bool, last: bool, cased: bool) -> _Piece:
    """Whether a piece lacks its beginning or end; only the edges of a text can be told."""
    words = _WORDS.findall(part)
    degree, why = 0.0, ""
    if first:
        start = part.lstrip("\"'“”‘’([*_«»- ")
        if _CONTINUED.match(part) or part[:1] in ",.;:)]}…":
            degree, why = 1.0, "it begins in the middle"
        elif cased and start[:1].islower() and not _LIST_MARK.match(part):
            # A brand, a command or the headword of an entry may begin a sentence.
            odd = any(c.isupper() or c.isdigit() or c in "_./-" for c in words[0][1:])
            odd = odd or any(word.endswith(":") for word in words[:4])
            degree, why = (0.4 if odd else 1.0), "it begins in the middle"
    if last and not _ENDS.search(part[-60:]):
        end = words[-1].strip("\"'“”‘’()[]*_").casefold() if words else ""
        if _BREAKS_OFF.search(part) or end in FUNCTION_WORDS:
            degree, why = 1.0, why or "it breaks off"
        elif len(words) >= 6 and cased and degree < 1.0:
            shape = _Words.of(part)
            running = shape.function >= 0.2 and shape.lower >= 0.5
            if running and degree < 0.8:
                degree, why = 0.8, "it has no end"
    return _Piece(part, "cut" if degree else "", degree, why)


def _first_letter(text: str) -> str:
    for character in text[:12]:
        if character.isalpha():
            return character
        if character.isdigit():
            return "0"
    return ""


def _short(text: str, longest: int = 60) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in text[:400]).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
