"""Secrets out of text that is going to be written down."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from urllib.parse import quote

MASK = "[secret]"
_NAME_OF_A_SECRET = re.compile(
    r"key|token|secret|passw|passphrase|_pwd|credential|auth(?!or(?!i))", re.IGNORECASE
)
_TOO_SHORT = 8
_USER_IN_URL = re.compile(r"(?<=://)[^/?#@\s]*@")
_LOOKS_LIKE_A_SECRET = re.compile(
    r"\b(?:sk|pk|rk)-[\w*.-]{6,}|(?i:\b(?:bearer|basic))\s+[\w.~+/=-]{8,}"
)


def redactor(environ: Mapping[str, str], secrets: Iterable[str]) -> Callable[[str], str]:
    """A function that takes secrets out of a text.

    It masks ``secrets``, the environment's secret values (also as they stand in a URL), user and
    password of any URL, and what looks like an API key or an ``Authorization`` header.  An
    environment variable counts as secret when its name says so; values under eight characters
    are left alone, since they would mask ordinary words.
    """
    values = (value for name, value in environ.items() if _NAME_OF_A_SECRET.search(name))
    known = {form for value in (*values, *secrets) for form in _forms(value)}
    # The longest first: one secret may be the beginning of another.
    exact = "|".join(re.escape(value) for value in sorted(known, key=len, reverse=True))
    patterns = [_USER_IN_URL, _LOOKS_LIKE_A_SECRET]
    if exact:
        patterns.insert(0, re.compile(exact))

    def redact(text: str) -> str:
        for pattern in patterns:
            text = pattern.sub(f"{MASK}@" if pattern is _USER_IN_URL else MASK, text)
        return text

    return redact


def _forms(secret: str) -> Iterator[str]:
    """The lines of a secret (a private key has many), each as it is and as URLs write it."""
    for line in secret.splitlines():
        if len(line.strip()) >= _TOO_SHORT:
            yield line.strip()
            yield quote(line.strip(), safe="")
