"""Secrets out of text that is going to be written down."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote, unquote_plus

MASK = "[secret]"
_NAMES = r"key|token|secret|passw|passphrase|_pwd|credential|auth(?!or(?!i))"
_NAME_OF_A_SECRET = re.compile(_NAMES, re.IGNORECASE)
_TOO_SHORT = 8
_USER_IN_URL = re.compile(r"(?<=://)[^/?#@\s]*@")
_URL = re.compile(r"(\w[\w+.-]*)://(?:([^/?#@\s]*)@)?([^\s#]*)")
_IN_QUERY = re.compile(rf"(?<=[?&])([\w.%-]*(?:{_NAMES}|sig)[\w.%-]*)=([^&\s#]+)", re.IGNORECASE)
_LONG_ENOUGH_ALONE = 16
"""Characters that make a user name without a password a token; others are names."""
_LOOKS_LIKE_A_SECRET = re.compile(
    r"\b(?:sk|pk|rk)-[\w*.-]{6,}|(?i:\bbearer)\s+[\w.~+/=-]{8,}"
    # Base64 of a name and a password, not «basic infrastructure».
    r"|(?i:\bbasic)\s+(?=[\w+/]*[\d=])[\w+/]{8,}={0,2}"
)


Redact = Callable[[str], str]


def masker(environ: Mapping[str, str], secrets: Iterable[str]) -> Redact:
    """A function that takes known secrets out of a text, and changes nothing else in it.

    It masks ``secrets`` and the environment's secret values, also as they stand in a URL, in JSON
    and in base64.  An environment variable counts as secret when its name says so, and of a URL
    what :func:`in_urls` finds; values under eight characters are left alone, since they would mask
    ordinary words.
    """
    named = (value for name, value in environ.items() if _NAME_OF_A_SECRET.search(name))
    in_others = (secret for value in environ.values() for secret in in_urls(value))
    known = {form for value in (*named, *in_others, *secrets) for form in _forms(value)}
    if not known:
        return lambda text: text
    # The longest first: one secret may be the beginning of another.
    exact = "|".join(map(_in_any_url, sorted(known, key=len, reverse=True)))
    pattern = re.compile(exact)
    return lambda text: pattern.sub(MASK, text)


def redactor(environ: Mapping[str, str], secrets: Iterable[str]) -> Redact:
    """A :func:`masker` for messages, which masks what looks like a secret too.

    That is user and password of any URL, what its query names a secret, API keys, and
    ``Authorization`` headers.
    """
    mask = masker(environ, secrets)

    def redact(text: str) -> str:
        text = _USER_IN_URL.sub(f"{MASK}@", mask(text))
        return _LOOKS_LIKE_A_SECRET.sub(MASK, _IN_QUERY.sub(rf"\1={MASK}", text))

    return redact


def in_urls(text: str) -> Iterator[str]:
    """The secrets in the URLs of a text: passwords, tokens in place of a user, keys in queries.

    The user with the password too, as an ``Authorization`` header writes them.  A password that
    is the user's name over again is none.
    """
    if "://" not in text:
        return
    for scheme, credentials, rest in _URL.findall(text):
        for _, value in _IN_QUERY.findall(rest):
            yield from (value, unquote_plus(value))
        user, colon, password = credentials.partition(":")
        if colon and password and password != user:
            yield from (password, unquote(password))
            yield b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
        elif not colon and scheme.startswith("http") and len(user) >= _LONG_ENOUGH_ALONE:
            yield from (user, unquote(user))
            yield b64encode(f"{unquote(user)}:".encode()).decode()


def everywhere(redact: Redact, data: Any) -> Any:
    """JSON data with every text in it redacted, names of keys too."""
    if isinstance(data, dict):
        return {everywhere(redact, key): everywhere(redact, one) for key, one in data.items()}
    if isinstance(data, list | tuple):
        return [everywhere(redact, value) for value in data]
    return redact(data) if isinstance(data, str) else data


def _in_any_url(text: str) -> str:
    """A regular expression of the text, of which any sign may stand as a URL writes it."""
    return "".join(
        re.escape(sign)
        if (coded := quote(sign, safe="", errors="replace")) == sign
        else f"(?:{re.escape(sign)}|{coded}|{coded.lower()})"
        for sign in text
    )


def _forms(secret: str) -> Iterator[str]:
    """The lines of a secret (a private key has many), each as it is, and as others write it."""
    for line in map(str.strip, secret.splitlines()):
        if len(line) >= _TOO_SHORT:
            yield line
            yield json.dumps(line)[1:-1]
            yield json.dumps(line, ensure_ascii=False)[1:-1]
            # Padding depends on what follows.
            yield b64encode(line.encode("utf-8", "replace")).decode().rstrip("=")
