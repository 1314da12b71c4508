"""Where a command puts what it has to say."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import pytest


def put(text: str, path: Path | None) -> int:
    """Write a whole text to a file, or to standard output; the exit code.

    :raises OSError: where the file cannot be written.
    """
    if path is None:
        sys.stdout.buffer.write(text.encode())
        sys.stdout.flush()
    else:
        path.write_bytes(text.encode())
    return int(pytest.ExitCode.OK)


def refused(lines: Iterable[str]) -> int:
    """Say on standard error why nothing was done; the exit code."""
    sys.stderr.write("".join(f"touchstone: {line}\n" for line in lines))
    return int(pytest.ExitCode.USAGE_ERROR)
