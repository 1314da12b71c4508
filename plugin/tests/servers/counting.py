"""A system at ``/ask`` and a judge at ``/v1/chat/completions`` that remember each call's time."""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .loopback import LoopbackServer, Reply
from .openai import completion

_NUMBER = re.compile(r"(?:Question|Bridge) (\d+)")
_WHY = "It says so."


@dataclass(slots=True)
class Call:
    """One call.

    :ivar what: the same for equal calls.
    :ivar came: seconds of the monotonic clock; likewise when its reply ``left``.
    """

    what: str
    came: float
    left: float | None = None

    @property
    def asks_system(self) -> bool:
        """Whether the system was asked, and not the judge."""
        return self.what.startswith("/ask")


class CountingServer(LoopbackServer):
    """Every reply takes the same time, and is the same for equal calls.

    :param latency: seconds.
    """

    def __init__(self, latency: float) -> None:
        super().__init__()
        self._latency = latency
        self._lock = threading.Lock()
        self._calls: list[Call] = []

    @property
    def calls(self) -> list[Call]:
        """The calls that came so far, in their order."""
        with self._lock:
            return list(self._calls)

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Reply:
        """See :class:`LoopbackServer`."""
        call = Call(f"{path} {hashlib.sha256(body).hexdigest()}", time.monotonic())
        with self._lock:
            self._calls.append(call)
        time.sleep(self._latency)
        asked = json.loads(body)
        if call.asks_system:
            reply = Reply(body=json.dumps(answer(asked["question"])).encode())
        else:
            reply = completion(json.dumps(verdict(asked)))
        call.left = time.monotonic()
        return reply


def repeated(calls: list[Call]) -> int:
    """How many calls were made that had been made before."""
    return len(calls) - len(Counter(call.what for call in calls))


def answer(question: str) -> dict[str, Any]:
    """An answer that no other question gets, with a passage for each of its two paragraphs."""
    number = _number(question)
    return {
        "text": f"Bridge {number} is red [1].\n\nIt cost {number} million [2].",
        "passages": [
            {"id": f"c{number}", "text": f"Bridge {number} is red."},
            {"id": "x", "text": f"Bridge {number} cost {number} million."},
        ],
    }


def verdict(request: Mapping[str, Any]) -> dict[str, Any]:
    """A well-formed verdict of the form asked for, which depends on the case."""
    asked = request["response_format"]["json_schema"]["schema"]["properties"]
    number = _number(request["messages"][0]["content"])
    if "claims" in asked:
        return {"claims": [{"sentence": 1, "claim": f"Bridge {number} is red."}]}
    if "formality" in asked:
        score = {"rationale": _WHY, "score": 1 + number % 5}
        return {"formality": score, "caution": score}
    good = bool(number % 3)
    if "paragraphs" in asked:
        label = "supported" if good else "unsupported"
        return {
            "paragraphs": [
                {
                    "paragraph": n,
                    "sources": [{"source": n, "label": label}],
                    "rationale": _WHY,
                    "label": label,
                }
                for n in (1, 2)
            ]
        }
    one = {
        "claim": 1,
        "passage": 1 if good else None,
        "quotation": f"Bridge {number} is red." if good else None,
        "rationale": _WHY,
        "label": "supported" if good else "not_found",
    }
    return {"verdicts": [one]}


def _number(text: str) -> int:
    found = _NUMBER.search(text)
    return int(found[1]) if found else 0
