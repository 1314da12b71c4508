"""The text of the live line: how far the calls to each endpoint are, their cost, the time left."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from pytest_touchstone.flight.counts import Counts
from pytest_touchstone.report.display import display_width, printable

_GAP = "  "
_LONGEST_NAME = 24
_WINDOW_S = 120.0
_FEW = 3  # calls; what took longer than the window to come to so many is timed from the start
_SETTLED_S = 2.0


class Together:
    """What the processes of a run have done together, by endpoint.

    Each expects what nobody has done as far as it knows, what others are about to do included: the
    best informed one is believed, but never more than there was to do at first.
    """

    def __init__(self) -> None:
        self._at_first: dict[tuple[str, str], int] = {}

    def counts(self, processes: Iterable[Sequence[Counts]]) -> list[Counts]:
        """The sum of what the processes tell at present."""
        found: dict[tuple[str, str], Counts] = {}
        for counts in (each for process in processes for each in process):
            endpoint = (counts.kind, counts.name)
            known = found.setdefault(endpoint, Counts(*endpoint, expected=counts.expected))
            known.expected = min(known.expected, counts.expected)
            known.asked += counts.asked
            known.in_flight += counts.in_flight
            known.done += counts.done
            known.usd += counts.usd
            self._at_first[endpoint] = max(self._at_first.get(endpoint, 0), counts.planned)
        for endpoint, known in found.items():
            rest = max(0, self._at_first[endpoint] - known.asked)
            known.expected = min(known.expected, rest)
        return list(found.values())


class Pace:
    """How fast calls came to an end in the last two minutes, and how long the rest may take."""

    def __init__(self) -> None:
        self._first: tuple[float, Mapping[str, int]] | None = None
        self._seen: deque[tuple[float, Mapping[str, int]]] = deque()

    def left(self, counts: Sequence[Counts], moment: float) -> float | None:
        """Seconds until everything is done; ``None`` while nobody can tell.

        Endpoints work side by side, so that the slowest one decides.

        :param moment: the present one, in seconds of any clock; never smaller than before.
        """
        done = {_name(each): each.done for each in counts}
        now = (moment, done)
        self._first = self._first or now
        self._seen.append(now)
        while moment - self._seen[0][0] > _WINDOW_S:
            self._seen.popleft()
        longest = 0.0
        for each in counts:
            if (rest := each.planned - each.done) > 0:
                rate = self._rate(_name(each), now)
                if rate is None:
                    return None
                longest = max(longest, rest / rate)
        return longest

    def _rate(self, name: str, now: tuple[float, Mapping[str, int]]) -> float | None:
        """Calls a second."""
        for earlier in (self._seen[0], self._first or now):
            gained = now[1][name] - earlier[1].get(name, 0)
            passed = now[0] - earlier[0]
            if gained >= _FEW and passed >= _SETTLED_S:
                return gained / passed
        return None


def live_text(counts: Sequence[Counts], left: float | None, width: int) -> str:
    """As much as goes into ``width`` columns; empty where there is nothing to tell.

    :param left: seconds until everything is done, where that is known.
    """
    shown = [each for each in counts if each.planned]
    if not shown:
        return ""
    unfinished = [each for each in shown if each.done < each.planned]
    about = [*_cost(shown), *_time(left)]
    forms = (
        [*(_long(each) for each in shown), *about],
        [*(_short(each) for each in shown), *about],
        [*(_short(each) for each in unfinished), *about],
    )
    for form in forms:
        text = _GAP.join(form)
        if display_width(text) <= width:
            break
    return printable(text, width)


def _name(counts: Counts) -> str:
    return counts.name or counts.kind


def _long(counts: Counts) -> str:
    flying = f" ({counts.in_flight} in flight)" if counts.in_flight else ""
    return _done(counts) + flying


def _short(counts: Counts) -> str:
    return _done(counts) + (f" (+{counts.in_flight})" if counts.in_flight else "")


def _done(counts: Counts) -> str:
    return f"{printable(_name(counts), _LONGEST_NAME)} {counts.done}/{counts.planned}"


def _cost(counts: Sequence[Counts]) -> list[str]:
    usd = sum(each.usd for each in counts)
    if not usd:
        return []
    return [f"{usd:.2f} USD" if usd >= 0.1 else f"{usd:.4f} USD"]


def _time(left: float | None) -> list[str]:
    """Rounded up, for nobody minds to be done early."""
    if not left:
        return []
    if left <= 55:
        return [f"{-(-left // 5) * 5:.0f} s left"]
    minutes = int(-(-left // 60))
    hours, rest = divmod(minutes, 60)
    return [f"{hours} h {rest} min left" if hours else f"{minutes} min left"]
