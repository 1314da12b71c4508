"""How long the estimates of a report take, beside scipy's BCa bootstrap on the same values.

``OMP_NUM_THREADS=1 python benchmarks/estimates.py``: 40 cells (measures and breakdowns) of 200
questions with 1,000 resamples, drawing included, on one core; scipy once vectorised over the
cells and once in a loop.  Then 10,000 questions, all measures and their differences.  The fastest
of several rounds each, in processor time.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy import stats

from pytest_touchstone.estimate import Cell, Resampling, differences

CELLS = 40


def cells(questions: int, rng: np.random.Generator) -> list[Cell]:
    """Yes/no measures, skewed scores, nearly perfect ones, and costs: ten of each."""
    shapes = [
        lambda: (rng.random(questions) < 0.8).astype(float),
        lambda: rng.beta(3, 0.6, questions),
        lambda: np.where(rng.random(questions) < 0.97, 1.0, rng.random(questions)),
        lambda: rng.lognormal(size=questions),
    ]
    made = []
    for place in range(CELLS):
        values = shapes[place % 4]().tolist()
        span = (0.0, None) if place % 4 == 3 else (0.0, 1.0)
        made.append(Cell({f"q{n:05}": x for n, x in enumerate(values)}, span))
    return made


def main() -> None:
    """Measure and print."""
    rng = np.random.default_rng(0)
    small = cells(200, rng)
    columns = np.array([list(cell.values.values()) for cell in small])

    def ours() -> None:
        Resampling({case: case for case in small[0].values}, seed=1).means(small)

    def vectorised() -> None:
        stats.bootstrap((columns,), np.mean, n_resamples=1000, method="BCa", axis=1)

    def loop() -> None:
        for row in columns:
            stats.bootstrap((row,), np.mean, n_resamples=1000, method="BCa")

    times = {
        "this": _fastest(ours, 30),
        "scipy, vectorised": _fastest(vectorised, 30),
        "scipy, loop": _fastest(loop, 5),
    }
    for name, seconds in times.items():
        print(f"{name:20}{1000 * seconds:8.1f} ms")
    print(f"{'ratio':20}{times['this'] / times['scipy, vectorised']:8.2f} of vectorised scipy")

    large = cells(10_000, rng)
    pairs = [
        Cell(differences(one.values, other.values), one.range, paired=True)
        for one, other in zip(large, [*large[4:], *large[:4]], strict=True)
    ]

    def all_of_it() -> None:
        resampling = Resampling({case: case for case in large[0].values}, seed=1)
        resampling.means(large)
        resampling.deltas(pairs)

    print(f"{'10,000 questions':20}{_fastest(all_of_it, 3):8.2f} s, differences included")


def _fastest(run: Callable[[], None], rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best


if __name__ == "__main__":
    main()
