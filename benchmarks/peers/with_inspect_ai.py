"""inspect-ai: ``generate`` as the system, and a scorer that asks the model four times at once."""

from __future__ import annotations

import asyncio
import sys

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import Score, Target, mean, scorer
from inspect_ai.solver import TaskState, generate

url, cases, in_flight = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
RUBRICS = ("It is faithful.", "It is formal.", "It is cautious.", "It cites its sources.")


@scorer(metrics=[mean()])
def judged():  # type: ignore[no-untyped-def]
    """Four calls."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        text = state.output.completion
        asked = (get_model().generate(f"{rubric} {text} {state.sample_id}") for rubric in RUBRICS)
        replies = await asyncio.gather(*asked)
        return Score(value=sum("verdict" in reply.completion for reply in replies))

    return score


task = Task(
    dataset=MemoryDataset([Sample(id=n + 1, input=f"Question {n}?") for n in range(cases)]),
    solver=generate(),
    scorer=judged(),
)
model = get_model(
    "openai-api/stub/stub",
    base_url=f"{url}/v1",
    api_key="none",
    config=GenerateConfig(max_connections=in_flight),
)
(log,) = evaluate(task, model=model, display="none", max_samples=2 * in_flight, log_dir=sys.argv[4])
if log.results is None or log.results.completed_samples < cases:
    sys.exit(f"not every case was judged: {log.status}")
