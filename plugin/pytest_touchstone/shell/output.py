"""Where a command puts what it has to say."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from pytest_touchstone.unusable import Unusable

_DATABASE = (b"SQLite format 3\0", b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
"""How a SQLite file begins, and the log beside it (https://www.sqlite.org/fileformat.html)."""
_BESIDE = ("-wal", "-shm", "-journal")
"""How SQLite names what it keeps beside a database."""


class NotReplaced(Unusable):
    """An output that would destroy what a command reads."""


def put(text: str, path: Path | None, inputs: Iterable[str | Path] = ()) -> int:
    """Write a whole text to a file, or to standard output; the exit code.

    :param inputs: what the command has read: names that are no files count for nothing.
    :raises NotReplaced: where the file is one of these, or a store.
    :raises OSError: where the file cannot be written.
    """
    if path is None:
        sys.stdout.buffer.write(text.encode())
        sys.stdout.flush()
    else:
        refuse_to_replace(path, inputs)
        path.write_bytes(text.encode())
    return int(pytest.ExitCode.OK)


def refuse_to_replace(path: Path, inputs: Iterable[str | Path]) -> None:
    """See that writing a file destroys no input, whatever name or link it is reached by.

    :raises NotReplaced: where it would.
    """
    for name in map(Path, inputs):
        if path.exists() and name.exists() and path.samefile(name):
            raise NotReplaced(f"--output {path}: is read from, so it is not replaced; name another")
    if any(_is_database(file) for file in _with_its_database(path)):
        raise NotReplaced(f"--output {path}: belongs to a store or cache; name another file")


def _with_its_database(path: Path) -> Iterator[Path]:
    yield path
    for ending in _BESIDE:
        if path.name.endswith(ending):
            yield path.with_name(path.name.removesuffix(ending))


def _is_database(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(16).startswith(_DATABASE)


def refused(lines: Iterable[str]) -> int:
    """Say on standard error why nothing was done; the exit code."""
    sys.stderr.write("".join(f"touchstone: {line}\n" for line in lines))
    return int(pytest.ExitCode.USAGE_ERROR)
