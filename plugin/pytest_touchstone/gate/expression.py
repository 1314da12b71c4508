"""The grammar of gates.

=================================  ==============================================================
``Recall@5 >= 0.7``                the estimate
``lower(Faithfulness) >= 0.85``    an end of its interval; likewise ``upper(...)``
``Faithfulness >= baseline``       the difference to the baseline, question by question
``Recall@10 >= previous - 0.03``   the difference to an earlier report, with a margin
``unscored(Tone) <= 0.05``         the share of questions without a score, of a measure or of the
                                   worst measure of a dimension
``Recall@10[multi_turn] >= 0.5``   one type of question, in any of these
=================================  ==============================================================

A measure of which less is better takes ``<=``.  The text is scanned, never evaluated.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from pytest_touchstone.gold.cases import CASE_TYPES
from pytest_touchstone.measures import MEASURES, Measure
from pytest_touchstone.measures import parse as parse_measure
from pytest_touchstone.nearest import hint, nearest
from pytest_touchstone.report.display import printable
from pytest_touchstone.unusable import Unusable

Quantity = Literal["estimate", "lower", "upper", "unscored"]
"""What is held against the bound: the estimate or difference, an end of the interval, a share."""

Reference = Literal["baseline", "previous"]
"""What a difference is taken to."""

_FUNCTIONS: tuple[str, ...] = ("lower", "upper", "unscored")
_REFERENCES: tuple[str, ...] = get_args(Reference)
_DIMENSIONS = tuple(dict.fromkeys(measure.dimension for measure in MEASURES.values()))
_SHARE: tuple[float, float | None] = (0.0, 1.0)
_LONGEST = 4000
_LONGEST_WHY = 600
_SHOWN = 80
_EXAMPLE = "write it like `Recall@5 >= 0.7`"
_BOUNDS = "the bound is a number, `baseline` or `previous`, such as `previous - 0.03`"

_UNSIGNED = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_NUMBER = re.compile(rf"[+-]?{_UNSIGNED}", re.ASCII)
_RELATIVE = re.compile(rf"([A-Za-z_]+)\s*(?:([+-])\s*({_UNSIGNED}))?", re.ASCII)
_COMMA = re.compile(r".*\d,\d.*", re.ASCII)
_CALL = re.compile(r"(\w+)\s*\((.*)\)", re.DOTALL)
_QUOTED = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
_COMPARISON = frozenset("<>=!≤≥")
_MEANT = {
    "=": "`>=` or `<=`",
    "==": "`>=` or `<=`",
    "=>": "`>=`",
    "=<": "`<=`",
    ">": "`>=`",
    "<": "`<=`",
    "≥": "`>=`",
    "≤": "`<=`",
}
_PAIRS = {")": "(", "]": "["}


class GateError(Unusable, ValueError):
    """A text that is no gate: what is wrong with it, and what to write."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition on a run; ``str`` gives its canonical text, which :func:`parse` reads back.

    :param subject: canonical name of a measure, or a dimension (of ``unscored`` only).
    :param kind: the one type of question it is about; ``None`` for all.
    :param at_least: whether it is met at or above the bound; otherwise at or below it.
    :param reference: what a difference is taken to; ``None`` where the bound stands alone.
    :param bound: the bound, or with a reference the margin that is added to it.
    """

    quantity: Quantity
    subject: str
    kind: str | None
    at_least: bool
    reference: Reference | None
    bound: float

    def __str__(self) -> str:
        left = self.subject + (f"[{self.kind}]" if self.kind else "")
        if self.quantity != "estimate":
            left = f"{self.quantity}({left})"
        right = number(self.bound)
        if self.reference is not None:
            sign = "-" if self.bound < 0 else "+"
            margin = f" {sign} {number(abs(self.bound))}" if self.bound else ""
            right = f"{self.reference}{margin}"
        return f"{left} {'>=' if self.at_least else '<='} {right}"


def parse(text: str) -> Gate:
    """The gate that a text describes.

    :raises GateError: in one line, with what was probably meant.
    """
    if not text.strip():
        raise GateError(f"an empty text is no gate: {_EXAMPLE}")
    try:
        if len(text) > _LONGEST:
            raise GateError(f"it is longer than {_LONGEST} characters; {_EXAMPLE}")
        return _gate(text.strip())
    except GateError as error:
        shown = repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}..."
        raise GateError(f"{shown} is no gate: {printable(str(error), _LONGEST_WHY)}") from None


def number(value: float) -> str:
    """The shortest text that reads back as this number."""
    return repr(value + 0.0).removesuffix(".0")


def _gate(text: str) -> Gate:
    left, comparison, right = _sides(text)
    if not left:
        raise GateError(f"nothing stands before `{comparison}`; {_EXAMPLE}")
    if _NUMBER.fullmatch(left) or left in _REFERENCES:
        turned = {">=": "<=", "<=": ">="}[comparison]
        raise GateError(f"the measure stands on the left: `{right or '...'} {turned} {left}`")
    quantity, inner = _quantity(left)
    name, kind = _typed(inner)
    if quantity == "unscored":
        subject, measure = _counted(name)
        is_better, range_ = False, _SHARE
    else:
        measure = _measure(name)
        subject, is_better, range_ = measure.name, measure.higher_is_better, measure.range
    if (comparison == ">=") != is_better:
        what = "the share of unscored questions" if quantity == "unscored" else str(measure)
        better, meant = ("more", ">=") if is_better else ("less", "<=")
        raise GateError(f"of {what} {better} is better: write `{left} {meant} ...`")
    if not right:
        raise GateError(f"no bound stands behind `{comparison}`; {_BOUNDS}")
    reference, bound = _bound(right)
    if reference is not None and quantity != "estimate":
        _refuse_reference(quantity, inner, comparison, right)
    _check_range(subject if quantity != "unscored" else "a share", range_, reference, bound)
    return Gate(quantity, subject, kind, comparison == ">=", reference, bound)


def _refuse_reference(quantity: str, inner: str, comparison: str, right: str) -> None:
    if quantity == "unscored":
        raise GateError("`unscored(...)` takes a number between 0 and 1")
    raise GateError(
        "a comparison uses the interval of the difference already:"
        f" write `{inner} {comparison} {right}`"
    )


def _sides(text: str) -> tuple[str, str, str]:
    """What stands before and behind the one comparison, and the comparison."""
    runs: list[list[int]] = []
    for place, character in _outside(text):
        if character in _COMPARISON:
            if runs and runs[-1][-1] == place - 1:
                runs[-1].append(place)
            else:
                runs.append([place])
    if not runs:
        raise GateError(f"it compares nothing; {_EXAMPLE}")
    found = [text[run[0] : run[-1] + 1] for run in runs]
    if len(found) > 1:
        raise GateError(f"it holds {len(found)} comparisons; write a gate for each")
    if found[0] not in (">=", "<="):
        meant = _MEANT.get(found[0], "`>=` or `<=`")
        raise GateError(f"`{found[0]}` is no comparison of gates; write {meant}")
    start, end = runs[0][0], runs[0][-1] + 1
    return text[:start].strip(), found[0], text[end:].strip()


def _outside(text: str) -> Iterator[tuple[int, str]]:
    """The characters outside quotation marks and brackets, the outermost brackets included.

    :raises GateError: where a bracket or quotation mark has no partner.
    """
    bare = _QUOTED.sub(lambda quoted: "_" * len(quoted[0]), text)
    opened: list[str] = []
    for place, character in enumerate(bare):
        if character in "\"'":
            raise GateError(f"`{character}` is never closed")
        if character in _PAIRS and (not opened or opened.pop() != _PAIRS[character]):
            raise GateError(f"`{character}` closes nothing; brackets must match")
        if not opened:
            yield place, character
        if character in _PAIRS.values():
            opened.append(character)
    if opened:
        raise GateError(f"`{opened[-1]}` is never closed")


def _quantity(left: str) -> tuple[Quantity, str]:
    """What is asked for, and of what."""
    call = _CALL.fullmatch(left)
    if call is None:
        function = left.partition("(")[0].rstrip()
        if function in _FUNCTIONS and left.endswith("]"):
            raise GateError(f"a type stands behind its measure: `{function}(Recall@5[factual])`")
        return "estimate", left
    function, inner = call[1], call[2].strip()
    for known in ("lower", "upper", "unscored"):
        if function == known:
            if not inner:
                raise GateError(f"`{known}()` names no measure; write `{known}(Faithfulness)`")
            return known, inner
    if function not in MEASURES and not nearest(function, tuple(MEASURES)):
        raise GateError(f"there is no `{function}(...)`; {hint(function, _FUNCTIONS)}")
    return "estimate", left


def _typed(name: str) -> tuple[str, str | None]:
    """A subject without the type in square brackets behind it, and the type."""
    brackets = [place for place, character in _outside(name) if character == "["]
    if not brackets:
        return name, None
    start = brackets[0]
    if len(brackets) > 1 or not name.endswith("]"):
        raise GateError("one type in square brackets stands last: `Recall@10[multi_turn]`")
    kind = name[start + 1 : -1].strip()
    if kind not in CASE_TYPES:
        shown = f"`{kind}` is no type of question" if kind else "no type stands in the brackets"
        raise GateError(f"{shown}; {hint(kind, CASE_TYPES)}")
    return name[:start].strip(), kind


def _measure(name: str) -> Measure:
    if not name:
        raise GateError(f"it names no measure; {_EXAMPLE}")
    if name.startswith(tuple(f"{function}(" for function in _FUNCTIONS)):
        raise GateError("only one of `lower`, `upper` and `unscored` at a time")
    if name.casefold() in _DIMENSIONS and name not in MEASURES:
        own = [name_ for name_, m in MEASURES.items() if m.dimension == name.casefold()]
        raise GateError(f"`{name}` is a dimension; its measures are {', '.join(own)}")
    try:
        return parse_measure(name)
    except ValueError as error:
        raise GateError(str(error)) from None


def _counted(name: str) -> tuple[str, Measure | None]:
    """A measure, or a dimension whatever its case, whose unscored questions are counted."""
    if name.casefold() in _DIMENSIONS and name not in MEASURES:
        return name.casefold(), None
    try:
        measure = _measure(name)
    except GateError:
        if close := nearest(name, _DIMENSIONS):
            raise GateError(f"`{name}` is no dimension; did you mean `{close}`?") from None
        raise
    return measure.name, measure


def _bound(right: str) -> tuple[Reference | None, float]:
    """What the bound is relative to, and the number or margin."""
    if "%" in right:
        raise GateError("scores are no percentages: write 0.7 for 70%")
    if minus := re.search("[\u2010-\u2015\u2212]", right):
        raise GateError(f"`{minus[0]}` is no minus sign here; write `-`")
    if _COMMA.fullmatch(right):
        raise GateError(f"decimals stand behind a point, as in 0.7; {_BOUNDS}")
    if _NUMBER.fullmatch(right):
        return None, _finite(right)
    relative = _RELATIVE.fullmatch(right)
    if relative is None:
        raise GateError(f"{_BOUNDS}, not `{right}`")
    name, sign, margin = relative.groups()
    for known in get_args(Reference):
        if name == known:
            return known, _finite(f"{sign}{margin}") if margin else 0.0
    if name.casefold() in ("nan", "inf", "infinity"):
        raise GateError(f"`{name}` is no number to compare with")
    close = nearest(name, _REFERENCES)
    raise GateError(f"did you mean `{close}`?" if close else f"{_BOUNDS}, not `{right}`")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise GateError(f"{text} is too large a number")
    return value + 0.0


def _check_range(
    what: str, range_: tuple[float, float | None], reference: Reference | None, bound: float
) -> None:
    low, high = range_
    if reference is None:
        inside = low <= bound and (high is None or bound <= high)
    else:
        inside = high is None or abs(bound) <= high - low
    if inside:
        return
    span = f"{low:g} to {high:g}" if high is not None else f"{low:g} or more"
    beyond = "lies outside" if reference is None else "is more than two of its values can differ"
    shown = abs(bound) if reference else bound
    per_cent = (
        f"; for {shown:g} per cent write {shown / 100:g}" if range_ == (0, 1) and shown > 1 else ""
    )
    raise GateError(f"{what} is {span}, and {shown:g} {beyond}{per_cent}")
