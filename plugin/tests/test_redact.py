"""Secrets do not reach what is written down."""

from __future__ import annotations

import string
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_touchstone.redact import MASK, redactor

SECRET = "hunter2/hunter2+hunter2"  # noqa: S105


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "client_secret",
        "PGPASSWORD",
        "MYSQL_PWD",
        "SSH_PASSPHRASE",
        "GOOGLE_CREDENTIALS",
        "PROXY_AUTH",
        "AUTHORIZATION",
    ],
)
def test_environment_variables_that_say_they_are_secret(name: str) -> None:
    redact = redactor({name: SECRET}, [])
    assert redact(f"refused {SECRET}!") == f"refused {MASK}!"
    assert redact(f"GET /v1?key={quote(SECRET, safe='')}&n=1") == f"GET /v1?key={MASK}&n=1"


@pytest.mark.parametrize("name", ["HOME", "PATH", "GIT_AUTHOR_NAME", "PWD", "LANG", "MODEL"])
def test_other_environment_variables_are_left_alone(name: str) -> None:
    assert redactor({name: SECRET}, [])(f"see {SECRET}") == f"see {SECRET}"


def test_short_values_would_mask_ordinary_words() -> None:
    assert redactor({"API_KEY": "none", "TOKEN": ""}, ["", "test"])("none of the tests") == (
        "none of the tests"
    )


def test_given_secrets_longest_first() -> None:
    redact = redactor({}, ["abcdefgh", "abcdefgh-ijklmnop"])
    assert redact("abcdefgh-ijklmnop, abcdefgh") == f"{MASK}, {MASK}"


def test_every_line_of_a_private_key() -> None:
    key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n"
    assert redactor({"SIGNING_KEY": key}, [])("bad key hkiG9w0BAQEFAASC") == f"bad key {MASK}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no route to http://me:pw@host:80/x", f"no route to http://{MASK}@host:80/x"),
        ("postgresql+psycopg://me:p%40w@host/db", f"postgresql+psycopg://{MASK}@host/db"),
        ("https://token@host", f"https://{MASK}@host"),
        ("mail me@host at http://host/a@b", "mail me@host at http://host/a@b"),
        ("401: Incorrect API key: sk-proj-Ab_12*34", f"401: Incorrect API key: {MASK}"),
        ("header Authorization: Bearer abc.def-123", f"header Authorization: {MASK}"),
        ("header Authorization: basic dXNlcjpwdw==", f"header Authorization: {MASK}"),
        ("the bearer of basic news; a risk-free task-oriented desk", None),
    ],
)
def test_what_looks_like_a_secret(text: str, expected: str | None) -> None:
    assert redactor({}, [])(text) == (text if expected is None else expected)


secrets = st.text(
    st.sampled_from(string.ascii_letters + string.digits + ".*+?()|\\/-_"), min_size=8
)


@given(secrets, secrets, st.text(), st.text())
@example("........", "(((((((((", "", "")
def test_no_secret_is_left(first: str, second: str, before: str, after: str) -> None:
    redact = redactor({"API_KEY": first}, [second])
    text = redact(f"{before} {first} {second} {after}")
    for secret in (first, second):
        assert secret not in text
