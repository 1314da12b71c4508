"""ROUGE-L of long texts, beside rouge-score under the same tokenizer.

``python benchmarks/rouge.py [WORDS]``: two random texts of so many words (6,000), once each, since
rouge-score takes seconds.  Prints both times, tokenizing included, and their ratio; the figures
must be equal.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from typing import TypeVar

from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenizers import Tokenizer

from pytest_touchstone.rouge import rouge_l
from pytest_touchstone.tokens import tokens

T = TypeVar("T")
_VOCABULARY = 1000


class Words(Tokenizer):
    """Our tokens, as rouge-score takes a tokenizer."""

    def tokenize(self, text: str) -> list[str]:
        return tokens(text)


def main() -> None:
    """Measure and print."""
    words = int(sys.argv[1]) if len(sys.argv) > 1 else 6000
    rng = random.Random(words)
    reference, candidate = (
        " ".join(f"word{rng.randrange(_VOCABULARY)}" for _ in range(words)) for _ in range(2)
    )
    scorer = RougeScorer(["rougeL"], tokenizer=Words())
    theirs, floor = _timed(lambda: scorer.score(reference, candidate)["rougeL"].fmeasure)
    ours, seconds = _timed(lambda: rouge_l(tokens(reference), tokens(candidate)).f1)
    if ours != theirs:
        raise SystemExit(f"rouge-score has {theirs}, this {ours}")
    print(f"rouge-score        {floor:.3f} s")
    print(f"this               {seconds:.4f} s")
    print(f"ratio              {seconds / floor:.5f} ({words} words against {words})")


def _timed(run: Callable[[], T]) -> tuple[T, float]:
    start = time.perf_counter()
    result = run()
    return result, time.perf_counter() - start


if __name__ == "__main__":
    main()
