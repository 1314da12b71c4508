"""Secrets out of text that is going to be written down."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

MASK = "[secret]"
_NAME_OF_A_SECRET = re.compile(
    r"key|token|secret|passw|passphrase|_pwd|credential|auth(?!or(?!i))", re.IGNORECASE
)
_TOO_SHORT = 8
_USER_IN_URL = re.compile(r"(?<=://)[^/?#@\s]*@")
_LOOKS_LIKE_A_SECRET = re.compile(
    r"\b(?:sk|pk|rk)-[\w*.-]{6,}|(?i:\bbearer)\s+[\w.~+/=-]{8,}"
    # Base64 of a name and a password, not «basic infrastructure».
    r"|(?i:\bbasic)\s+(?=[\w+/]*[\d=])[\w+/]{8,}={0,2}"
)


Redact = Callable[[str], str]


def masker(environ: Mapping[str, str], secrets: Iterable[str]) -> Redact:
    """A function that takes known secrets out of a text, and changes nothing else in it.

    It masks ``secrets`` and the environment's secret values, also as they stand in a URL.  An
    environment variable counts as secret when its name says so; values under eight characters
    are left alone, since they would mask ordinary words.
    """
    values = (value for name, value in environ.items() if _NAME_OF_A_SECRET.search(name))
    known = {form for value in (*values, *secrets) for form in _forms(value)}
    if not known:
        return lambda text: text
    # The longest first: one secret may be the beginning of another.
    exact = "|".join(re.escape(value) for value in sorted(known, key=len, reverse=True))
    pattern = re.compile(exact)
    return lambda text: pattern.sub(MASK, text)


def redactor(environ: Mapping[str, str], secrets: Iterable[str]) -> Redact:
    """A :func:`masker` for messages, which masks what looks like a secret too.

    That is user and password of any URL, API keys, and ``Authorization`` headers.
    """
    mask = masker(environ, secrets)

    def redact(text: str) -> str:
        return _LOOKS_LIKE_A_SECRET.sub(MASK, _USER_IN_URL.sub(f"{MASK}@", mask(text)))

    return redact


def everywhere(redact: Redact, data: Any) -> Any:
    """JSON data with every text in it redacted; names of keys stay."""
    if isinstance(data, dict):
        return {key: everywhere(redact, value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [everywhere(redact, value) for value in data]
    return redact(data) if isinstance(data, str) else data


def _forms(secret: str) -> Iterator[str]:
    """The lines of a secret (a private key has many), each as it is and as URLs write it."""
    for line in secret.splitlines():
        if len(line.strip()) >= _TOO_SHORT:
            yield line.strip()
            yield quote(line.strip(), safe="")
