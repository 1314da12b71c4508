"""The policy of one server: places, tries, pauses, and one deadline over all of it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

import pytest

from pytest_touchstone.flight import endpoint as endpoint_module
from pytest_touchstone.flight.endpoint import Endpoint
from pytest_touchstone.flight.pace import Pace
from pytest_touchstone.llm.chat import ChatError

T = TypeVar("T")


class Loop(asyncio.SelectorEventLoop):
    """A loop whose clock jumps over every wait, so that minutes pass at once and exactly."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 100.0

    def time(self) -> float:
        return self._now

    def _run_once(self) -> None:
        timers = self._scheduled  # type: ignore[attr-defined]
        alive = [timer._when for timer in timers if not timer._cancelled]
        if alive and not self._ready:  # type: ignore[attr-defined]
            self._now = max(self._now, min(alive))
        super()._run_once()  # type: ignore[misc]


def run(main: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=Loop) as runner:
        return runner.run(main)


def now() -> float:
    return asyncio.get_running_loop().time() - 100.0


def limited(after: float | None = None) -> ChatError:
    return ChatError("rate_limited", "slow down", retry_after=after)


FAILED = ChatError("server_error", "out of order")
REFUSED = ChatError("bad_request", "no such thing")


class Server:
    """Answers with what it is given, one after the other, and notes when it was called."""

    def __init__(self, *replies: Any, takes: float = 0.0) -> None:
        self._replies = list(replies)
        self._takes = takes
        self.called: list[float] = []
        self.in_flight = 0
        self.peak = 0

    async def __call__(self) -> Any:
        self.called.append(now())
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            await asyncio.sleep(self._takes)
        finally:
            self.in_flight -= 1
        reply = self._replies.pop(0) if self._replies else "fine"
        if isinstance(reply, BaseException):
            raise reply
        return reply


def pauses(times: Iterable[float]) -> list[float]:
    return [after - before for before, after in itertools.pairwise(times)]


def endpoint(limit: int = 10, tries: int = 4, timeout: float = 1000.0) -> Endpoint:
    return Endpoint(limit=limit, tries=tries, timeout=timeout)


def calling(server: Callable[[], Awaitable[Any]], one: Endpoint) -> Any:
    async def main() -> Any:
        return await one.call(server)

    return run(main())


def test_a_good_reply_takes_one_call() -> None:
    server = Server("well")
    assert calling(server, endpoint()) == "well"
    assert server.called == [0.0]


def test_pauses_double_and_are_never_shorter_than_half() -> None:
    for _ in range(20):
        server = Server(FAILED, FAILED, FAILED, "well")
        assert calling(server, endpoint()) == "well"
        first, second, third = pauses(server.called)
        assert 0.5 <= first <= 1.0
        assert 1.0 <= second <= 2.0
        assert 2.0 <= third <= 4.0


def test_pauses_have_jitter_and_an_upper_end() -> None:
    last = set()
    for _ in range(10):
        server = Server(*[FAILED] * 9)
        calling(server, endpoint(tries=10))
        last.add(pauses(server.called)[-1])
    assert len(last) == 10
    assert all(15.0 <= pause <= 30.0 for pause in last)


def test_so_many_tries_and_no_more() -> None:
    server = Server(*[FAILED] * 9)
    with pytest.raises(ChatError, match="out of order"):
        calling(server, endpoint(tries=3))
    assert len(server.called) == 3


@pytest.mark.parametrize("error", [REFUSED, ValueError("a bug"), SystemExit(3)])
def test_what_cannot_get_better_is_not_tried_again(error: BaseException) -> None:
    server = Server(error)
    with pytest.raises(type(error)):
        calling(server, endpoint())
    assert len(server.called) == 1


@pytest.mark.parametrize("asked", [0.0, 0.1, 7.0, 90.0])
def test_the_servers_own_time_is_kept(asked: float) -> None:
    """And `Retry-After: 0` is no licence for a tight loop."""
    server = Server(limited(asked), "well")
    calling(server, endpoint())
    (pause,) = pauses(server.called)
    assert max(asked, 0.5) <= pause <= max(asked, 0.5) + 0.5


def test_a_rate_limit_holds_back_every_caller() -> None:
    server = Server(limited(20.0))
    one = endpoint()

    async def later() -> None:
        await asyncio.sleep(5.0)
        await one.call(server)

    async def main() -> None:
        await asyncio.gather(one.call(server), later(), later())

    run(main())
    assert server.called[0] == 0.0
    assert len(server.called) == 4
    assert all(20.0 <= time <= 20.5 for time in server.called[1:])


