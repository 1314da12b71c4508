"""What two runs were made of, key by key."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from pytest_touchstone.comparing.model import Difference
from pytest_touchstone.report.index import json_data
from pytest_touchstone.report.model import Snapshot

_PARTS = (
    "commit",
    "dirty",
    "plugin_version",
    "dataset",
    "selection",
    "roles",
    "systems",
    "models",
    "prompts",
    "corpus",
    "settings",
    "prices",
    "packages",
)
"""What the figures rest on.  Seed, resamples and confidence follow from dataset and settings, and
how many questions a measure applies to from dataset and selection."""
_FOLLOWS = frozenset({("selection", "applicable")})
_NAMED_CHUNKS = frozenset({("corpus", "chunks"), ("corpus", "sha256")})
"""About the chunks that the gold questions of a dataset name."""
_PLAIN = re.compile(r"[\w+-]+")


def snapshot_differences(
    yardstick: Snapshot, other: Snapshot, *, same_chunks: bool = False
) -> list[Difference]:
    """Everything that is not the same, in the order of the snapshot.

    The digest of chunks, and how many they are, is over those that gold questions name: of two
    datasets it says nothing of the collection, and is left out.

    What only one side has is one entry, however much is in it.  Numbers are compared by value, but
    `"2022"` is not `2022`, nor is `1` what `true` is.

    :param same_chunks: whether the digest is over the same chunks though the datasets differ.
    """
    one: Mapping[str, Any] = json_data(yardstick)
    two: Mapping[str, Any] = json_data(other)
    alike = same_chunks or _same(one["dataset"]["sha256"], two["dataset"]["sha256"])
    skipped = _FOLLOWS if alike else _FOLLOWS | _NAMED_CHUNKS
    return [found for part in _PARTS for found in _between(one[part], two[part], (part,), skipped)]


def _between(
    one: Any, two: Any, path: tuple[str, ...], skipped: Collection[tuple[str, ...]]
) -> Iterator[Difference]:
    if path in skipped or _same(one, two):
        return
    if not isinstance(one, Mapping) or not isinstance(two, Mapping):
        yield Difference(path[0], _key(path), one, two)
        return
    for name in sorted(one.keys() | two.keys()):
        inner = (*path, name)
        if inner in skipped:
            continue
        if name not in two:
            yield Difference(path[0], _key(inner), one[name], None, "yardstick")
        elif name not in one:
            yield Difference(path[0], _key(inner), None, two[name], "other")
        else:
            yield from _between(one[name], two[name], inner, skipped)


def _same(one: Any, two: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        return one.keys() == two.keys() and all(_same(one[name], two[name]) for name in one)
    if isinstance(one, Sequence) and isinstance(two, Sequence) and not isinstance(one, str):
        return len(one) == len(two) and all(map(_same, one, two))
    return isinstance(one, bool) == isinstance(two, bool) and bool(one == two)


def _key(path: tuple[str, ...]) -> str:
    """Where within its part: names with dots between, others in brackets."""
    key = ""
    for name in path[1:]:
        if _PLAIN.fullmatch(name):
            key += f".{name}" if key else name
        else:
            key += f'["{name}"]'
    return key
