"""Rows of one kind that wait to be written at the same time: one statement for all of them.

A statement costs ten times what a row costs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy.engine import Connection

T = TypeVar("T")
Job = Callable[[Connection], Any]


@dataclass(frozen=True, slots=True)
class Row(Generic[T]):
    """A row that may be written together with others of the same ``write``.

    :param write: writes the rows in their order; what came of each.  It is known by its identity.
    """

    write: Callable[[Connection, Sequence[Any]], Sequence[T]]
    row: Any

    def __call__(self, connection: Connection) -> T:
        """Write it alone."""
        (result,) = self.write(connection, [self.row])
        return result


def carried_out(jobs: Sequence[Job], connection: Connection) -> list[Any]:
    """What the jobs give, in their order; rows are written where the first of their kind stands."""
    kinds: dict[Any, list[int]] = {}
    for place, job in enumerate(jobs):
        if isinstance(job, Row):
            kinds.setdefault(job.write, []).append(place)
    results: list[Any] = [None] * len(jobs)
    for place, job in enumerate(jobs):
        if not isinstance(job, Row):
            results[place] = job(connection)
        elif places := kinds.pop(job.write, None):
            rows = [jobs[each].row for each in places]  # type: ignore[attr-defined]
            for each, result in zip(places, job.write(connection, rows), strict=True):
                results[each] = result
    return results
