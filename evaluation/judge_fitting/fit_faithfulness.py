"""Fits the weights of faithfulness on people's ratings, and measures them on another collection.

    python -m evaluation.judge_fitting.fit_faithfulness FOLDER VECTORS.sqlite

FOLDER holds ``gold.jsonl``, ``corpus.jsonl`` and ``human_scores.jsonl`` of mtRAG's human evaluation
(Apache-2.0, github.com/IBM/mt-rag-benchmark) in this project's formats; nothing of it is part of
the project.  The positive answers are those of the two LLMs that people rate 3.5 or more on
average, the negative those below 3.  Answers that claim nothing, or had no passages, have no
faithfulness; how many is printed.

The model is the judge's own: strength = logistic(intercept + near * overlap), where words leave it
open with embeddings (as the weights that ship have it), a tenth of it for a claim at fault.  An
answer's support is its claims' mean; the two weights maximise the likelihood of the labels, classes
balanced, with a ridge.  For the measurement the slope is kept, the intercept puts the floor at the
overlap where the judge has it, and support is capped as the judge caps it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.judge_fitting.embedders import cached
from pytest_touchstone.judge.offline.claims import claims
from pytest_touchstone.judge.offline.embedding import Embed
from pytest_touchstone.judge.offline.support import AT_FAULT, FLOOR, finding, sources
from pytest_touchstone.judge.offline.weights import WEIGHTS
from pytest_touchstone.judge.offline.wordlists import FUNCTION_WORDS
from pytest_touchstone.tokens import tokens

Floats = NDArray[np.float64]
RIDGE = 0.003
LEFT_OF_A_FAULT = 0.1
RESAMPLES = 5000


@dataclass(frozen=True)
class Row:
    """One answer: what the judge and the two baselines see of it, and its label."""

    collection: str
    cluster: str
    good: bool
    overlaps: Floats
    faults: NDArray[np.bool_]
    words: float
    pairs: float


def main() -> None:
    """Fit in both directions, measure, fit on everything, print."""
    folder, vectors = map(Path, sys.argv[1:])
    found = list(rows(folder, cached(vectors)))
    names = sorted({row.collection for row in found})
    say(f"{len(found)} answers with passages and claims, of {names}")
    for train, test in (names, names[::-1]):
        weights = placed(fit([row for row in found if row.collection == train]))
        report(f"fitted on {train}, measured on {test}", test, found, weights)
    weights = placed(fit(found))
    for name in names:
        report(f"fitted on both, {name} (not a test)", name, found, weights)
    shipped = np.array([WEIGHTS.intercept, WEIGHTS.near])
    for name in names:
        report(f"the weights that ship, {name}", name, found, shipped)


def rows(folder: Path, embed: Embed) -> Iterator[Row]:
    """The labelled answers of the two LLMs that claim something and had passages."""
    gold = {case["id"]: case for case in _read(folder / "gold.jsonl")}
    corpus = {chunk["id"]: chunk["text"] for chunk in _read(folder / "corpus.jsonl")}
    left_out = 0
    for answer in _read(folder / "human_scores.jsonl"):
        rated = float(np.mean(answer["human"]["faithfulness"]))
        if answer["system"] == "reference" or 3 <= rated < 3.5:
            continue
        case = gold[answer["case_id"]]
        passages = [corpus[chunk] for chunk in case["gold_chunks"]]
        stated = claims(answer["answer"])
        if not passages or not stated:
            left_out += 1
            continue
        read = sources(passages)
        each = [finding(claim, read, embed) for claim in stated]
        words, pairs = baselines(answer["answer"], passages)
        yield Row(
            case["source"],
            case["cluster"],
            rated >= 3.5,
            np.array([one.near + one.likeness for one in each]),
            np.array([one.fault for one in each]),
            words,
            pairs,
        )
    say(f"{left_out} answers have no claim or had no passage")


def baselines(answer: str, passages: list[str]) -> tuple[float, float]:
    """Shares of an answer's different content words, and of its word pairs, in the passages."""
    said = _content(answer)
    texts = [_content(passage) for passage in passages]
    known = {word for text in texts for word in text}
    known_pairs = {pair for text in texts for pair in pairwise(text)}
    words, pairs = set(said), set(pairwise(said))
    return (
        sum(word in known for word in words) / max(1, len(words)),
        sum(pair in known_pairs for pair in pairs) / max(1, len(pairs)),
    )


