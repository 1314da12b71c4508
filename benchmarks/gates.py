"""How often `X >= previous` turns red: where nothing changed, and after a real loss.

``python benchmarks/gates.py [SIMULATIONS]`` (10,000 a cell): two runs of the same questions, whose
scores share what is hard about a question; where clustered, the scores of one run share a part too
(intra-class correlation 0.3), so that differences of a cluster go together.  Without a true
difference 2.5% red are nominal and at most 3.5% are allowed; after a loss of twice what the set
can detect with 80% power at least 95% must be red.  The outcome is that of the gate itself, on the
interval that the report gives.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from pytest_touchstone.estimate import Cell, Resampling, seed_from
from pytest_touchstone.gate import Gate, parse
from pytest_touchstone.gate.evaluate import decided
from pytest_touchstone.measures import parse as parse_measure

MOST_FALSE = 0.035
LEAST_TRUE = 0.95
SHARED = 0.5  # share of a score's variance that is the question's own
CORRELATION = 0.3
AT_ONCE = 1000
TRIALS = 2000
LARGEST_SHIFT = 8.0
DETECTABLE = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Kind:
    """How a normal variate becomes a score; a shift by `worse` makes it worse."""

    name: str
    gate: Gate
    score: Callable[[Floats], Floats]
    worse: int


def _rate(share: float) -> Callable[[Floats], Floats]:
    return lambda latent: (latent < NormalDist().inv_cdf(share)).astype(float)


AT_LEAST, AT_MOST = parse("Recall@5 >= previous"), parse("CostPerQuery <= previous")
KINDS = (
    Kind("rate 0.5", AT_LEAST, _rate(0.5), 1),
    Kind("rate 0.8", AT_LEAST, _rate(0.8), 1),
    Kind("rate 0.95", AT_LEAST, _rate(0.95), 1),
    Kind("skewed score", AT_LEAST, lambda latent: ndtr(latent) ** 0.3, -1),
    Kind("cost, lognormal", AT_MOST, np.exp, 1),
)
SHAPES = ((24, 24), (48, 48), (160, 160), (48, 12), (160, 12), (160, 40))
"""Questions and clusters; as many clusters as questions are independent questions."""


def main() -> None:
    """Simulate and print; the exit code is 1 where a figure is missed."""
    simulations = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    print(f"{simulations} simulations a cell; red: the gate fails")
    print(f"{'scores':16}{'questions':>10}{'clusters':>10}{'no change':>11}{'true loss':>11}")
    missed = 0
    for seed, (kind, (questions, clusters)) in enumerate(
        (kind, shape) for kind in KINDS for shape in SHAPES
    ):
        cell = Simulated(kind, questions, clusters, np.random.default_rng(seed))
        false = cell.red(0.0, simulations)
        true = cell.red(cell.loss(), simulations)
        wrong = false > MOST_FALSE or true < LEAST_TRUE
        missed += wrong
        mark = "  MISSED" if wrong else ""
        print(
            f"{kind.name:16}{questions:10}{clusters:10}{false:11.4f}{true:11.4f}{mark}", flush=True
        )
    sys.exit(missed > 0)


def _smallest(holds: Callable[[float], bool]) -> float:
    """The smallest shift from which on something holds."""
    low, high = 0.0, LARGEST_SHIFT
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


class Simulated:
    """One kind of score on one shape of gold set."""

    def __init__(self, kind: Kind, questions: int, clusters: int, rng: np.random.Generator) -> None:
        self._kind = kind
        self._rng = rng
        self._range = parse_measure(kind.gate.subject).range
        self._names = [f"q{n}" for n in range(questions)]
        self._cluster = np.arange(questions) % clusters
        self._correlation = CORRELATION if clusters < questions else 0.0
        self._resampling = Resampling(
            {name: f"c{self._cluster[n]}" for n, name in enumerate(self._names)},
            seed=seed_from("ab" * 32),
        )

    def loss(self) -> float:
        """The shift that costs twice the smallest loss that is found with 80% power."""

        def detected(shift: float) -> bool:
            means = self._differences(TRIALS, shift).mean(axis=1)
            return abs(means.mean()) >= DETECTABLE * means.std()

        def costly(shift: float) -> bool:
            return abs(float(self._differences(TRIALS, shift).mean())) >= twice

        detectable = _smallest(detected)
        twice = 2 * abs(float(self._differences(TRIALS, detectable).mean()))
        return _smallest(costly)

    def red(self, shift: float, simulations: int) -> float:
        """The share of simulations in which the gate fails."""
        failed = 0
        for differences in self._batches(shift, simulations):
            cells = [
                Cell(dict(zip(self._names, row, strict=True)), self._range, paired=True)
                for row in differences.tolist()
            ]
            for estimate in self._resampling.means(cells):
                if estimate.ci is not None:
                    failed += decided(self._kind.gate, estimate.ci) == "fail"
        return failed / simulations

    def _batches(self, shift: float, simulations: int) -> Iterator[Floats]:
        for start in range(0, simulations, AT_ONCE):
            yield self._differences(min(AT_ONCE, simulations - start), shift)

    def _differences(self, runs: int, shift: float) -> Floats:
        """Now minus then, question by question (runs x questions)."""
        own = self._rng.standard_normal((runs, len(self._names)))
        now, then = (self._latent(own) for _ in range(2))
        score = self._kind.score
        return score(now + self._kind.worse * shift) - score(then)

    def _latent(self, own: Floats) -> Floats:
        runs = len(own)
        together = self._rng.standard_normal((runs, int(self._cluster.max()) + 1))
        alone = self._rng.standard_normal(own.shape)
        part = np.sqrt(self._correlation) * together[:, self._cluster]
        rest = part + np.sqrt(1 - self._correlation) * alone
        latent: Floats = np.sqrt(SHARED) * own + np.sqrt(1 - SHARED) * rest
        return latent


if __name__ == "__main__":
    main()
