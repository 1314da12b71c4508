"""deepeval's ``evaluate``: four ``GEval`` metrics, one call each; no system is asked."""

from __future__ import annotations

import sys

from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import GEval
from deepeval.models import LocalModel
from deepeval.test_case import LLMTestCase, SingleTurnParams

url, cases, in_flight = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
model = LocalModel(model="stub", base_url=f"{url}/v1", api_key="none")
rubrics = ("It is faithful.", "It is formal.", "It is cautious.", "It cites its sources.")
params = [SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT]
result = evaluate(
    [LLMTestCase(input=f"Question {n}?", actual_output=f"Bridge {n}.") for n in range(cases)],
    [
        GEval(name=text, evaluation_steps=[text], evaluation_params=params, model=model)
        for text in rubrics
    ],
    async_config=AsyncConfig(max_concurrent=in_flight // len(rubrics)),
    display_config=DisplayConfig(show_indicator=False, print_results=False),
    cache_config=CacheConfig(write_cache=False, use_cache=False),
)
if len(result.test_results) < cases:
    sys.exit("not every case was judged")
