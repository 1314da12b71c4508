"""What was probably meant: the part of an error message that saves the reader a search."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

_ENOUGH = 100  # characters; no known name is longer, and the comparison is quadratic


def nearest(name: str, known: Sequence[str]) -> str | None:
    """The known name most like ``name``, upper and lower case aside; ``None`` if none is like."""
    return next(iter(nearest_few(name, known, 1)), None)


def nearest_few(name: str, known: Sequence[str], most: int) -> list[str]:
    """At most so many known names like ``name``, upper and lower case aside, the nearest first."""
    folded = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(name[:_ENOUGH].casefold(), folded, n=most)
    return [folded[each] for each in close]


def hint(name: str, known: Sequence[str]) -> str:
    """``did you mean `x`?``, or all known names where none is near."""
    close = nearest(name, known)
    return f"did you mean `{close}`?" if close else f"known: {', '.join(known)}"