def test_a_rate_limit_that_is_prolonged_meanwhile() -> None:
    """Who waits for one limit to end looks again: another may have begun."""
    server = Server(limited(10.0), limited(30.0), takes=5.0)
    one = endpoint()

    async def third() -> None:
        await asyncio.sleep(6.0)
        await one.call(server)

    async def second() -> None:
        await asyncio.sleep(4.0)
        await one.call(server)

    async def main() -> None:
        await asyncio.gather(one.call(server), second(), third())

    run(main())
    assert server.called[:2] == [0.0, 4.0]
    assert len(server.called) == 5
    assert all(time >= 9.0 + 30.0 for time in server.called[2:])


def test_a_server_that_is_out_of_order_and_says_until_when_is_left_alone_by_everyone() -> None:
    server = Server(ChatError("server_error", "maintenance", retry_after=300.0))
    one = endpoint(timeout=60.0)

    async def later() -> None:
        await asyncio.sleep(1.0)
        await one.call(server)

    async def main() -> None:
        await asyncio.gather(one.call(server), later())

    run(main())
    assert server.called[0] == 0.0
    assert len(server.called) == 3
    assert all(300.0 <= time <= 300.5 for time in server.called[1:])


def test_who_waits_for_the_pace_when_a_rate_limit_comes_waits_for_both() -> None:
    """And the calls that were held back do not go out together in the end."""
    server = Server("fine", "fine", limited(200.0), takes=2.0)
    one = Endpoint(limit=10, tries=4, timeout=10.0, pace=Pace(calls=3))

    async def main() -> None:
        await asyncio.gather(*(one.call(server) for _ in range(8)))

    run(main())
    times = server.called
    assert len(times) == 9
    assert times[:3] == [0.0] * 3
    assert all(time >= 202.0 for time in times[3:])
    assert max(sum(t <= u < t + 60 for u in times) for t in times) == 3


def test_other_failures_hold_back_nobody_else() -> None:
    server = Server(FAILED)
    one = endpoint()

    async def later() -> None:
        await asyncio.sleep(0.1)
        await one.call(server)

    async def main() -> None:
        await asyncio.gather(one.call(server), later())

    run(main())
    assert server.called[:2] == pytest.approx([0.0, 0.1])


def test_so_many_calls_in_flight_and_no_more() -> None:
    server = Server(takes=2.0)
    one = endpoint(limit=3)

    async def main() -> None:
        await asyncio.gather(*(one.call(server) for _ in range(9)))

    run(main())
    assert server.peak == 3
    assert server.called == [0.0] * 3 + [2.0] * 3 + [4.0] * 3


def test_the_deadline_counts_from_a_free_place() -> None:
    """Otherwise a long queue alone would be a fault of the server."""
    server = Server(takes=8.0)
    one = endpoint(limit=1, timeout=10.0)

    async def main() -> list[Any]:
        return await asyncio.gather(*(one.call(server) for _ in range(5)))

    assert run(main()) == ["fine"] * 5


def test_a_call_without_end_is_ended_by_the_deadline() -> None:
    server = Server(takes=1e9)
    with pytest.raises(ChatError, match=r"^no result within 60 s, all tries included$") as caught:
        calling(server, endpoint(timeout=60.0))
    assert caught.value.kind == "timeout"
    assert not caught.value.retryable
    assert server.in_flight == 0


def test_the_deadline_is_one_for_all_tries_and_tells_what_went_before() -> None:
    server = Server(FAILED, FAILED, takes=25.0)
    with pytest.raises(ChatError, match=r"within 60 s.*; the try before: out of order") as caught:
        calling(server, endpoint(timeout=60.0))
    assert len(server.called) == 3
    assert isinstance(caught.value.__cause__, ChatError)


def test_nobody_waits_for_a_try_that_comes_too_late() -> None:
    server = Server(*[FAILED] * 9, takes=20.0)
    with pytest.raises(ChatError, match="out of order"):
        calling(server, endpoint(timeout=62.0))
    assert len(server.called) == 3, "a fourth would have had to wait until after the deadline"


