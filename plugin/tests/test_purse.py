"""The run's budget: reserved before a call, settled after it, shared by all processes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import PATIENCE_S, join

from pytest_touchstone.flight.counts import Counts
from pytest_touchstone.flight.judge_calls import JudgeCalls
from pytest_touchstone.flight.purse import Expectation, Purse
from pytest_touchstone.judge.llm import ChatRequest
from pytest_touchstone.llm.chat import Completion
from pytest_touchstone.store import run as run_module
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.rows import read_run
from pytest_touchstone.store.run import RunStore, Unit
from pytest_touchstone.store.sessions import open_session
from pytest_touchstone.store.spending import SpendingStore
from pytest_touchstone.trace import Message, Usage


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(f"sqlite:///{tmp_path / 'store.sqlite'}")
    join(store, "a", [])
    yield store
    store.close()


def account(store: Store, owner: str = "a") -> SpendingStore:
    """A process's account of the run; whoever is not `a` has no beat, unless it joins."""
    return SpendingStore(store, "run", owner, 1.0)


def always(usd: float) -> Callable[[], Awaitable[float]]:
    """A call that is expected to cost so much, whatever others cost."""

    async def expected() -> float:
        return usd

    return expected


def spent(store: Store) -> tuple[Any, Any, bool]:
    """What was spent, what beyond the budget, and whether it stopped anything."""
    rows = read_run(store, "run")
    assert rows is not None
    budget = rows.run.budget
    assert budget is not None
    return budget["spent"], budget["overshoot"], budget["stopped"]


def test_what_is_reserved_is_nobody_elses(store: Store) -> None:
    join(store, "b", [])
    one, other = account(store), account(store, "b")
    assert one.reserve(0.6).result() is True
    assert other.reserve(0.6).result() is None, "it may fit when the first is settled"
    one.settle(0.6, 0.1).result()
    assert other.reserve(0.6).result() is True
    other.settle(0.6, 0.8).result()
    assert one.reserve(0.2).result() is False
    assert other.reserve(0.0).result() is False, "who knows what it would cost"
    assert other.reserve(0.05).result() is True, "a cheaper call may fit"
    other.settle(0.05, 0.05).result()
    assert spent(store) == (pytest.approx(0.95), 0.0, True)


def test_an_overshoot_is_said(store: Store) -> None:
    assert account(store).reserve(0.9).result() is True
    account(store).settle(0.9, 1.25).result()
    assert spent(store) == (1.25, pytest.approx(0.25), False)


def test_the_budget_is_not_overdrawn_by_many_at_once(store: Store) -> None:
    for owner in "bcd":
        join(store, owner, [])
    accounts = [account(store, owner) for owner in "abcd"]
    with ThreadPoolExecutor(8) as pool:
        granted = list(
            pool.map(lambda n: accounts[n % 4].reserve(0.03).result(PATIENCE_S), range(80))
        )
    assert granted.count(True) == 33
    assert granted.count(None) == 47


@settings(deadline=None, max_examples=40)
@given(st.lists(st.floats(0, 1), max_size=12))
def test_reservations_come_back_to_nothing(
    tmp_path_factory: pytest.TempPathFactory, amounts: list[float]
) -> None:
    store = Store(f"sqlite:///{tmp_path_factory.mktemp('store') / 'store.sqlite'}")
    try:
        join(store, "a", [])
        rich = SpendingStore(store, "run", "a", 100.0)
        assert all(rich.reserve(amount).result() for amount in amounts)
        for amount in amounts:
            rich.settle(amount, 0.0).result()
        assert rich.reserve(100.0 - 1e-6).result() is True
    finally:
        store.close()


def notices(store: Store) -> list[str]:
    rows = read_run(store, "run")
    assert rows is not None
    return list(rows.notes.get("notice", {}).values())


def later_session(store: Store, session: str = "later") -> None:
    store.write(lambda connection: open_session(connection, "run", session, "now")).result()


def test_a_later_session_leaves_the_living_what_they_reserved(store: Store) -> None:
    assert account(store).reserve(0.9).result() is True
    later_session(store)
    join(store, "b", [])
    assert account(store, "b").reserve(0.2).result() is None
    account(store).settle(0.9, 0.1).result()
    assert account(store, "b").reserve(0.2).result() is True
    assert notices(store) == []


def test_what_is_left_by_those_who_went_counts_as_spent(store: Store) -> None:
    assert account(store).reserve(0.3).result() is True
    RunStore(store, "run", "a").farewell().result()
    assert account(store, "unknown").reserve(0.2).result() is True
    later_session(store)
    assert spent(store) == (pytest.approx(0.5), 0.0, False)
    assert notices(store) == [
        f"budget: up to {usd} USD count as spent for calls under way in a process that ended"
        " before they did: what they cost is not known"
        for usd in ("0.3000", "0.2000")
    ]


def test_what_a_dead_process_reserved_is_settled_by_who_waits_for_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "DEAD_AFTER_S", 0.5)
    join(store, "dead", [])
    assert account(store, "dead").reserve(0.7).result() is True

    async def waits() -> list[float | None]:
        purse = Purse(account(store), 1.0)
        return [await purse.reserve(always(usd)) for usd in (0.4, 0.2)]

    assert asyncio.run(asyncio.wait_for(waits(), 20)) == [None, 0.2]
    assert spent(store) == (pytest.approx(0.7), 0.0, True)
    assert len(notices(store)) == 1