def fit(train: list[Row]) -> Floats:
    """Intercept and weight of the overlap, by gradient descent (Adam)."""
    good = np.array([row.good for row in train])
    share = np.where(good, 0.5 / good.sum(), 0.5 / (~good).sum())
    weights, momentum, spread = np.array([-3.0, 6.0]), np.zeros(2), np.zeros(2)
    for step in range(1, 2001):
        gradient = np.array([0.0, RIDGE * weights[1]])
        for row, part in zip(train, share, strict=True):
            strength = _strength(weights, row)
            support = float(np.clip(strength.mean(), 1e-6, 1 - 1e-6))
            slope = (support - row.good) / (support * (1 - support))
            kept = np.where(row.faults, LEFT_OF_A_FAULT, 1.0)
            raw = strength / kept
            inner = kept * raw * (1 - raw)
            gradient += part * slope * np.array([inner.mean(), (inner * row.overlaps).mean()])
        momentum = 0.9 * momentum + 0.1 * gradient
        spread = 0.99 * spread + 0.01 * gradient**2
        scaled = momentum / (1 - 0.9**step) / (np.sqrt(spread / (1 - 0.99**step)) + 1e-8)
        weights = weights - 0.03 * scaled
        weights[1] = max(weights[1], 0.0)  # more overlap never means less support
    return weights


def placed(weights: Floats) -> Floats:
    """The same slope with the floor where the judge has it: ratings order answers, no more."""
    logit = np.log(FLOOR / (1 - FLOOR))
    at = (logit - WEIGHTS.intercept) / WEIGHTS.near
    return np.array([logit - weights[1] * at, weights[1]])


def report(title: str, name: str, found: list[Row], weights: Floats) -> None:
    """AUC of the judge and of both baselines on one collection, with the paired gain."""
    test = [row for row in found if row.collection == name]
    good = np.array([row.good for row in test])
    scores = {
        "judge": np.array([support(weights, row) for row in test]),
        "word overlap": np.array([row.words for row in test]),
        "word pairs": np.array([row.pairs for row in test]),
    }
    say(f"\n{title}: {good.sum()} good, {(~good).sum()} bad, weights {weights.round(2).tolist()}")
    for score, values in scores.items():
        say(f"  AUC {auc(values, good):.3f}  {score}")
    clusters = np.array([row.cluster for row in test])
    for other in ("word overlap", "word pairs"):
        answers = gain(scores["judge"], scores[other], good, np.arange(len(test)))
        turns = gain(scores["judge"], scores[other], good, clusters)
        say(
            f"  gain over {other}: {_interval(answers)} over answers, {_interval(turns)} over talks"
        )


def support(weights: Floats, row: Row) -> float:
    """An answer's support, capped where a claim is at fault."""
    mean = float(_strength(weights, row).mean())
    return min(mean, AT_FAULT) if row.faults.any() else mean


def auc(values: Floats, good: NDArray[np.bool_]) -> float:
    """Area under the ROC curve: how often a good answer stands above a bad one, ties half."""
    above = values[good][:, None] - values[~good][None]
    return float((above > 0).mean() + 0.5 * (above == 0).mean())


def gain(mine: Floats, theirs: Floats, good: NDArray[np.bool_], units: NDArray[Any]) -> Floats:
    """Bootstrap of the difference in AUC, units resampled; resamples of one class are skipped."""
    rng = np.random.default_rng(20261130)
    groups = [np.flatnonzero(units == unit) for unit in np.unique(units)]
    found = []
    for _ in range(RESAMPLES):
        drawn = np.concatenate([groups[n] for n in rng.integers(len(groups), size=len(groups))])
        if good[drawn].any() and not good[drawn].all():
            found.append(auc(mine[drawn], good[drawn]) - auc(theirs[drawn], good[drawn]))
    return np.array(found)


def say(line: str) -> None:
    """Write a line."""
    sys.stdout.write(f"{line}\n")


def _strength(weights: Floats, row: Row) -> Floats:
    raw: Floats = 1 / (1 + np.exp(-(weights[0] + weights[1] * row.overlaps)))
    return np.where(row.faults, LEFT_OF_A_FAULT * raw, raw)


def _interval(differences: Floats) -> str:
    low, high = np.quantile(differences, [0.025, 0.975])
    return f"{np.mean(differences):+.3f} [{low:+.3f}, {high:+.3f}]"


def _content(text: str) -> list[str]:
    return [word for word in tokens(text) if word not in FUNCTION_WORDS]


def _read(path: Path) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


if __name__ == "__main__":
    main()
