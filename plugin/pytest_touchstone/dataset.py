"""Gold files on disk."""

from __future__ import annotations

from pathlib import Path

from pytest_touchstone.gold import GoldError, GoldFault, GoldSet, parse_gold


def read_gold(path: Path) -> GoldSet:
    """The gold questions of a file.

    :raises GoldError: with every fault of the file, or one fault where it cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise GoldError([GoldFault(str(path), 0, "", f"cannot be read: {reason}")]) from None
    return parse_gold(data, file=str(path))
