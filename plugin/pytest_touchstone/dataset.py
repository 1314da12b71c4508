"""Gold questions and annotations on disk."""

from __future__ import annotations

from pathlib import Path

from pytest_touchstone.annotations import (
    Annotation,
    AnnotationError,
    Annotations,
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
    found: list[Annotation] = []
    for path in sorted(folder.glob("annotations*.jsonl")):
        try:
            data = path.read_bytes()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise AnnotationError(f"{path}: cannot be read: {reason}") from None
        found += parse_annotations(data, file=str(path))
    return Annotations(found)
