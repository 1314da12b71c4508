"""Who answers a task: a model, rules, people.  One protocol for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pytest_touchstone.judge.tasks import Task
from pytest_touchstone.trace import Usage
from pytest_touchstone.verdicts import NoVerdict

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Judged(Generic[V]):
    """What came of a task: either ``verdict`` or ``failure`` is set.

    :param calls: tokens of each call that was answered, in order; ``None`` where the server does
        not count them.  Empty where nothing had to be asked.
    :param model: the model that the server says answered last.
    :param fingerprint: its ``system_fingerprint``, where the server gives one.
    """

    verdict: V | None
    failure: NoVerdict | None = None
    calls: tuple[Usage | None, ...] = ()
    model: str | None = None
    fingerprint: str | None = None


class Judge(Protocol):
    """Anything that gives verdicts."""

    async def judge(self, task: Task[V]) -> Judged[V]:
        """The verdict, or why there is none; never an invented one, and no exception for a fault
        of the judge."""
