"""Secrets do not reach what is written down."""

from __future__ import annotations

import json
import string
from base64 import b64encode
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_touchstone.redact import MASK, everywhere, in_urls, masker, redactor

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
        ("POST /v1?api_key=a%2Fb&n=1", f"POST /v1?api_key={MASK}&n=1"),
        ("GET https://host/x?n=1&X-Sig=abc: 403", f"GET https://host/x?n=1&X-Sig={MASK} 403"),
        ("which author?key=value", f"which author?key={MASK}"),
        ("mail me@host at http://host/a@b", "mail me@host at http://host/a@b"),
        ("401: Incorrect API key: sk-proj-Ab_12*34", f"401: Incorrect API key: {MASK}"),
        ("header Authorization: Bearer abc.def-123", f"header Authorization: {MASK}"),
        ("header Authorization: basic dXNlcjpwdw==", f"header Authorization: {MASK}"),
        ("the bearer of basic news; a risk-free task-oriented desk", None),
    ],
)
def test_what_looks_like_a_secret(text: str, expected: str | None) -> None:
    assert redactor({}, [])(text) == (text if expected is None else expected)


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("postgresql+psycopg://me:p%40ss@host/db", {"p%40ss", "p@ss", "bWU6cEBzcw=="}),
        ("http://host/v1?api-version=2024-10-21&api_key=a+b%2Fc", {"a+b%2Fc", "a b/c"}),
        ("https://0123456789abcdef@host", {"0123456789abcdef", "MDEyMzQ1Njc4OWFiY2RlZjo="}),
        ("two: redis://:p1@a and amqp://u:p2@b", {"p1", "OnAx", "p2", "dTpwMg=="}),
        ("postgresql://touchstone-the-long@host/db", set()),
        ("postgresql://postgres:postgres@host/db", set()),
        ("git@host:a/b.git and https://host/a@b?page=2", set()),
    ],
)
def test_what_is_secret_in_a_url(url: str, found: set[str]) -> None:
    assert set(in_urls(url)) == found


def test_a_variable_that_holds_a_url_with_a_password() -> None:
    redact = masker({"DATABASE_URL": "postgresql://me:hunter2-hunter2@db/x", "PAGER": "less"}, [])
    assert redact("hunter2-hunter2 of me, less or more") == f"{MASK} of me, less or more"


@pytest.mark.parametrize(
    "written",
    [
        SECRET,
        "hunter2%2Fhunter2%2bhunter2",
        "hunter2/hunter2%2Bhunter2",
        b64encode(SECRET.encode()).decode().rstrip("="),
    ],
)
def test_a_secret_as_others_write_it(written: str) -> None:
    assert masker({}, [SECRET])(f"<{written}>") == f"<{MASK}>"


def test_a_secret_as_json_writes_it() -> None:
    secret = 'quo"te\\näh-1234'  # noqa: S105
    redact = masker({}, [secret])
    for text in (json.dumps(secret), json.dumps(secret, ensure_ascii=False)):
        assert redact(text) == f'"{MASK}"'


def test_everywhere_means_names_of_keys_too() -> None:
    data = {SECRET: [SECRET, 1, None, {"a": (SECRET, 2.5)}], "b": True}
    assert everywhere(masker({}, [SECRET]), data) == {
        MASK: [MASK, 1, None, {"a": [MASK, 2.5]}],
        "b": True,
    }


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
