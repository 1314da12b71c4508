"""One case of a report, whole, as text for a terminal: what was asked, said, found and scored."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from pytest_touchstone.measures.base import counted
from pytest_touchstone.nearest import nearest_few
from pytest_touchstone.report.case_evidence import evidence
from pytest_touchstone.report.cases import case_numbers
from pytest_touchstone.report.display import display_width, padded, printable, wrapped
from pytest_touchstone.report.figures import number
from pytest_touchstone.report.model import CaseEntry, Gold, MeasureEntry, Report
from pytest_touchstone.report.substitutes import short
from pytest_touchstone.score import NOT_APPLICABLE
from pytest_touchstone.unusable import Unusable

_INDENT = "  "
_LONGEST_TEXT = 20_000
_LONGEST_NAME = 200
_NARROWEST = 40
_FEW = 3
_ABOUT = ("lang", "split", "cluster", "tags", "source", "annotator", "reviewer")


class UnknownCase(Unusable):
    """There is no such case."""


def unknown_case(case: str, known: Sequence[str], where: str) -> UnknownCase:
    """The fault of somebody who asks for a case that is not there, with the nearest ones.

    :param where: what it is not part of.
    """
    near = nearest_few(case, known, _FEW)
    if near:
        said = f"did you mean {' or '.join(f'`{each}`' for each in near)}?"
    else:
        more = f", and {len(known) - _FEW} more" if len(known) > _FEW else ""
        said = f"known: {', '.join(known[:_FEW])}{more}"
    return UnknownCase(printable(f"no case {case!r} in {where}; {said}", _LONGEST_NAME * 2))


def case_lines(report: Report, case: str, *, width: int) -> list[str]:
    """Everything that the report holds of a case, the system under test first.

    Texts are made safe to print, wrapped, and cut after 20,000 characters; each passage stands
    once.

    :param width: columns.
    :raises UnknownCase: where the report does not hold it.
    """
    known = list(case_numbers(report))
    if case not in known:
        raise unknown_case(case, known, "this report")
    roles = report["snapshot"]["roles"]
    first = {roles["baseline"]: 1, roles["system"]: 0}
    plays = [entry for entry in report["cases"] if entry["case"] == case]
    plays.sort(key=lambda play: (first.get(play["system"], 2), play["mode"] != "recorded"))
    told = _Told(report, max(width, _NARROWEST))
    return [*told.gold(plays[0]["gold"]), *(line for play in plays for line in told.play(play))]


class _Told:
    """The parts of a case as lines; what was told once is referred to.

    :param width: columns.
    """

    def __init__(self, report: Report, width: int) -> None:
        self._report = report
        self._width = width
        self._measures = {entry["measure"]: entry for entry in report["measures"]}
        self._passages: set[str] = set()

    def gold(self, gold: Gold) -> Iterator[str]:
        """The gold question: what was asked, and what is expected."""
        labels = cast(Mapping[str, Any], gold)
        about = [f"{name} {_value(labels[name])}" for name in _ABOUT if labels.get(name)]
        yield from self._block(", ".join([f"{gold['id']}: {gold['type']}", *about]), "")
        for message in labels.get("history", ()):
            yield from self._titled(f"{message['role']}, before", message["content"])
        yield from self._titled("Question", gold["question"])
        yield from self._titled("Gold answer", labels.get("answer") or "-")
        for point in labels.get("key_points", ()):
            yield from self._block(f"key point: {point}", _INDENT)
        if chunks := labels.get("gold_chunks"):
            yield from self._titled("Gold chunks", ", ".join(map(_chunk, chunks)))
        filters = labels.get("filters")
        yield from self._titled("Filters expected", _filters(filters, "not labelled"))
        if acceptable := labels.get("behavior"):
            yield from self._titled("Acceptable behaviour", ", ".join(acceptable))

    def play(self, play: CaseEntry) -> Iterator[str]:
        """What one system did, and what it got for it."""
        yield ""
        yield self._heading(play)
        for turn in play["earlier_turns"]:
            yield from self._titled(f"Turn {turn['turn'] + 1}", turn["question"])
            yield from self._turn(cast(Mapping[str, Any], turn))
        if play["earlier_turns"]:
            yield from self._titled("Last turn", play["conversation"][-1]["content"])
        yield from self._turn(cast(Mapping[str, Any], play))
        yield from self._ranked(play)
        yield from self._scores(play)
        for title, lines in evidence(play["details"]):
            yield from self._titled(title, *lines)
        yield from self._paid(play)

    def _heading(self, play: CaseEntry) -> str:
        roles = self._report["snapshot"]["roles"]
        parts = {roles["baseline"]: " (baseline)", roles["system"]: " (system under test)"}
        said = play["system"] + parts.get(play["system"], " (variant)")
        said += f", played {play['mode']}" if play["mode"] != "recorded" else ""
        said += f", repeat {play['repeat'] + 1}" if play["repeat"] else ""
        title = printable(said, self._width - 6)
        return f"--- {title} {'-' * (self._width - display_width(title) - 5)}"

    def _turn(self, turn: Mapping[str, Any]) -> Iterator[str]:
        if error := turn["error"]:
            yield from self._titled("ERROR", f"{error['kind']}: {error['message']}")
        elif turn["answer"] is None:
            yield from self._titled("Answer", "none: only passages were asked for")
        else:
            yield from self._titled("Answer", turn["answer"])
        yield from self._titled("Filters found", _filters(turn["filters"], "infers none"))
        if turn["behavior"]:
            yield from self._titled("Behaviour, as it says", turn["behavior"])

    def _ranked(self, play: CaseEntry) -> Iterator[str]:
        """The passages, best first, those that are gold with a star."""
        labels = _gold_of(cast(Mapping[str, Any], play["gold"]))
        found = play["passages"]
        yield from self._block(f"Passages: {len(found) or 'none'}", "")
        for rank, passage in enumerate(found, 1):
            label = labels.get(passage["id"], "")
            star = "★" if label.startswith("gold") else " "
            score = "" if passage["score"] is None else f", {passage['score']:.4g}"
            said = f"{star} {rank}. {passage['id']}{score}{f', {label}' if label else ''}"
            again = passage["digest"] in self._passages
            yield from self._block(said + (" (text above)" if again else ""), _INDENT)
            if not again:
                self._passages.add(passage["digest"])
                text = self._report["passages"][passage["digest"]]
                about = _filters(text["metadata"], "")
                yield from self._block(f"{about}\n{text['text']}", _INDENT * 4)

    def _scores(self, play: CaseEntry) -> Iterator[str]:
        yield "Scores"
        rows = [self._score(play, measure) for measure in play["scores"]]
        widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
        for title, value, why in rows:
            start = f"{_INDENT}{padded(title, widths[0])}  {padded(value, widths[1])}  "
            room = max(self._width - display_width(start), _NARROWEST)
            first, *rest = wrapped(why, room)
            yield (start + first).rstrip()
            yield from (" " * display_width(start) + line for line in rest)

    def _score(self, play: CaseEntry, measure: str) -> tuple[str, str, str]:
        entry: MeasureEntry = self._measures[measure]
        value, reason = play["scores"][measure], play["reasons"].get(measure)
        if value is None:
            shown = "n/a" if reason == NOT_APPLICABLE else "unscored"
        else:
            shown = number(value, 2) if entry["range"][1] is not None else f"{value:.4g}"
        said = play["why"].get(measure, "")
        why = f"{reason}: {said}" if reason and reason != NOT_APPLICABLE else said
        title = printable(short(entry["title"]), _LONGEST_NAME)
        return title, shown, printable(why, _LONGEST_TEXT)

    def _paid(self, play: CaseEntry) -> Iterator[str]:
        usd = play["cost_usd"]
        cost = f"unknown ({play['cost_reason']})" if usd is None else f"{usd:.4g} USD"
        calls = play["usage"]
        lines = [
            f"{call['model']}: {call['input_tokens']:,} tokens in"
            f" ({call['cached_input_tokens']:,} of them cached), {call['output_tokens']:,} out"
            for call in calls or ()
        ]
        made = "calls not told" if calls is None else counted(len(calls), "LLM call")
        yield from self._titled("Cost", f"{cost}, {made}", *lines)

    def _titled(self, title: str, *texts: str) -> Iterator[str]:
        yield printable(title, self._width)
        for text in texts:
            yield from self._block(text, _INDENT)

    def _block(self, text: str, indent: str) -> Iterator[str]:
        """A text as lines that are safe to print."""
        whole = text[:_LONGEST_TEXT]
        if len(whole) < len(text):
            whole += f"… (cut here: {len(text):,} characters in all)"
        for line in whole.splitlines() or [""]:
            shown = printable(line, 4 * _LONGEST_TEXT)
            for piece in wrapped(shown, self._width - len(indent)):
                yield (indent + piece).rstrip()


def _gold_of(labels: Mapping[str, Any]) -> dict[str, str]:
    """Passage id to what the gold question says of it."""
    found: dict[str, str] = {}
    for chunk in labels.get("gold_chunks", ()):
        if isinstance(chunk, str):
            found[chunk] = "gold"
            continue
        grade = chunk.get("grade", 1)
        said = f"gold, grade {grade}" if grade else "judged not relevant"
        found[chunk["id"]] = said
        for other in chunk.get("equivalents", ()):
            found.setdefault(other, f"{said}, as {chunk['id']}")
    return found


def _chunk(chunk: str | Mapping[str, Any]) -> str:
    if isinstance(chunk, str):
        return chunk
    said = [f"grade {chunk['grade']}"] if "grade" in chunk else []
    said += [f"or {' or '.join(chunk['equivalents'])}"] if chunk.get("equivalents") else []
    return f"{chunk['id']} ({', '.join(said)})" if said else str(chunk["id"])


def _filters(filters: Mapping[str, Any] | None, without: str) -> str:
    """As JSON, for a string is no number."""
    return without if filters is None else json.dumps(filters, ensure_ascii=False)


def _value(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
