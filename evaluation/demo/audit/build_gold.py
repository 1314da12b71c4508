"""Join the questions with the facts into gold questions.

    python -m evaluation.demo.audit.build_gold

Which chunks answer a question is not written down by hand: every chunk of the generator knows
which fields of which findings it states, so that the gold chunks and all their equivalents follow
from the fields that the answer names.  A question that the corpus does not bear out is refused.
"""

from __future__ import annotations

import json
import operator
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from evaluation.demo.audit import wording
from evaluation.demo.audit.facts import (
    ENTITIES,
    TOPICS,
    Key,
    Stated,
    categories,
    fact,
    finding,
    shown,
)
from evaluation.demo.audit.generate import AuditChunk, corpus

HERE = Path(__file__).parent
GOLD = HERE.parents[1] / "data" / "test_set_v2026-11-30.jsonl"
TYPES = {
    "f": "factual",
    "c": "comparative",
    "s": "summary",
    "m": "multi_turn",
    "e": "edge_case",
}
_PLACE = re.compile(r"\{(\w+)(?:\.(\w+))?\}")
_CLAIM = re.compile(r"(\w+)\.(\w+) ([<>]) (\w+)\.(\w+)")
_COMPARE = {"<": operator.lt, ">": operator.gt}

# A finding in one sentence, as a summary needs it.
_LOCAL_POINTS = {
    "payroll": "{amount} was paid as salary to {staff} persons who had left the service.",
    "procurement": "Procurements of {amount} were outside the plan, and {files} files were"
    " incomplete.",
    "advances": "Advances of {amount} to {officers} officers were not accounted for.",
    "land": "{untitled} of {plots} pieces of land had no title.",
    "drugs": "Essential medicines were out of stock for {days} days on average, and expired items"
    " were worth {expired}.",
    "pdm": "{amount} of the Parish Revolving Fund was idle on the accounts of {saccos} SACCOs.",
    "livelihood": "{amount} of livelihood funds was overdue from {groups} groups.",
    "schools": "{inspected} of {schools} primary schools were inspected at least once a term.",
    "water": "{broken} of {points} water points were not functional.",
    "revenue": "Local revenue of {collected} was collected against a budget of {budget}.",
    "absorption": "{amount} was not spent and returned, which affected {projects} projects.",
    "staffing": "{vacant} of {posts} approved posts were vacant.",
    "roads": "{missed} of {planned} km of planned road maintenance were not done.",
}
_CENTRAL_POINTS = {
    "payroll": _LOCAL_POINTS["payroll"],
    "advances": _LOCAL_POINTS["advances"],
    "arrears": "Domestic arrears of {amount} were owed to {suppliers} creditors.",
    "procurement": "{contracts} contracts worth {amount} were delayed.",
    "absorption": "{amount} for {projects} externally financed projects was not absorbed.",
    "mischarge": "{amount} was charged to wrong items ({votes} codes).",
    "vehicles": "{grounded} of {fleet} vehicles were grounded.",
    "land": _LOCAL_POINTS["land"],
}


class QuestionError(Exception):
    """A question that does not fit the corpus."""


def selects(filters: Mapping[str, Any], metadata: Mapping[str, Any]) -> bool:
    """Whether the filters let a chunk through: exact values and types, lists are alternatives."""
    for name, wanted in filters.items():
        options = wanted if isinstance(wanted, list) else [wanted]
        value = metadata.get(name)
        if not any(type(value) is type(one) and value == one for one in options):
            return False
    return True


@dataclass(frozen=True)
class Evidence:
    """The corpus, by what its chunks state; noise states nothing."""

    chunks: tuple[AuditChunk, ...]

    @cached_property
    def by_field(self) -> Mapping[Stated, frozenset[str]]:
        """Field to the ids of all chunks that state it."""
        found: dict[Stated, set[str]] = defaultdict(set)
        for chunk in self.chunks:
            for stated in chunk.states:
                found[stated].add(chunk.id)
        return {stated: frozenset(ids) for stated, ids in found.items()}

    @cached_property
    def by_id(self) -> Mapping[str, AuditChunk]:
        """Chunk id to chunk."""
        return {chunk.id: chunk for chunk in self.chunks}

    def stating(self, fields: Sequence[Stated]) -> frozenset[str]:
        """The chunks that state all the fields."""
        return frozenset.intersection(*(self.by_field.get(one, frozenset()) for one in fields))


