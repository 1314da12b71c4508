"""deepeval as a second opinion: its faithfulness and G-Eval, asked through the judge's own client.

deepeval is imported when it is asked for and not before; its telemetry, its ``.env`` loading and
its files are switched off while it is, and its metrics are run so that nothing of it counts or
sends anything.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from typing import Any

from pytest_touchstone.gold import Case
from pytest_touchstone.judge.llm import CUT_OFF, ChatRequest, not_answered
from pytest_touchstone.judge.reading import Unreadable, parse_reply
from pytest_touchstone.judge.second_opinion import (
    CRITERIA,
    ENGINE_ERROR,
    Criterion,
    Result,
    SecondOpinionError,
    criterion,
    share_agreed,
    strict,
    within_range,
)
from pytest_touchstone.llm.chat import ChatError, Completion
from pytest_touchstone.llm.prompts import Prompt
from pytest_touchstone.measures import Faithfulness, Formality, KeyPointCoverage, parse
from pytest_touchstone.measures.base import one_line
from pytest_touchstone.score import NOT_APPLICABLE
from pytest_touchstone.storable import storable
from pytest_touchstone.trace import Answer, Message
from pytest_touchstone.verdicts import NoVerdict, Opinion

Ask = Callable[[ChatRequest], Awaitable[Completion]]

_FAITHFULNESS_PARAMS = {"temperature": 0, "seed": 1, "max_tokens": 6000}
_LONGEST_WHY = 1000
# What G-Eval is shown beside the answer, in deepeval's terms.
_BESIDE = {KeyPointCoverage.name: "EXPECTED_OUTPUT", Formality.name: "INPUT"}
_QUIET = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "DEEPEVAL_DISABLE_LEGACY_KEYFILE": "1",
    "DEEPEVAL_FILE_SYSTEM": "READ_ONLY",
    "DEEPEVAL_UPDATE_WARNING_OPT_IN": "0",
}


class _NoReply(Exception):  # noqa: N818 - tells deepeval to give up; the reason is kept elsewhere
    """The model gave no reply of the form asked for."""


@dataclass(slots=True)
class _Line:
    """Carries the prompts of one metric to the judge's model.

    :ivar failure: why a reply was of no use, which deepeval need not understand.
    :ivar under_way: every call; deepeval drops those beside one that fails.
    """

    ask: Ask
    params: Mapping[str, Any]
    failure: NoVerdict | None = None
    under_way: list[asyncio.Task[Any]] = field(default_factory=list)

    async def reply(self, prompt: str, schema: Any) -> Any:
        """The reply as an instance of deepeval's own schema, a pydantic model."""
        task = asyncio.ensure_future(self._reply(prompt, schema))
        self.under_way.append(task)
        return await task

    async def _reply(self, prompt: str, schema: Any) -> Any:
        form = strict(schema.model_json_schema())
        request = ChatRequest((Message("user", storable(prompt)),), self.params, form)
        try:
            completion = await self.ask(request)
            if completion.finish_reason == "length":
                raise self._failed(CUT_OFF)
            return schema.model_validate_json(json.dumps(parse_reply(completion.text)), strict=True)
        except ChatError as error:
            raise self._failed(not_answered(error)) from None
        except (Unreadable, ValueError) as error:  # pydantic's ValidationError is a ValueError
            raise self._failed(NoVerdict("judge_unreadable", str(error))) from None

    def _failed(self, failure: NoVerdict) -> _NoReply:
        self.failure = self.failure or failure
        return _NoReply(failure.why)

    async def home(self) -> None:
        """Wait for the calls that nobody waits for any more: each is paid for and kept."""
        await asyncio.gather(*self.under_way, return_exceptions=True)


