"""What calls cost, noted in the run, and the judge's own model refused among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pytest_touchstone.flight.judge_calls import Cost
from pytest_touchstone.flight.purse import Purse
from pytest_touchstone.llm.prices import Prices
from pytest_touchstone.settings import Settings, same_model
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.run import RunStore
from pytest_touchstone.store.spending import SpendingStore
from pytest_touchstone.trace import Usage
from pytest_touchstone.unusable import Unusable


class SameModel(Unusable):
    """A judge would judge its own answers."""


def noting_prices(prices: Prices, run: RunStore) -> Callable[..., tuple[float | None, str | None]]:
    """Prices that leave a note in the run, once per model, of what they charged."""
    noted: set[str] = set()

    def cost(usage: Any) -> tuple[float | None, str | None]:
        result = prices.cost(usage)
        for entry in prices.used():
            if entry["model"] not in noted:
                noted.add(entry["model"])
                run.note("price", entry["model"], entry)
        return result

    return cost


class NoPrice(Unusable):
    """A budget, and a model whose calls cannot be reckoned."""


def open_purse(settings: Settings, store: Store, run: RunStore) -> Purse | None:
    """What pays for the run's calls, where it has a budget.

    :raises NoPrice: where the judge's price is not known.
    """
    if settings.budget is None:
        return None
    judge = settings.judge
    if judge is not None and not judge.is_offline:
        known = Prices(settings.prices, settings.provider).cost([Usage(judge.model, 1, 0, 1)])
        if known[0] is None:
            raise NoPrice(
                f"budget: no price is known for judge.model {judge.model!r}, so no call of it can"
                f" be reckoned; set `prices.{judge.model}` (0 where it costs nothing)"
            )
    account = SpendingStore(store, run.run_id, run.owner, settings.budget)
    return Purse(account, settings.budget)


def refusing_the_judge(cost: Cost, settings: Settings) -> Cost:
    """Prices that refuse the judge's own model among the calls of a system."""
    judge = settings.judge
    if judge is None or judge.allow_same_model:
        return cost

    def checked(usage: Sequence[Usage] | None) -> tuple[float | None, str | None]:
        for call in usage or ():
            if same_model(call.model, judge.model):
                raise SameModel(
                    f"a system answered with {call.model}, which is the judge's model: a judge"
                    " favours its own answers. Name another `judge.model`, or set"
                    " `judge.allow_same_model`"
                )
        return cost(usage)

    return checked
