"""From an observation to what a judge says of it: which questions are put, and put together."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from pytest_touchstone.citing import cited_paragraphs
from pytest_touchstone.flight.counts import Counts
from pytest_touchstone.flight.observe import Work
from pytest_touchstone.flight.places import leading
from pytest_touchstone.gold import Case
from pytest_touchstone.judge import second_opinion
from pytest_touchstone.judge.protocol import Judge
from pytest_touchstone.judge.second_opinion import SecondOpinion
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
from pytest_touchstone.measures.base import JUDGEMENTS, LIVE, Judgement
from pytest_touchstone.measures.paragraphs import COHERENCE_DEPTH, RELEVANCE_DEPTH
from pytest_touchstone.measures.summarisation import points_asked
from pytest_touchstone.score import SECOND_OPINION, Score
from pytest_touchstone.trace import Answer, Observation
from pytest_touchstone.verdicts import NoVerdict, Opinion

V = TypeVar("V")

CALLS: Mapping[Judgement, int] = {
    "claims": 2,
    "relevance": 1,
    "coherence": COHERENCE_DEPTH,
    "coverage": 1,
    "tone": 1,
    "support": 1,
    "behaviour": 1,
    "conversation": 1,
}
"""Calls for one judgement where nothing is asked again and nothing is known yet."""


def judgements(work: Work) -> frozenset[Judgement]:
    """What the work's measures need, or would use, of a judge.

    Where claims are judged, so are the paragraphs that cite: one reader's work.
    """
    if not work.judged:
        return frozenset()
    named = {need for m in work.measures for need in m.needs | m.wants if need in JUDGEMENTS}
    if "claims" in named:
        named.add("support")
    return frozenset(named)


def second_opinions(work: Work, system: str) -> tuple[str, ...]:
    """The work's measures that another engine scores too: those of the system under test alone.

    :param system: the system under test.
    """
    if not work.judged or work.system != system or work.mode == LIVE:
        return ()
    return tuple(m.name for m in work.measures if m.name in second_opinion.CALLS)


def expected_calls(work: Work, system: str, *, second: bool) -> int:
    """Calls for all that the work's measures need where nothing is asked again.

    :param system: the system under test.
    :param second: whether another engine scores its answers too.
    """
    calls = sum(CALLS[name] for name in judgements(work))
    beside = second_opinions(work, system) if second else ()
    return calls + sum(second_opinion.CALLS[name] for name in beside)


@dataclass(frozen=True, slots=True)
class Judging:
    """Puts an observation's questions to a judge, all at once.

    :param engine: the judge's name, which stands beside each of its scores.
    :param second: another engine, asked about the answers of the system under test.
    :param system: the system under test.
    :param counts: the judge's calls, where it is called at all.
    """

    judge: Judge
    engine: str
    second: SecondOpinion | None = None
    system: str = ""
    counts: Counts | None = None

    def calls(self, work: Work) -> int:
        """How many calls the work is expected to need."""
        if self.counts is None:
            return 0
        return expected_calls(work, self.system, second=self.second is not None)

    async def verdicts(self, work: Work, seen: Observation) -> dict[str, Any]:
        """A verdict, or why there is none, for each judgement; none of a system that failed."""
        if seen.last.error is not None or seen.last.answer is None:
            return {}
        answer = seen.last.answer
        wanted = [name for name in sorted(judgements(work)) if _arises(name, work.case, answer)]
        found = await asyncio.gather(*(self._one(n, work.case, seen, answer) for n in wanted))
        return dict(zip(wanted, found, strict=True))

    async def opinions(self, work: Work, seen: Observation) -> Mapping[str, Opinion]:
        """What the other engine says of the answer, by name of the measure."""
        measures = second_opinions(work, self.system)
        if self.second is None or not measures:
            return {}
        if seen.last.error is not None or seen.last.answer is None:
            return {}
        return await self.second.opinions(measures, work.case, seen.last.answer)

    async def _one(self, name: Judgement, case: Case, seen: Observation, answer: Answer) -> Any:
        passages = tuple(passage.text for passage in answer.passages)
        about = tuple(passage.metadata for passage in answer.passages)
        match name:
            case "claims":
                return await self._claims(case, answer, passages, about)
            case "coherence":
                tasks = (CoherenceTask(text) for text in passages[:COHERENCE_DEPTH])
                return tuple(await asyncio.gather(*(self._ask(task) for task in tasks)))
            case "relevance":
                few = slice(RELEVANCE_DEPTH)
                before = tuple(said.content for said in case.history if said.role == "user")
                return await self._ask(
                    RelevanceTask(case.question, passages[few], about[few], before)
                )
            case "coverage":
                return await self._ask(CoverageTask(points_asked(case), answer.text))
            case "tone":
                return await self._ask(ToneTask(case.question, answer.text))
            case "support":
                cited = cited_paragraphs(answer, seen.citation_pattern)
                return await self._ask(SupportTask(cited, passages, about))
            case "behaviour":
                return await self._ask(
                    BehaviourTask(case.question, case.filters or {}, answer.text)
                )
            case "conversation":
                turns = tuple((t.question, t.answer.text if t.answer else "") for t in seen.turns)
                return await self._ask(ConversationTask(turns, case.answer))

    async def _claims(
        self,
        case: Case,
        answer: Answer,
        passages: tuple[str, ...],
        about: tuple[Mapping[str, Any], ...],
    ) -> Any:
        with leading():
            claims = await self._ask(ClaimsTask(case.question, answer.text))
        if isinstance(claims, NoVerdict):
            return claims
        return await self._ask(ClaimVerdictsTask(claims, passages, about))

    async def _ask(self, task: Task[V]) -> V | NoVerdict:
        judged = await self.judge.judge(task)
        if judged.verdict is not None:
            return judged.verdict
        return judged.failure or NoVerdict("judge_unreadable", "the judge gave no verdict")


def with_opinion(score: Score, opinion: Opinion | None) -> Score:
    """The score with the other engine's opinion in its detail; its value stays what it is."""
    if opinion is None:
        return score
    return replace(score, detail={**score.detail, SECOND_OPINION: asdict(opinion)})


def _arises(name: Judgement, case: Case, answer: Answer) -> bool:
    """Whether the question arises at all for this case and answer."""
    if name == "behaviour":
        # Facts and declarations come first; the text is read where they are silent.
        return bool(case.behavior) and answer.behavior is None
    if name == "coverage":
        return bool(points_asked(case))
    return True
