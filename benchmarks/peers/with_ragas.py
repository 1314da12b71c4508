"""ragas: four ``AspectCritic`` metrics, one call each; answers are given, no system is asked."""

from __future__ import annotations

import sys

from langchain_openai import ChatOpenAI
from ragas import EvaluationDataset, RunConfig, SingleTurnSample, evaluate
from ragas.llms import LangchainLLMWrapper
from ragas.metrics import AspectCritic

url, cases, in_flight = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
llm = LangchainLLMWrapper(ChatOpenAI(model="stub", base_url=f"{url}/v1", api_key="none"))
rubrics = {
    "faithful": "It is faithful.",
    "formal": "It is formal.",
    "cautious": "It is cautious.",
    "citing": "It cites its sources.",
}
result = evaluate(
    EvaluationDataset(
        samples=[
            SingleTurnSample(user_input=f"Question {n}?", response=f"Bridge {n} is red [1].")
            for n in range(cases)
        ]
    ),
    metrics=[AspectCritic(name=n, definition=text, llm=llm) for n, text in rubrics.items()],
    llm=llm,
    run_config=RunConfig(max_workers=in_flight),
    show_progress=False,
)
if any(score != 1 for row in result.scores for score in row.values()):
    sys.exit("not every case was judged")