@dataclass(frozen=True)
class Question:
    """One entry of ``questions.yaml``."""

    data: Mapping[str, Any]

    @property
    def id(self) -> str:
        return str(self.data["id"])

    @property
    def type(self) -> str:
        return TYPES[self.id.removeprefix("audit-")[0]]

    @property
    def filters(self) -> Mapping[str, Any] | None:
        return self.data.get("filters")

    @cached_property
    def about(self) -> Mapping[str, Key]:
        """Alias to finding; ``all`` stands for every finding of a report."""
        named = dict(self.data["about"])
        whole = named.pop("all", None)
        found = {alias: Key(*path.split("/")) for alias, path in named.items()}
        return found | ({key.category: key for key in _whole(whole)} if whole else {})

    @cached_property
    def points(self) -> Sequence[str]:
        """The key points, as templates: those of a summary are its findings one by one.

        Where they are of several years, each says of which: the figures alone would be as right
        with the years swapped.
        """
        if self.type != "summary":
            return []
        several = len({key.year for key in self.about.values()}) > 1
        return [f"{key.year}: {{{a}}}" if several else f"{{{a}}}" for a, key in self.about.items()]

    @property
    def answer(self) -> str:
        """The answer as a template."""
        return str(self.data.get("answer") or " ".join(self.points))

    def fill(self, template: str) -> str:
        """The template with figures in the places of its fields.

        :raises QuestionError: it names a finding or field that is not there.
        """

        def value(place: re.Match[str]) -> str:
            key = self._key(place[1])
            if place[2] is None:
                return _point(key)
            try:
                return shown(key, place[2])
            except KeyError:
                raise QuestionError(f"{self.id}: {'/'.join(key)} has no {place[2]}") from None

        text = _PLACE.sub(value, template)
        return text[0].upper() + text[1:]

    def needs(self) -> Iterator[tuple[Key, list[str]]]:
        """Finding by finding, the fields that the answer names."""
        fields: dict[Key, list[str]] = {}
        for alias, field in _PLACE.findall(self.answer):
            key = self._key(alias)
            names = [field] if field else _fields(_point_template(key))
            fields.setdefault(key, []).extend(names)
        yield from fields.items()

    def check(self) -> None:
        """Refuse an answer that claims a comparison which the figures do not bear out."""
        for claim in self.data.get("holds", ()):
            parts = _CLAIM.fullmatch(claim)
            if parts is None:
                raise QuestionError(f"{self.id}: holds: cannot read {claim!r}")
            left = fact(self._key(parts[1]))[parts[2]]
            right = fact(self._key(parts[4]))[parts[5]]
            if not _COMPARE[parts[3]](left, right):
                raise QuestionError(f"{self.id}: {claim} does not hold ({left}, {right})")

    def _key(self, alias: str) -> Key:
        try:
            return self.about[alias]
        except KeyError:
            raise QuestionError(f"{self.id}: nothing is called {alias}") from None


def _whole(report: str) -> Iterator[Key]:
    name, year = report.split("/")
    if name.startswith("theme-"):
        for topic in TOPICS[name.removeprefix("theme-")]:
            yield Key(name, year, topic)
        return
    for category in categories(ENTITIES[name]):
        key = Key(name, year, category)
        if finding(key) is not None:
            yield key


def _point_template(key: Key) -> str:
    if key.entity.startswith("theme-"):
        return wording.THEME_TOPICS[key.entity.removeprefix("theme-")][key.category]
    if key.entity == "national":
        return wording.OVERVIEWS[key.category]
    central = ENTITIES[key.entity].kind == "ministry"
    return (_CENTRAL_POINTS if central else _LOCAL_POINTS)[key.category]


def _fields(template: str) -> list[str]:
    return [first for first, _ in _PLACE.findall(template)]


def _point(key: Key) -> str:
    template = _point_template(key)
    text = template.format(**{name: shown(key, name) for name in _fields(template)})
    return text[0].upper() + text[1:]


# From fields to gold chunks.


