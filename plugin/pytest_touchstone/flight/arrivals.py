"""What is done of a run's plan, and the tests that wait for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from pytest_touchstone.flight.measuring import Scores
from pytest_touchstone.store.engine import StoreError
from pytest_touchstone.store.run import Unit

_READ_AHEAD = 256  # units whose scores are read together, where tests go through the plan
_STORED_FIRST_S = 10.0  # how long tests wait for all that is stored: side by side both take longer


class FlightError(Exception):
    """The flight cannot go on: the store failed, the loop is blocked, patience ran out."""


class Arrivals:
    """Says what is done, in the flight's threads, and waits for it, in those of tests.

    :param order: every unit of the run, in the plan's order.
    :param read: reads scores of units that are done.
    :param patience: seconds that :meth:`scores` waits at most.
    :param meanwhile: called now and then by whoever waits.
    """

    def __init__(
        self,
        order: Sequence[Unit],
        read: Callable[[list[Unit]], Mapping[Unit, Scores]],
        *,
        patience: float,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        self._order = order
        self._ranks = {unit: rank for rank, unit in enumerate(order)}
        self._read = read
        self._patience = patience
        self._meanwhile = meanwhile
        self._done: set[Unit] = set()
        self._ahead: dict[Unit, Scores] = {}
        self._expected: dict[tuple[str, int, str], Unit] = {}
        self._reusing: set[str] = set()
        self._stored_first_until = 0.0
        self._failure: BaseException | None = None
        self._over = threading.Event()
        self._news = threading.Condition()  # something was done, or everything is over

    def __contains__(self, unit: object) -> bool:
        return unit in self._done

    @property
    def complete(self) -> bool:
        """Whether everything is done."""
        return len(self._done) == len(self._order)

    def rank(self, unit: Unit) -> int:
        """A unit's place in the plan, from 0."""
        return self._ranks[unit]

    # -- for the flight -------------------------------------------------------------------

    def mark(self, units: Iterable[Unit], known: Mapping[Unit, Scores] | None = None) -> None:
        """Units of the plan are done: their scores are in the store.

        :param known: scores that nobody need read back, for tests that will ask for them.
        """
        with self._news:
            self._ahead |= known or {}
            self._done.update(units)
            self._news.notify_all()

    def reusing(self, systems: Collection[str]) -> None:
        """Stored answers of these systems are settled first."""
        self._reusing = set(systems)
        self._stored_first_until = time.monotonic() + _STORED_FIRST_S

    def reused(self, system: str) -> None:
        """All stored answers of a system are settled."""
        with self._news:
            self._reusing.discard(system)
            self._news.notify_all()

    def fail(self, error: BaseException) -> None:
        """Why the rest will not come; the first that is said counts."""
        self._failure = self._failure or error

    def end(self) -> None:
        """Nothing more will come."""
        with self._news:
            self._over.set()
            self._news.notify_all()

    def ended(self, within_s: float) -> bool:
        """Whether the end came within so many seconds from now."""
        return self._over.wait(within_s)

    # -- for tests ------------------------------------------------------------------------

    def scores(self, unit: Unit) -> Scores:
        """Wait for a unit's scores.

        :raises FlightError: when they will not come.
        """
        if unit not in self._ranks:
            raise FlightError(f"the plan has no case {unit.case_id} for system {unit.system!r}")
        if unit not in self._done or self._reusing:
            deadline = time.monotonic() + self._patience
            while not self._came(unit, deadline):
                self._meanwhile()
        if unit not in self._ahead:
            self._read_ahead(unit)
        return self._ahead.pop(unit, {})

    def drain(self) -> None:
        """Wait for the end.

        :raises FlightError: when something failed.
        """
        while not self._over.wait(1.0):
            self._meanwhile()
        if self._failure is not None:
            raise FlightError(self._why_unfinished()) from self._failure

    def _came(self, unit: Unit, deadline: float) -> bool:
        """Whether a unit is done, after a second at most, so that Ctrl-C works everywhere."""
        with self._news:
            if self._may_go_on(unit):
                return True
            if unit in self._done:
                deadline = self._stored_first_until
            elif self._over.is_set():
                raise FlightError(self._why_unfinished()) from self._failure
            elif time.monotonic() >= deadline:
                raise FlightError(
                    f"no score for {unit.case_id} within {self._patience:g} s;"
                    " the setting `patience` allows more"
                )
            self._news.wait(min(deadline - time.monotonic(), 1.0))
            return self._may_go_on(unit)

    def _may_go_on(self, unit: Unit) -> bool:
        """Whether a unit is done, and all that is stored is settled or has had its time."""
        waits = self._reusing and time.monotonic() < self._stored_first_until
        return unit in self._done and not waits

    def _read_ahead(self, unit: Unit) -> None:
        """Read a unit's scores, and those of the next ones where tests ask in the plan's order."""
        kind = (unit.system, unit.repeat, unit.mode)
        most = _READ_AHEAD if self._expected.get(kind) == unit else 1
        units: list[Unit] = []
        for rank in range(self._ranks[unit], len(self._order)):
            other = self._order[rank]
            if (other.system, other.repeat, other.mode) != kind:
                continue
            if len(units) == most or other not in self._done:
                self._expected[kind] = other
                break
            units.append(other)
        try:
            self._ahead |= self._read(units)
        except StoreError as error:
            raise FlightError(str(error)) from error

    def _why_unfinished(self) -> str:
        error = self._failure
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if error is None:
            return "the run was stopped before this case was scored"
        if isinstance(error, FlightError | StoreError):
            return str(error)
        return f"{type(error).__name__}: {error}"
