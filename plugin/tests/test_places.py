"""Places: never more inside than allowed, first come first served, and nobody is forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext

from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.flight.places import RANK, Places, leading


def test_first_come_first_served() -> None:
    order: list[int] = []

    async def caller(places: Places, number: int) -> None:
        async with places:
            order.append(number)
            await asyncio.sleep(0)

    async def main() -> None:
        places = Places(2)
        await asyncio.gather(*(caller(places, number) for number in range(7)))

    asyncio.run(main())
    assert order == list(range(7))


def test_what_stands_first_in_the_plan_is_let_in_first() -> None:
    order: list[int] = []

    async def caller(places: Places, rank: int) -> None:
        RANK.set(rank)
        async with places:
            order.append(rank)
            await asyncio.sleep(0)

    async def main() -> None:
        places = Places(1)
        await asyncio.gather(*(caller(places, rank) for rank in (5, 4, 2, 3, 1)))

    asyncio.run(main())
    assert order == [5, 1, 2, 3, 4], "who is inside stays there"


def test_a_call_that_another_waits_for_is_let_in_earlier() -> None:
    order: list[str] = []

    async def call(places: Places, name: str) -> None:
        async with places:
            order.append(name)
            await asyncio.sleep(0)

    async def case(places: Places, rank: int) -> None:
        RANK.set(rank)
        with leading():
            first = asyncio.create_task(call(places, f"first of {rank}"))
        other = asyncio.create_task(call(places, f"other of {rank}"))
        await first
        await call(places, f"second of {rank}")
        await other

    async def main() -> None:
        places = Places(2)
        await asyncio.gather(*(asyncio.create_task(case(places, rank)) for rank in range(5)))

    asyncio.run(main())
    assert order[:4] == ["first of 0", "other of 0", "first of 1", "first of 2"]
    for rank in range(3):
        ahead, behind = order.index(f"first of {rank + 2}"), order.index(f"other of {rank + 1}")
        assert ahead < behind
        assert order.index(f"second of {rank}") < order.index(f"second of {rank + 1}")
    assert not {"first of 3", "first of 4"} & set(order[-4:]), "no place is empty at the end"


def test_a_call_for_no_work_of_the_plan_is_let_in_before_all_of_it() -> None:
    order: list[int | None] = []

    async def caller(places: Places, rank: int | None) -> None:
        if rank is not None:
            RANK.set(rank)
        with leading() if rank is not None else nullcontext():
            async with places:
                order.append(rank)
                await asyncio.sleep(0)

    async def main() -> None:
        places = Places(1)
        tasks = (asyncio.create_task(caller(places, rank)) for rank in (1, 0, None))
        await asyncio.gather(*tasks)

    asyncio.run(main())
    assert order == [1, None, 0]


@given(
    st.integers(1, 5),
    st.lists(st.tuples(st.sampled_from(["call", "cancel", "halve", "succeeded"]), st.integers(0))),
)
def test_whatever_happens_no_place_is_lost_or_given_twice(
    limit: int, steps: Sequence[tuple[str, int]]
) -> None:
    async def main() -> None:
        places = Places(limit)
        inside = 0
        release = asyncio.Event()

        async def caller() -> None:
            nonlocal inside
            async with places:
                inside += 1
                assert inside <= limit
                try:
                    await release.wait()
                finally:
                    inside -= 1

        callers: list[asyncio.Task[None]] = []
        for step, number in steps:
            match step:
                case "call":
                    callers.append(asyncio.ensure_future(caller()))
                case "cancel" if callers:
                    callers[number % len(callers)].cancel()
                case "halve":
                    places.halve()
                case _:
                    places.succeeded()
            assert 1 <= places.open <= limit
            if number % 2:
                await asyncio.sleep(0)
        release.set()
        await asyncio.wait_for(asyncio.gather(*callers, return_exceptions=True), 5)
        for _ in range(limit * limit):  # everything has grown back, and every place is free
            places.succeeded()
        entered = [asyncio.ensure_future(places.__aenter__()) for _ in range(limit)]
        await asyncio.wait_for(asyncio.gather(*entered), 5)

    asyncio.run(main())