def test_who_takes_over_from_the_dead_settles_what_they_reserved(store: Store) -> None:
    unit = Unit("c1", "mine")
    dead = RunStore(store, "run", "dead")
    join(store, "dead", [])
    assert dead.claim([unit]).result() == unit
    assert account(store, "dead").reserve(0.7).result() is True
    assert RunStore(store, "run", "a").take_over(unit, "dead").result()
    assert spent(store)[0] == pytest.approx(0.7)
    account(store, "dead").settle(0.7, 0.1).result()
    assert account(store).reserve(0.3).result() is False, "it lives after all: both count"


def test_who_is_cancelled_while_asking_for_money_gives_it_back(store: Store) -> None:
    async def cancelled() -> None:
        purse = Purse(account(store), 1.0)
        asking = asyncio.ensure_future(purse.reserve(always(0.9)))
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    asyncio.run(cancelled())
    # In the order of the writes: whatever was set aside is back before this.
    for _ in range(2):
        account(store).settle(0.0, 0.0).result()
    assert account(store).reserve(1.0).result() is True


def test_who_waits_for_money_gets_what_comes_back(store: Store) -> None:
    async def both() -> list[bool]:
        purse = Purse(account(store), 1.0)

        async def one() -> bool:
            if await purse.reserve(always(0.7)) is None:
                return False
            await asyncio.sleep(0.05)
            await purse.pay(0.7, 0.1)
            return True

        return list(await asyncio.gather(one(), one(), one()))

    assert asyncio.run(both()) == [True, True, True], "each waits for what the other gives back"
    assert spent(store)[0] == pytest.approx(0.3)


def test_a_system_is_expected_to_cost_what_it_cost(store: Store) -> None:
    async def asked() -> list[str | None]:
        purse = Purse(account(store), 1.0)
        said = []
        for cost in (0.4, 0.5, 0.3):
            said.append(await purse.refuses("mine"))
            if said[-1] is None:
                await purse.paid("mine", cost)
        return said

    assert asyncio.run(asked()) == [
        None,
        None,
        "not asked: the budget of 1 USD is spent or reserved",
    ]
    assert spent(store) == (pytest.approx(0.9), 0.0, True)


def test_tokens_out_are_the_most_at_first_then_the_largest_then_the_mean() -> None:
    expected = Expectation(lambda tokens_in, tokens_out: tokens_in * 1.0 + tokens_out * 10.0)
    assert expected.is_guess
    assert expected.of(5, 100) == 1005
    for tokens in (30, 10):
        expected.took(tokens)
    assert not expected.is_guess
    assert expected.of(5, 100) == 305
    for _ in range(3):
        expected.took(20)
    assert expected.of(5, 100) == 205
    assert expected.of(5, 10) == 105
    assert Expectation(lambda *_: None).of(5, 100) == 0


def test_what_other_processes_were_told_is_known_to_one_that_asks_its_first(store: Store) -> None:
    run = RunStore(store, "run", "a")
    request = ChatRequest((Message("user", "?"),), {"max_tokens": 500})

    def cost(usage: Sequence[Usage] | None) -> tuple[float | None, str | None]:
        return float(sum(one.output_tokens for one in usage or ())), None

    def expected() -> float:
        model: Any = SimpleNamespace(model="m")
        nobody: Any = None
        calls = JudgeCalls(model, "host", nobody, run, cost, Purse(account(store), 1.0))
        return asyncio.run(calls._expectation(request))

    assert expected() == 500
    run.note("judge_call", "of another", {"usd": None, "usage": None}).result()
    assert expected() == 500
    run.note("judge_call", "one more", {"usd": 1.0, "usage": {"output_tokens": 20}}).result()
    assert expected() == 20


def test_the_cheapest_of_the_first_calls_goes_first_and_tells_of_the_others(store: Store) -> None:
    """One call alone may cost more than there is: it is made once a reply told what they take."""
    run = RunStore(store, "run", "a")

    def cost(usage: Sequence[Usage] | None) -> tuple[float | None, str | None]:
        return sum(one.output_tokens for one in usage or ()) / 1000, None

    class Chat:
        model = "m"

        async def complete(self, messages: Any, **params: Any) -> Completion:
            asked.append(params["max_tokens"])
            return Completion("{}", Usage("m", 1, 0, 20))

    asked: list[int] = []

    async def judged() -> None:
        nobody: Any = SimpleNamespace(counts=Counts("judge"))
        purse = Purse(account(store), 1.0)
        calls = JudgeCalls(Chat(), "host", nobody, run, cost, purse)
        sizes = (4000, 900, 2000, 500)
        requests = [ChatRequest((Message("user", "?"),), {"max_tokens": most}) for most in sizes]
        await asyncio.gather(*(calls._made(str(n), one) for n, one in enumerate(requests)))

    asyncio.run(judged())
    assert asked[0] == 500
    assert sorted(asked) == [500, 900, 2000, 4000]
    assert spent(store) == (pytest.approx(0.08), 0.0, False)


def test_a_small_budget_is_spent_and_not_only_reserved(store: Store) -> None:
    """A call costs 0.02, and might cost nearly all of the budget."""
    expected = Expectation(lambda _, tokens_out: tokens_out / 1000)

    async def judged() -> list[bool]:
        purse = Purse(account(store), 1.0)

        async def one() -> bool:
            async def cost() -> float:
                return expected.of(0, 900)

            usd = await purse.reserve(cost)
            if usd is None:
                return False
            await asyncio.sleep(0)
            expected.took(20)
            await purse.pay(usd, 0.02)
            return True

        return list(await asyncio.gather(*(one() for _ in range(60))))

    assert asyncio.run(judged()).count(True) == 50
    assert spent(store) == (pytest.approx(1.0), 0.0, True)
