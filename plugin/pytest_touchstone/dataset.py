"""Gold questions and annotations on disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pytest_touchstone.annotations import (
    Annotation,
    AnnotationError,
    Annotations,
    annotation_line,
    parse_annotations,
)
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


def read_annotations(folder: Path) -> Annotations:
    """What people said of answers: ``annotations*.jsonl`` in the gold file's folder, in order.

    :raises AnnotationError: with every fault of the first faulty file.
    """
    return Annotations(annotation_lines(folder))


def annotation_lines(folder: Path) -> list[Annotation]:
    """The same, annotation by annotation.

    :raises AnnotationError: with every fault of the first faulty file.
    """
    found: list[Annotation] = []
    for path in sorted(folder.glob("annotations*.jsonl")):
        try:
            data = path.read_bytes()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise AnnotationError(f"{path}: cannot be read: {reason}") from None
        found += parse_annotations(data, file=str(path))
    return found


def append_annotations(path: Path, annotations: Sequence[Annotation]) -> None:
    """Write annotations behind those that a file has, in one piece.

    :raises OSError: where it cannot be written.
    """
    lines = "".join(f"{annotation_line(one)}\n" for one in annotations)
    with path.open("ab+") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(end - 1, 0))
        # Somebody's editor may have left the last line without its end.
        broken = file.read(1) not in (b"", b"\n")
        file.write(b"\n" * broken + lines.encode())
        file.flush()
        os.fsync(file.fileno())
