"""The offline judge: every task answered by rules, off the event loop.

It needs no key and no network, gives the same verdict for the same text everywhere, and a reason in
one readable line with each.  It is a substitute that is named where it is used, never a fallback.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from pytest_touchstone.corpus.embedder import EmbedderError
from pytest_touchstone.judge.offline.citing import support
from pytest_touchstone.judge.offline.claims import claims
from pytest_touchstone.judge.offline.conduct import behaviour
from pytest_touchstone.judge.offline.embedding import Embed
from pytest_touchstone.judge.offline.form import coherence
from pytest_touchstone.judge.offline.points import coverage
from pytest_touchstone.judge.offline.register import tone
from pytest_touchstone.judge.offline.relevance import relevance
from pytest_touchstone.judge.offline.support import judge_claims
from pytest_touchstone.judge.offline.talk import conversation
from pytest_touchstone.judge.protocol import Judged
from pytest_touchstone.judge.tasks import (
    BehaviourTask,
    ClaimsTask,
    ClaimVerdictsTask,
    CoherenceTask,
    ConversationTask,
    CoverageTask,
    RelevanceTask,
    SupportTask,
    Task,
    ToneTask,
)
from pytest_touchstone.verdicts import NoVerdict

V = TypeVar("V")

RunInThread = Callable[..., Awaitable[Any]]
"""Runs a function with its arguments off the event loop, as ``DaemonThreads.run`` does."""


class OfflineJudge:
    """Judges by rules.

    :param embed: texts to unit vectors; called in threads.
    :param run_in_thread: keeps the work off the loop.
    :param repeated: share of the collection's chunks that hold a line, from 0 to 1.
    """

    def __init__(
        self, embed: Embed, run_in_thread: RunInThread, repeated: Callable[[str], float]
    ) -> None:
        self._embed = embed
        self._run = run_in_thread
        self._repeated = repeated

    async def judge(self, task: Task[V]) -> Judged[V]:
        """See :class:`~pytest_touchstone.judge.protocol.Judge`.

        Where the embedder fails there is no verdict, ``judge_unreachable``.
        """
        if task.settled is not None:
            return Judged(task.settled)
        try:
            return Judged(cast(V, await self._run(self.verdict, task)))
        except EmbedderError as error:
            return Judged(None, NoVerdict("judge_unreachable", str(error)))

    def verdict(self, task: Task[Any]) -> Any:
        """The verdict on a task, on the calling thread.

        :raises EmbedderError: where texts cannot be embedded.
        :raises TypeError: for a task of another kind.
        """
        match task:
            case ClaimsTask():
                return claims(task.answer)
            case ClaimVerdictsTask():
                return judge_claims(task.claims, task.passages, self._embed, task.about)
            case SupportTask():
                return support(task.paragraphs, task.passages, self._embed, task.about)
            case CoherenceTask():
                return coherence(task.text, self._repeated)
            case CoverageTask():
                return coverage(task.key_points, task.sentences, self._embed)
            case RelevanceTask():
                return relevance(task.question, task.passages, self._embed, task.before)
            case ToneTask():
                return tone(task.question, task.answer)
            case BehaviourTask():
                return behaviour(task.question, task.filters, task.answer)
            case ConversationTask():
                return conversation(task.turns, task.gold, self._embed)
            case _:
                raise TypeError(f"the offline judge knows no {type(task).__name__}")
