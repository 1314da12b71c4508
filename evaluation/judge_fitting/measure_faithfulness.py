"""Measures what overlap is blind to: answers with one thing changed, and rewordings.

    python -m evaluation.judge_fitting.measure_faithfulness VECTORS.sqlite

Prints, for the half that rules were made on and for the half held out, how many changed answers
fall below the floor of faithfulness while their original stands on or above it, by kind of change,
and how many originals and rewordings fall below it.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.judge_fitting.embedders import cached
from evaluation.judge_fitting.statements import FOLDER, statements
from pytest_touchstone.judge.offline.claims import claims
from pytest_touchstone.judge.offline.embedding import Embed
from pytest_touchstone.judge.offline.support import FLOOR, judge_claims

NEGATION = "negation"


@dataclass(frozen=True)
class Item:
    """A grounded answer with its rewordings and changes."""

    answer: str
    passages: Sequence[str]
    about: Sequence[Mapping[str, Any]]
    rewordings: Sequence[str]
    changes: Sequence[tuple[str, str]]


def main() -> None:
    """Measure both sets in both halves, and print."""
    embed = cached(Path(sys.argv[1]))
    for split in ("dev", "heldout"):
        for name, items in (("statements", written(split)), ("demonstrations", from_demos(split))):
            report(f"{name}, {split}", list(items), embed)


def written(split: str) -> Iterator[Item]:
    """The statements written by hand."""
    for each in statements(split):
        yield Item(each.answer, each.passages, (), each.rewordings, each.changes)


def from_demos(split: str) -> Iterator[Item]:
    """Gold answers of the demonstrations, with the metadata of their passages."""
    chunks = {}
    for name in ("audit", "riksdag"):
        lines = (FOLDER.parent / "demo" / name / "corpus.jsonl").read_text("utf-8").splitlines()
        chunks.update({chunk["id"]: chunk for chunk in map(json.loads, lines)})
    for line in (FOLDER / "changes.jsonl").read_text("utf-8").splitlines():
        item = json.loads(line)
        if item["split"] == split:
            found = [chunks[key] for key in item["chunks"]]
            texts, about = [c["text"] for c in found], [c["metadata"] for c in found]
            changes = [(kind, text) for kind, text in item["changes"]]
            yield Item(item["answer"], texts, about, (), changes)


def report(title: str, items: Sequence[Item], embed: Embed) -> None:
    """Count, and print a line for each kind."""
    low: Counter[str] = Counter()
    every: Counter[str] = Counter()

    def count(kind: str, below: bool) -> None:
        every[kind] += 1
        low[kind] += below

    for item in items:
        grounded = not falls(item.answer, item, embed)
        count("original", not grounded)
        for text in item.rewordings:
            count("rewording", falls(text, item, embed))
        for kind, text in item.changes if grounded else ():
            count(kind, falls(text, item, embed))
    changed = [kind for kind in every if kind not in ("original", "rewording", NEGATION)]
    sys.stdout.write(f"{title}: below the floor of {FLOOR}\n")
    for kind in ("original", "rewording", NEGATION, *sorted(changed)):
        if every[kind]:
            sys.stdout.write(f"  {_share(low[kind], every[kind])}  {kind}\n")
    fallen, of = sum(low[kind] for kind in changed), sum(every[kind] for kind in changed)
    sys.stdout.write(f"  {_share(fallen, of)}  all changes but negations\n")


def falls(answer: str, item: Item, embed: Embed) -> bool:
    """Whether an answer is below the floor; one that claims nothing is not."""
    support = judge_claims(claims(answer), item.passages, embed, item.about).support
    return support is not None and support < FLOOR


def _share(part: int, whole: int) -> str:
    return f"{part:4} of {whole:4} ({part / max(1, whole):6.1%})"


if __name__ == "__main__":
    main()
