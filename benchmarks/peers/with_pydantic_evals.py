"""pydantic-evals: a task, and four ``LLMJudge`` evaluators, side by side for each case."""

from __future__ import annotations

import sys

import aiohttp
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import LLMJudge

url, cases, in_flight = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
SESSION: list[aiohttp.ClientSession] = []


async def task(question: str) -> str:
    """The system."""
    if not SESSION:
        SESSION.append(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
    async with SESSION[0].post(f"{url}/ask", json={"messages": [question]}) as response:
        return str((await response.json())["text"])


model = OpenAIChatModel("stub", provider=OpenAIProvider(base_url=f"{url}/v1", api_key="none"))
rubrics = ("It is faithful.", "It is formal.", "It is cautious.", "It cites its sources.")
dataset = Dataset(
    name="bridges",
    cases=[Case(name=f"q{n}", inputs=f"Question {n}?") for n in range(cases)],
    evaluators=[LLMJudge(rubric=rubric, model=model, include_input=True) for rubric in rubrics],
)
report = dataset.evaluate_sync(task, max_concurrency=in_flight // len(rubrics), progress=False)
if sum(len(case.assertions) for case in report.cases) < cases:
    sys.exit("not every case was judged")
