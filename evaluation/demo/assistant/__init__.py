"""A small assistant over documents, the system under test of the demonstrations.

`agent` is the order of its steps, `rules` carries them out offline, `model` through an
OpenAI-compatible model.  Each step can be left out, which gives the ladder of variants.
"""

from evaluation.demo.assistant.agent import Assistant

__all__ = ["Assistant"]
