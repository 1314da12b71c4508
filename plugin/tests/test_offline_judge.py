"""The judge as a whole: each task gets its kind of verdict, off the loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from offline_embedding import HashedWords

from pytest_touchstone.corpus.embedder import EmbedderError
from pytest_touchstone.flight.threads import DaemonThreads
from pytest_touchstone.gold import Case
from pytest_touchstone.judge.offline.embedding import Embed
from pytest_touchstone.judge.offline.judge import OfflineJudge
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
from pytest_touchstone.measures.faithfulness import Contradictions, Faithfulness
from pytest_touchstone.paragraphs import paragraphs
from pytest_touchstone.trace import Answer, Observation, Passage, Turn
from pytest_touchstone.verdicts import (
    BehaviourVerdict,
    Claims,
    ClaimVerdict,
    Coherence,
    Conversation,
    Coverage,
    ParagraphSupport,
    Relevance,
    Tone,
)

OPEN = ClaimVerdictsTask(
    ("Roads were repaired slowly because engineers were scarce.",),
    ("The roads of the region were repaired by workers after engineers had left.",),
)
"""A claim of which words leave it open whether it is supported."""
TEXT = "Gulu District spent UGX 1.2 billion on roads in FY 2021/22."


def judged(task: Task[Any], embed: Embed | None = None) -> Judged[Any]:
    threads = DaemonThreads("test")
    judge = OfflineJudge(embed or HashedWords(), threads.run, lambda line: 0.0)
    try:
        return asyncio.run(judge.judge(task))
    finally:
        threads.close()


@pytest.mark.parametrize(
    ("task", "kind"),
    [
        (ClaimsTask("What was spent?", TEXT), tuple),
        (ClaimVerdictsTask((TEXT,), (TEXT,)), Claims),
        (SupportTask(paragraphs(f"{TEXT} [1]"), (TEXT,)), ParagraphSupport),
        (CoherenceTask(TEXT), Coherence),
        (CoverageTask((TEXT,), TEXT), Coverage),
        (RelevanceTask("What did Gulu spend?", (TEXT,)), Relevance),
        (ToneTask("What was spent?", TEXT), Tone),
        (BehaviourTask("What was spent?", {"district": "Gulu"}, TEXT), BehaviourVerdict),
        (ConversationTask((("What was spent?", TEXT),), TEXT), Conversation),
    ],
)
def test_each_task_gets_its_verdict(task: Task[Any], kind: type[Any]) -> None:
    found = judged(task)
    assert isinstance(found.verdict, kind)
    assert found.failure is None
    assert found.calls == ()


def test_what_is_settled_is_not_judged() -> None:
    assert judged(ClaimVerdictsTask((), (TEXT,))).verdict == Claims(())
    assert judged(ClaimsTask("?", "")).verdict == ()


def test_the_work_is_done_off_the_loop() -> None:
    seen: list[threading.Thread] = []

    class Watched(HashedWords):
        def __call__(self, texts: Sequence[str]) -> Any:
            seen.append(threading.current_thread())
            return super().__call__(texts)

    judged(OPEN, Watched())
    assert seen
    assert all(thread is not threading.main_thread() for thread in seen)


def test_an_embedder_that_fails_gives_no_verdict() -> None:
    def failing(texts: Sequence[str]) -> Any:
        raise EmbedderError("embedder: gone")

    found = judged(OPEN, failing)
    assert found.verdict is None
    assert found.failure is not None
    assert (found.failure.reason, found.failure.why) == ("judge_unreachable", "embedder: gone")


def test_a_task_of_another_kind_is_a_mistake() -> None:
    judge = OfflineJudge(HashedWords(), DaemonThreads("test").run, lambda line: 0.0)
    with pytest.raises(TypeError, match="knows no str"):
        judge.verdict("a task")  # type: ignore[arg-type]


def test_faithfulness_is_the_support_of_a_judge_that_grades() -> None:
    verdicts = (
        ClaimVerdict("a", "supported", "yes"),
        ClaimVerdict("b", "contradicted", "no"),
    )
    case = Case(id="a", type="factual", question="?", answer="!")

    def measured(claims: Claims) -> tuple[float | None, float | None]:
        turn = Turn(0, "?", Answer("a b", (Passage("p", "text"),)))
        seen = Observation("a", "s", (turn,), verdicts={"claims": claims})
        return Faithfulness.score(case, seen).value, Contradictions.score(case, seen).value

    assert measured(Claims(verdicts)) == (0.5, 0.5)
    assert measured(Claims(verdicts, 0.31)) == (0.31, 0.5)
