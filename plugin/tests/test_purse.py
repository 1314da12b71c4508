"""The run's budget: reserved before a call, settled after it, shared by all processes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import PATIENCE_S, join

from pytest_touchstone.flight.purse import Expectation, Purse
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.rows import read_run
from pytest_touchstone.store.sessions import open_session
from pytest_touchstone.store.spending import SpendingStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(f"sqlite:///{tmp_path / 'store.sqlite'}")
    join(store, "a", [])
    yield store
    store.close()


def spent(store: Store) -> tuple[Any, Any, bool]:
    """What was spent, what beyond the budget, and whether it stopped anything."""
    rows = read_run(store, "run")
    assert rows is not None
    budget = rows.run.budget
    assert budget is not None
    return budget["spent"], budget["overshoot"], budget["stopped"]


def test_what_is_reserved_is_nobody_elses(store: Store) -> None:
    one, other = SpendingStore(store, "run", 1.0), SpendingStore(store, "run", 1.0)
    assert one.reserve(0.6).result() is True
    assert other.reserve(0.6).result() is None, "it may fit when the first is settled"
    one.settle(0.6, 0.1).result()
    assert other.reserve(0.6).result() is True
    other.settle(0.6, 0.8).result()
    assert one.reserve(0.2).result() is False
    assert other.reserve(0.0001).result() is False, "once over, it is over for everybody"
    assert spent(store) == (pytest.approx(0.9), 0.0, True)


def test_an_overshoot_is_said(store: Store) -> None:
    account = SpendingStore(store, "run", 1.0)
    assert account.reserve(0.9).result() is True
    account.settle(0.9, 1.25).result()
    assert spent(store) == (1.25, pytest.approx(0.25), False)


def test_the_budget_is_not_overdrawn_by_many_at_once(store: Store) -> None:
    accounts = [SpendingStore(store, "run", 1.0) for _ in range(4)]
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
        account = SpendingStore(store, "run", 100.0)
        assert all(account.reserve(amount).result() for amount in amounts)
        for amount in amounts:
            account.settle(amount, 0.0).result()
        assert account.reserve(100.0 - 1e-6).result() is True
    finally:
        store.close()


def test_a_later_session_has_what_a_dead_one_reserved(store: Store) -> None:
    account = SpendingStore(store, "run", 1.0)
    assert account.reserve(0.9).result() is True
    assert account.reserve(0.9).result() is None
    store.write(lambda connection: open_session(connection, "run", "later", "now")).result()
    assert account.reserve(0.9).result() is True


def test_who_waits_for_money_gets_what_comes_back(store: Store) -> None:
    async def both() -> list[bool]:
        purse = Purse(account(store), 1.0)

        async def one() -> bool:
            if not await purse.reserved(0.7):
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


def test_tokens_out_are_the_most_at_first_and_then_the_mean() -> None:
    expected = Expectation(lambda tokens_in, tokens_out: tokens_in * 1.0 + tokens_out * 10.0)
    assert expected.of(5, 100) == 1005
    for _ in range(5):
        expected.took(20)
    assert expected.of(5, 100) == 205
    assert expected.of(5, 10) == 105
    assert Expectation(lambda *_: None).of(5, 100) == 0
