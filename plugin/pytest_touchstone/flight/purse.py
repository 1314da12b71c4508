"""The run's budget: what a call is expected to cost is reserved before it is made."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol

from pytest_touchstone.flight.writing import written
from pytest_touchstone.llm.chat import ChatError

_LOOK_EVERY_S = 0.1
_PATIENCE_S = 120.0


class Account(Protocol):
    """The run's one account, which all of its processes draw on."""

    def reserve(self, usd: float) -> Future[bool | None]:
        """``True`` where the amount is set aside; ``None`` where it may be once calls under way
        are settled; ``False`` for good."""

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
        expected = self._means[system].value
        if not await self.reserved(expected):
            return self.why
        self._reserved[system].append(expected)
        return None

    async def paid(self, system: str, usd: float | None) -> None:
        """A turn came back; one of unknown cost counts as nothing."""
        if usd is not None:
            self._means[system].add(usd)
        expected = self._reserved[system].pop()
        await written(self.account.settle(expected, usd or 0.0), paid_for=True)

    async def reserved(self, usd: float) -> bool:
        """Whether the amount is set aside, waiting for calls under way where that may help."""
        loop = asyncio.get_running_loop()
        until = loop.time() + _PATIENCE_S
        while (granted := await written(self.account.reserve(usd))) is None:
            if loop.time() > until:
                return False
            await asyncio.sleep(_LOOK_EVERY_S)
        return granted

    async def pay(self, reserved: float, usd: float | None) -> None:
        """Settle what :meth:`reserved` set aside; a call of unknown cost is taken to have cost
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

    def of(self, tokens_in: int, most_out: int) -> float:
        """US dollars: tokens out are the mean so far, and at first the most there may be."""
        known = self._out.count >= self._ENOUGH
        out = min(round(self._out.value), most_out) if known else most_out
        return self._price(tokens_in, out) or 0.0

    def took(self, tokens_out: int) -> None:
        """A call came back."""
        self._out.add(tokens_out)