def gold_chunks(question: Question, evidence: Evidence) -> list[dict[str, Any]]:
    """The gold chunks: for each finding the fewest chunks that state the fields needed."""
    groups = [
        (key, main, group)
        for key, fields in question.needs()
        for main, group in _cover(question, key, fields, evidence)
    ]
    taken = {main for _, main, _ in groups}
    chunks = []
    done: set[str] = set()
    for _, main, group in groups:
        if main in done:
            continue  # one chunk that answers for two findings is one find
        done.add(main)
        # A chunk is one find only: one that answers for two findings counts for the first.
        others = sorted(evidence.stating(group) - taken)
        taken.update(others)
        chunk: dict[str, Any] = {"id": main, "grade": 2 if len(groups) < 4 else 1}
        chunks.append(chunk | ({"equivalents": others} if others else {}))
    return chunks


def _cover(
    question: Question, key: Key, fields: Sequence[str], evidence: Evidence
) -> Iterator[tuple[str, list[Stated]]]:
    """Chunks that together state the fields, each with those that it is there for."""
    missing = [Stated(key, name) for name in dict.fromkeys(fields)]
    while missing:
        found = {name for stated in missing for name in evidence.by_field.get(stated, ())}
        if not found:
            raise QuestionError(f"{question.id}: no chunk states {missing}")
        best = min(found, key=lambda name: _rank(question, evidence.by_id[name], missing))
        states = evidence.by_id[best].states
        if not _allowed(question, evidence.by_id[best]):
            raise QuestionError(f"{question.id}: its filters select no chunk with {missing}")
        yield best, [stated for stated in missing if stated in states]
        missing = [stated for stated in missing if stated not in states]


def _allowed(question: Question, chunk: AuditChunk) -> bool:
    # Where the filters match nothing, the gold chunk is what a relaxed search should find.
    if question.filters is None or question.data.get("behavior"):
        return True
    return selects(question.filters, chunk.metadata)


_SOURCES = ("district", "ministry", "thematic", "consolidated")


def _rank(question: Question, chunk: AuditChunk, missing: Sequence[Stated]) -> tuple[Any, ...]:
    """Sorts first what the filters select, then what states most, then the body's own report."""
    return (
        not _allowed(question, chunk),
        chunk.metadata["year"] != missing[0].key.year,
        -sum(stated in chunk.states for stated in missing),
        _SOURCES.index(str(chunk.metadata["source"])),
        len(chunk.states),
        chunk.id,
    )


# From questions to lines.


def read_questions() -> tuple[Question, ...]:
    """The questions of ``questions.yaml``, in file order."""
    text = (HERE / "questions.yaml").read_text(encoding="utf-8")
    return tuple(Question(entry) for entry in yaml.safe_load(text))


def gold(question: Question, evidence: Evidence) -> dict[str, Any]:
    """The gold question as the object of its line.

    :raises QuestionError: the corpus does not bear the question out.
    """
    question.check()
    chunks = gold_chunks(question, evidence)
    data: dict[str, Any] = {"id": question.id, "type": question.type}
    data["question"] = question.data["question"]
    if "history" in question.data:
        data["history"] = [_message(question, entry) for entry in question.data["history"]]
    data["answer"] = question.fill(question.answer)
    if question.points:
        data["key_points"] = [question.fill(point) for point in question.points]
    if chunks:
        data["gold_chunks"] = chunks
    if question.filters is not None:
        data["filters"] = question.filters
    if "behavior" in question.data:
        data["behavior"] = question.data["behavior"]
    if chunks and question.type not in ("multi_turn", "edge_case"):
        data["cluster"] = evidence.by_id[chunks[0]["id"]].document
    data["split"] = question.data["split"]
    data["lang"] = "en"
    if "tags" in question.data:
        data["tags"] = question.data["tags"]
    return data


def _message(question: Question, entry: Mapping[str, Any]) -> dict[str, Any]:
    if "assistant" in entry:
        return {"role": "assistant", "content": question.fill(entry["assistant"])}
    message = {"role": "user", "content": entry["user"]}
    return message | ({"filters": entry["filters"]} if "filters" in entry else {})


def gold_lines(chunks: Sequence[AuditChunk]) -> bytes:
    """The bytes of the gold file."""
    evidence = Evidence(tuple(chunks))
    return b"".join(
        json.dumps(gold(question, evidence), ensure_ascii=False).encode() + b"\n"
        for question in read_questions()
    )


def main() -> None:
    """Write the gold file."""
    lines = gold_lines(corpus())
    GOLD.write_bytes(lines)
    sys.stdout.write(f"{len(lines.splitlines())} gold questions\n")


if __name__ == "__main__":
    main()
