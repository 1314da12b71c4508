"""The run's budget: what a call is expected to cost is reserved before it is made."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol

from pytest_touchstone.flight.writing import written
from pytest_touchstone.llm.chat import ChatError
from pytest_touchstone.store.engine import StoreError

_LOOK_EVERY_S = 0.1


class Account(Protocol):
    """The run's one account, which all of its processes draw on."""

    def reserve(self, usd: float) -> Future[bool | None]:
        """``True`` where the amount is set aside; ``None`` where it may be once calls under way
        are settled; ``False`` where it never will."""

    def settle(self, reserved: float, spent: float) -> Future[None]:
        """Give a reservation back, and say what was spent."""


@dataclass(slots=True)
class _Mean:
    """What calls of one kind took so far."""

    value: float = 0.0
    count: int = 0

    def add(self, value: float) -> None:
        self.count += 1
        self.value += (value - self.value) / self.count


@dataclass
class Purse:
    """Pays for the calls of this process.

    A system's turn is expected to cost what its turns cost so far in this process, and the first
    ones nothing: what a system costs is known once it answers.

    :param budget: US dollars.
    """

    account: Account
    budget: float
    _means: defaultdict[str, _Mean] = field(default_factory=lambda: defaultdict(_Mean))
    _reserved: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    async def refuses(self, system: str) -> str | None:
        """Why a system's turn may not be asked, where it may not; else its cost is reserved."""

        async def expected() -> float:
            return self._means[system].value

        usd = await self.reserve(expected)
        if usd is None:
            return self.why
        self._reserved[system].append(usd)
        return None

    async def paid(self, system: str, usd: float | None) -> None:
        """A turn came back; one of unknown cost counts as nothing."""
        if usd is not None:
            self._means[system].add(usd)
        expected = self._reserved[system].pop()
        await written(self.account.settle(expected, usd or 0.0), paid_for=True)

    async def reserve(self, expected: Callable[[], Awaitable[float]]) -> float | None:
        """The amount that was set aside, or ``None`` where it is not to be had.

        Waits while calls are under way whose true cost may leave room.

        :param expected: what the call is expected to cost; asked again while waiting, since others
            that came back meanwhile may tell.
        """
        while True:
            usd = await expected()
            granted = await self._granted(usd)
            if granted is not None:
                return usd if granted else None
            await asyncio.sleep(_LOOK_EVERY_S)

    async def _granted(self, usd: float) -> bool | None:
        asked = self.account.reserve(usd)
        try:
            return await written(asked)
        except asyncio.CancelledError:
            # It may be set aside all the same, for nobody.
            asked.add_done_callback(lambda done: self._give_back(done, usd))
            raise

    def _give_back(self, done: Future[bool | None], usd: float) -> None:
        if not done.cancelled() and done.exception() is None and done.result():
            with contextlib.suppress(StoreError):
                self.account.settle(usd, 0.0)

    async def pay(self, reserved: float, usd: float | None) -> None:
        """Settle what :meth:`reserve` set aside; a call of unknown cost is taken to have cost
        what it was expected to."""
        spent = reserved if usd is None else usd
        await written(self.account.settle(reserved, spent), paid_for=True)

    @property
    def why(self) -> str:
        """One line for whoever wonders why there is no score."""
        return f"not asked: the budget of {self.budget:g} USD is spent or reserved"

    def refusal(self) -> ChatError:
        """The same as a call's fault."""
        return ChatError("budget", self.why, retryable=False)


class Expectation:
    """What a call to a model is expected to cost, by what its calls took so far.

    :param price: US dollars of so many tokens in and out; ``None`` where no price is known.
    """

    _ENOUGH = 5

    def __init__(self, price: Callable[[int, int], float | None]) -> None:
        self._price = price
        self._out = _Mean()
        self._largest = 0

    @property
    def is_guess(self) -> bool:
        """Whether no call came back yet."""
        return not self._out.count

    def of(self, tokens_in: int, most_out: int) -> float:
        """US dollars: tokens out are the mean so far; of fewer than five calls the largest, and
        before the first the most there may be."""
        out = most_out
        if not self.is_guess:
            enough = self._out.count >= self._ENOUGH
            out = min(round(self._out.value) if enough else self._largest, most_out)
        return self._price(tokens_in, out) or 0.0

    def took(self, tokens_out: int) -> None:
        """A call came back."""
        self._out.add(tokens_out)
        self._largest = max(self._largest, tokens_out)