class DeepEval:
    """deepeval's metrics on the answers of ours; :func:`open_deepeval` makes one.

    :param criteria: by name of the measure, what G-Eval looks at, with the parameters of its call.
    """

    def __init__(
        self, ask: Ask, model: str, criteria: Mapping[str, tuple[Criterion, Mapping[str, Any]]]
    ) -> None:
        with _imported():
            import_module("deepeval")
            self._metrics = import_module("deepeval.metrics")
            self._cases = import_module("deepeval.test_case")
            self._rubric = import_module("deepeval.metrics.g_eval").Rubric
            self._runs = import_module("deepeval.telemetry.context")
            base = import_module("deepeval.models").DeepEvalBaseLLM
            self._client = _client_class(base, model)
        self._engine = f"deepeval {version('deepeval')}"
        self._ask = ask
        self._criteria = criteria

    async def opinions(
        self, measures: Sequence[str], case: Case, answer: Answer
    ) -> Mapping[str, Opinion]:
        """See :class:`~pytest_touchstone.judge.second_opinion.SecondOpinion`."""
        found = await asyncio.gather(*(self._opinion(name, case, answer) for name in measures))
        return dict(zip(measures, found, strict=True))

    async def _opinion(self, measure: str, case: Case, answer: Answer) -> Opinion:
        if measure == Faithfulness.name:
            result = await self._faithfulness(case, answer)
        else:
            result = await self._g_eval(measure, case, answer)
        if isinstance(result, NoVerdict):
            return Opinion(self._engine, None, _told(result.why), result.reason)
        share, why = result
        low, high = parse(measure).range
        return Opinion(self._engine, low + share * ((high or 1.0) - low), _told(why))

    async def _faithfulness(self, case: Case, answer: Answer) -> Result:
        passages = [passage.text for passage in answer.passages]
        if not passages:
            return NoVerdict(NOT_APPLICABLE, "the system had no passages")
        line = _Line(self._ask, _FAITHFULNESS_PARAMS)

        async def measured() -> Result:
            metric = self._metrics.FaithfulnessMetric(
                model=self._client(line),
                include_reason=False,  # a call that explains the score it is given
                penalize_ambiguous_claims=True,  # as ours: what was not found is not supported
                eval_mode="llm",
            )
            given = self._cases.LLMTestCase(
                input=case.question, actual_output=answer.text, retrieval_context=passages
            )
            await metric.a_measure(given, _show_indicator=False)
            verdicts = [(str(one.verdict), one.reason) for one in metric.verdicts]
            return share_agreed(metric.claims, verdicts)

        return await self._guarded(line, measured)

    async def _g_eval(self, measure: str, case: Case, answer: Answer) -> Result:
        what, params = self._criteria[measure]
        line = _Line(self._ask, params)
        parts = self._cases.SingleTurnParams

        async def measured() -> Result:
            metric = self._metrics.GEval(
                name=measure,
                evaluation_params=[parts[_BESIDE[measure]], parts.ACTUAL_OUTPUT],
                evaluation_steps=list(what.steps),
                rubric=[
                    self._rubric(score_range=(score, score), expected_outcome=text)
                    for score, text in what.outcomes.items()
                ],
                model=self._client(line),
            )
            given = self._cases.LLMTestCase(
                input=case.question,
                actual_output=answer.text,
                expected_output="\n".join(f"- {one_line(point)}" for point in case.key_points),
            )
            await metric.a_measure(given, _show_indicator=False)
            return within_range(float(metric.score), metric.reason)

        return await self._guarded(line, measured)

    async def _guarded(self, line: _Line, measured: Callable[[], Awaitable[Result]]) -> Result:
        """The result, with deepeval's own count of what was measured thrown away.

        Outside a run of its own deepeval would count in the process, start a timer, and send the
        count at the end.
        """
        _, token = self._runs.push_run(self._runs.Entrypoint.STANDALONE, "")
        try:
            result = await measured()
            return line.failure or result
        except Exception as error:  # noqa: BLE001 - whatever deepeval raises is no opinion
            await line.home()
            said = f"deepeval raised {type(error).__name__}: {error}"
            return line.failure or NoVerdict(ENGINE_ERROR, said)
        finally:
            self._runs.pop_run(token)


def open_deepeval(ask: Ask, model: str, prompts: Mapping[str, Prompt]) -> DeepEval:
    """deepeval, imported and ready.

    :param ask: one call to the judge's model, with limits, retries and the cache behind it.
    :param model: the model's name.
    :param prompts: by name, those of :data:`~pytest_touchstone.judge.second_opinion.CRITERIA`.
    :raises PromptError: where such a prompt cannot be used.
    :raises SecondOpinionError: where deepeval is not installed or does not start.
    """
    criteria = {
        measure: (criterion(prompts[name]), prompts[name].params)
        for measure, name in CRITERIA.items()
    }
    try:
        return DeepEval(ask, model, criteria)
    except ModuleNotFoundError as error:
        if error.name != "deepeval":
            raise SecondOpinionError(f"deepeval does not start: {error}") from None
        raise SecondOpinionError(
            "judge.second_opinion: deepeval is not installed:"
            " pip install 'pytest-touchstone[deepeval]'"
        ) from None
    except Exception as error:  # noqa: BLE001 - whatever its import raises
        said = _told(f"{type(error).__name__}: {error}")
        raise SecondOpinionError(f"judge.second_opinion: deepeval does not start: {said}") from None


@contextlib.contextmanager
def _imported() -> Iterator[None]:
    """Import deepeval without its noise; afterwards the environment is what it was.

    It reads its switches, loads `.env` files and greets on standard output when it is imported.
    """
    before = dict(os.environ)
    os.environ.update(_QUIET)
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for name in os.environ.keys() | before.keys():
            if name not in before:
                del os.environ[name]
            elif os.environ.get(name) != before[name]:
                os.environ[name] = before[name]


def _client_class(base: Any, model: str) -> Any:
    class Client(base):  # type: ignore[misc]
        """deepeval's form of a model; it keeps no state but the line to ours."""

        def __init__(self, line: _Line) -> None:
            self._line = line
            super().__init__(model)

        def load_model(self) -> Any:
            return self

        def get_model_name(self) -> str:
            return model

        def generate(self, *_: Any, **__: Any) -> Any:
            raise _NoReply("this model is asked on a loop, never by a thread")

        async def a_generate(self, prompt: str, schema: Any = None) -> Any:
            return await self._line.reply(prompt, schema)

    return Client


def _told(text: str) -> str:
    line = one_line(storable(text))
    return line if len(line) <= _LONGEST_WHY else f"{line[: _LONGEST_WHY - 1]}…"
