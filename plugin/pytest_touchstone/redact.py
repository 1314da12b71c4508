"""Secrets out of text that is going to be written down."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_NAME_OF_A_SECRET = re.compile(r"key|token|secret|passw", re.IGNORECASE)
_TOO_SHORT = 8
MASK = "[secret]"


def redactor(environ: Mapping[str, str], secrets: list[str]) -> Callable[[str], str]:
    """A function that masks ``secrets`` and the environment's secret values in a text.

    An environment variable counts as secret when its name says so; values under eight
    characters are left alone, since they would mask ordinary words.
    """
    values = [value for name, value in environ.items() if _NAME_OF_A_SECRET.search(name)]
    known = sorted(
        {value for value in (*values, *secrets) if len(value) >= _TOO_SHORT}, key=len, reverse=True
    )
    if not known:
        return lambda text: text
    pattern = re.compile("|".join(re.escape(value) for value in known))
    return lambda text: pattern.sub(MASK, text)
