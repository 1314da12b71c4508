"""Calls by content: made once within a process, among processes, and across runs."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from pytest_touchstone.flight.endpoint import Endpoint
from pytest_touchstone.flight.shared import Shared, SharedCalls
from pytest_touchstone.flight.threads import DaemonThreads
from pytest_touchstone.llm.chat import ChatError
from pytest_touchstone.store import run as run_module
from pytest_touchstone.store.calls import CallStore
from pytest_touchstone.store.engine import Store, StoreError

T = TypeVar("T")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(f"sqlite:///{tmp_path / 'store.sqlite'}")
    yield store
    store.close()


class Counter:
    """A call that counts how often it is made."""

    def __init__(self, *, fails: int = 0, gate: asyncio.Event | None = None) -> None:
        self.made = 0
        self._fails = fails
        self._gate = gate

    async def __call__(self) -> dict[str, Any]:
        self.made += 1
        if self._gate is not None:
            await self._gate.wait()
        if self.made <= self._fails:
            raise ChatError("refused", "no")
        return {"text": "Grüße \u2028", "number": self.made}


def is_good(result: Mapping[str, Any]) -> bool:
    return bool(result["text"])


def flown(store: Store, body: Callable[[Callable[[str], SharedCalls]], Awaitable[T]]) -> T:
    """Run ``body`` on a loop, with a maker of shared calls by the name of their process."""

    async def main() -> T:
        threads = DaemonThreads("test")

        def process(owner: str, limit: int = 4) -> SharedCalls:
            endpoint = Endpoint(limit=limit, tries=1, timeout=20)
            return SharedCalls(CallStore(store, owner, "judge"), endpoint, threads, is_good)

        try:
            return await body(process)
        finally:
            threads.close()

    return asyncio.run(main())


def test_a_call_is_made_once_and_kept(store: Store) -> None:
    call = Counter()

    async def body(process: Callable[[str], SharedCalls]) -> list[Shared]:
        one, other = process("one"), process("other")
        together = await asyncio.gather(*(one.once("k", call) for _ in range(5)))
        return [*together, await other.once("k", call), await process("later run").once("k", call)]

    shared = flown(store, body)
    assert call.made == 1
    assert {found.result["text"] for found in shared} == {"Grüße \u2028"}
    assert [found.made for found in shared] == [True, *[False] * 6]


def test_two_processes_at_once_make_one_call(store: Store) -> None:
    async def body(process: Callable[[str], SharedCalls]) -> tuple[int, list[Shared]]:
        gate = asyncio.Event()
        call = Counter(gate=gate)
        # The process that waits is given a worker's beat to see.
        await asyncio.wrap_future(_alive(store, "one"))
        first = asyncio.ensure_future(process("one").once("k", call))
        while call.made == 0:
            await asyncio.sleep(0.01)
        second = asyncio.ensure_future(process("two").once("k", call))
        await asyncio.sleep(0.3)
        assert not second.done()
        gate.set()
        return call.made, [await first, await second]

    made, shared = flown(store, body)
    assert made == 1
    assert [found.made for found in shared] == [True, False]


def test_who_holds_makes_no_further_call_and_ends_those_under_way(store: Store) -> None:
    known, late, never = Counter(), Counter(gate=(gate := asyncio.Event())), Counter()

    async def body(process: Callable[[str], SharedCalls]) -> list[Shared]:
        calls = process("one")
        await calls.once("known", known)
        under_way = asyncio.ensure_future(calls.once("late", late))
        while not late.made:
            await asyncio.sleep(0.01)
        calls.hold()
        further = asyncio.ensure_future(calls.once("never", never))
        again = await calls.once("known", known)
        gate.set()
        found = [again, await under_way]
        assert not (await asyncio.wait({further}, timeout=0.2))[0]
        further.cancel()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        return [*found, await process("later run").once("late", late)]

    assert [found.made for found in flown(store, body)] == [False, True, False]
    assert (known.made, late.made, never.made) == (1, 1, 0)


def test_a_call_that_fails_is_let_go_and_may_be_made_again(store: Store) -> None:
    call = Counter(fails=1)

    async def body(process: Callable[[str], SharedCalls]) -> Shared:
        with pytest.raises(ChatError):
            await process("one").once("k", call)
        return await process("two").once("k", call)

    assert flown(store, body) == Shared({"text": "Grüße \u2028", "number": 2}, made=True)


@pytest.mark.parametrize("has_a_beat", [True, False])
def test_the_call_of_a_dead_process_is_taken_over(
    store: Store, has_a_beat: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "DEAD_AFTER_S", 0.5)
    call = Counter()

    async def body(process: Callable[[str], SharedCalls]) -> Shared:
        if has_a_beat:
            await asyncio.wrap_future(_alive(store, "dead"))
        assert await asyncio.wrap_future(CallStore(store, "dead", "judge").claim("k"))
        return await asyncio.wait_for(process("heir").once("k", call), 10)

    assert flown(store, body).made
    assert call.made == 1


def test_what_a_call_fails_with_after_all_who_asked_are_gone_is_nobodys_business(
    store: Store,
) -> None:
    complaints: list[str] = []

    async def body(process: Callable[[str], SharedCalls]) -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: complaints.append(context["message"]))
        gate = asyncio.Event()
        call = Counter(fails=1, gate=gate)
        asking = asyncio.ensure_future(process("one").once("k", call))
        while not call.made:
            await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        gate.set()
        while asyncio.all_tasks() != {asyncio.current_task()}:
            await asyncio.sleep(0.01)
        gc.collect()

    flown(store, body)
    assert complaints == []


def test_a_result_that_is_not_worth_keeping_is_given_but_made_again(store: Store) -> None:
    made = 0

    async def call() -> dict[str, Any]:
        nonlocal made
        made += 1
        return {"text": "" if made == 1 else "whole"}

    async def body(process: Callable[[str], SharedCalls]) -> list[Shared]:
        return [await process("one").once("k", call) for _ in range(3)]

    found = flown(store, body)
    assert [shared.result["text"] for shared in found] == ["", "whole", "whole"]
    assert [shared.made for shared in found] == [True, True, False]


def test_no_more_calls_are_claimed_than_there_are_places(store: Store) -> None:
    async def body(process: Callable[..., SharedCalls]) -> int:
        gate = asyncio.Event()
        call = Counter(gate=gate)
        calls = process("one", limit=2)
        tasks = [asyncio.ensure_future(calls.once(f"k{n}", call)) for n in range(6)]
        await asyncio.sleep(0.3)
        claimed = call.made
        gate.set()
        await asyncio.gather(*tasks)
        return claimed

    assert flown(store, body) == 2


def _alive(store: Store, owner: str) -> Any:
    import sqlalchemy as sa

    from pytest_touchstone.store import tables

    row = {"owner": owner, "run_id": "r", "beat": 1}
    return store.write(lambda connection: connection.execute(sa.insert(tables.workers), row))


def test_what_is_asked_for_together_is_looked_up_together(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    results = CallStore.results

    def noted(self: CallStore, keys: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        read.append(len(keys))
        return results(self, keys)

    async def body(process: Callable[[str], SharedCalls]) -> list[Shared]:
        call = Counter()
        keys = [f"k{number}" for number in range(20)]
        await asyncio.gather(*(process("one").once(key, call) for key in keys[::2]))
        monkeypatch.setattr(CallStore, "results", noted)
        other = process("two")
        return list(await asyncio.gather(*(other.once(key, call) for key in keys)))

    found = flown(store, body)
    assert [one.made for one in found] == [False, True] * 10
    assert read == [20]


def test_a_store_that_cannot_be_read_is_told_to_all_who_ask(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: CallStore, keys: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        raise StoreError("gone")

    monkeypatch.setattr(CallStore, "results", broken)

    async def body(process: Callable[[str], SharedCalls]) -> list[Shared | BaseException]:
        one = process("one")
        asked = (one.once(f"k{number}", Counter()) for number in range(3))
        return await asyncio.gather(*asked, return_exceptions=True)

    assert [str(error) for error in flown(store, body)] == ["gone"] * 3