def test_the_servers_own_time_is_waited_for_up_to_the_patience_whatever_the_deadline() -> None:
    server = Server(*[limited(3000.0)] * 6, "well")
    one = Endpoint(limit=1, tries=1, timeout=60.0, patience=20_000.0)
    assert calling(server, one) == "well"
    assert len(server.called) == 7, "and no such wait counts as a try"


def test_a_time_beyond_the_patience_is_not_waited_for() -> None:
    server = Server(limited(3601.0))
    one = endpoint(timeout=60.0)

    async def main() -> tuple[float, float]:
        with pytest.raises(ChatError, match="slow down"):
            await one.call(server)
        first = now()
        with pytest.raises(ChatError, match="asked to wait for another 3601 s") as caught:
            await one.call(server)
        assert (caught.value.kind, caught.value.retryable) == ("rate_limited", False)
        return first, now()

    assert run(main()) == (0.0, 0.0)
    assert len(server.called) == 1


def test_a_long_wait_is_told_once_whoever_else_is_told_to_wait() -> None:
    server = Server(*[limited(90.0)] * 8, limited(5.0), limited(60.0), takes=1.0)
    told: list[tuple[float, float]] = []
    one = Endpoint(
        limit=8, tries=4, timeout=1000.0, told=lambda seconds: told.append((now(), seconds))
    )

    async def main() -> None:
        await asyncio.gather(*(one.call(server) for _ in range(8)))
        await one.call(server)

    run(main())
    assert [seconds for _, seconds in told] == [90.0, 60.0]
    assert told[0][0] == 1.0


def test_a_wait_that_is_prolonged_is_told_again() -> None:
    server = Server(limited(20.0), limited(25.0), limited(300.0), takes=5.0)
    told: list[float] = []
    one = Endpoint(limit=3, tries=4, timeout=1000.0, told=told.append)

    async def later(seconds: float) -> None:
        await asyncio.sleep(seconds)
        await one.call(server)

    async def main() -> None:
        await asyncio.gather(later(0.0), later(1.0), later(2.0))

    run(main())
    assert told == [20.0, 300.0]


def test_a_rate_limit_halves_the_places_once_and_they_grow_back() -> None:
    server = Server(*[limited(1.0)] * 8, takes=1.0)
    one = endpoint(limit=8)
    opened: list[int] = []

    async def call() -> None:
        await one.call(server)
        opened.append(one.place.open)

    async def main() -> None:
        await asyncio.gather(*(call() for _ in range(80)))

    run(main())
    assert opened[0] == 4, "eight calls were pushed back together"
    assert opened[-1] == 8
    assert opened == sorted(opened)
    assert server.peak == 8


def test_no_minute_holds_more_calls_than_the_pace() -> None:
    server = Server(takes=0.5)
    one = Endpoint(limit=50, tries=1, timeout=1.0, pace=Pace(calls=30))

    async def main() -> None:
        await asyncio.gather(*(one.call(server) for _ in range(100)))

    run(main())
    times = server.called
    assert len(times) == 100, "who is held back by the pace alone misses no deadline"
    assert max(sum(t <= u < t + 60 for u in times) for t in times) == 30
    assert max(times) < 182, "a minute by the server's clock has a margin"


def test_no_minute_holds_more_tokens_than_the_pace() -> None:
    server = Server(*[1000] * 30, takes=1.0)
    one = Endpoint(
        limit=50, tries=1, timeout=5.0, pace=Pace(tokens=10_000), tokens_of=lambda tokens: tokens
    )

    async def main() -> None:
        await asyncio.gather(*(one.call(server) for _ in range(30)))

    run(main())
    times = server.called
    assert max(sum(t <= u < t + 59 for u in times) for t in times) <= 10
    assert max(times) < 241, "and does not send far fewer either"


def test_a_timeout_of_the_callers_own_is_not_taken_for_the_deadline() -> None:
    server = Server(TimeoutError("mine"))
    with pytest.raises(TimeoutError, match="mine"):
        calling(server, endpoint())


def test_a_cancelled_call_frees_its_place() -> None:
    server = Server(FAILED, takes=5.0)
    one = endpoint(limit=1)

    async def main() -> Any:
        waiting = asyncio.ensure_future(one.call(server))
        await asyncio.sleep(5.2)
        waiting.cancel()
        return await one.call(server)

    assert run(main()) == "fine"
    assert endpoint_module._FIRST_PAUSE_S > 0.4, "it was cancelled in the pause"
