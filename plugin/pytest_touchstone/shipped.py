"""Files that ship with the plugin: dimension modules, prompts, the demonstration.

There is one copy of each.  In a wheel they are package data under ``layout/``; in a checkout
(and so in an editable install) they are the repository's own ``tests/`` and ``evaluation/``.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def shipped(relative: str) -> Path:
    """The path of a shipped file or folder, such as ``evaluation/prompts/baseline_answer.md``.

    :raises FileNotFoundError: where the installation lacks it.
    """
    for root in (_PACKAGE / "layout", _PACKAGE.parents[1]):
        if (root / relative).exists():
            return root / relative
    raise FileNotFoundError(f"{relative} is missing from this installation of pytest-touchstone")
