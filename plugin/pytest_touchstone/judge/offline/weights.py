"""The fitted weights of faithfulness, and where they come from.

``near`` is fitted on people's ratings of the answers of two LLMs on two collections of mtRAG's
human evaluation (``evaluation/judge_fitting/fit_faithfulness.py``; its output, with each
collection tested on the weights of the other, stands beside it).  The ratings order answers;
where the floor lies, they do not say.  ``intercept`` is therefore set so that the floor falls at
an overlap of 0.58, under which fewer than one in twenty of the rewordings of
``statements_dev.txt`` lie; so are ``likeness`` and the range in which words leave it open.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """Strength = logistic(intercept + near * overlap); overlap from 0 to 1.

    :param likeness: what full likeness of embeddings adds to the overlap.
    :param open_from: overlap from which on, below ``open_to``, words leave the verdict open.
    """

    intercept: float
    near: float
    likeness: float
    open_from: float
    open_to: float


WEIGHTS = Weights(intercept=-3.1, near=6.4, likeness=0.3, open_from=0.35, open_to=0.65)
