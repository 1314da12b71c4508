"""Keys planted wherever they can come in, looked for wherever anything goes out.

Everything that the project's servers are sent, they say again: in errors, in replies, in verdicts;
the system raises, prints, logs and answers what it knows.
"""

from __future__ import annotations

import base64
import io
import itertools
import json
import re
import sqlite3
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest
from judged import GOLD, verdict
from projects import Project
from servers.loopback import LoopbackServer, Reply
from servers.openai import completion, error

from pytest_touchstone.shell.cli import main

PLANTED = {
    name: f"{name}/Zk7+{number:02}x9q"
    for number, name in enumerate(
        (
            "openai-env", "url-password", "url-token", "qdrant-env", "scorer-setting",
            "scorer-query", "judge-env", "generator-setting", "option-key", "option-header",
            "option-url", "option-list", "proxy-env", "database-env", "service-env", "store-url",
        )
    )
}  # fmt: skip
"""Name to key; what a URL or base64 makes of each differs from what it is."""

APP = '''
"""A system that gives away everything it knows."""

import asyncio
import logging
import os

from pytest_touchstone import Answer, Passage, Usage

log = logging.getLogger("app")


def build(resources, **options):
    known = f"{options} " + " ".join(
        os.environ.get(name, "") for name in ("MY_SERVICE_API_KEY", "DATABASE_URL", "HTTPS_PROXY")
    )

    async def ask(messages, session):
        await asyncio.sleep(0.5)  # until a test waits, whose output is captured
        print("asking with", known)
        log.warning("asking with %s", known)
        question = messages[-1].content
        if "broken" in question:
            raise ConnectionError("refused " + known)
        try:
            done = await resources.complete(messages)
            said, usage = done.text, () if done.usage is None else (done.usage,)
        except Exception as error:
            log.exception("no reply with %s", known)
            if "again" in question:
                raise
            said, usage = f"The bridge is red [1]. {error}", ()
        passage = Passage(known[:200], f"The bridge is red. {known}", 1.0, {known: [known]})
        usage = (*usage, Usage(known[:100], 1, 0, 1))
        return Answer(f"{said} {known}", (passage,), {"year": known}, None, usage, (known,))

    return ask
'''
INI = """
[pytest]
addopts = -p no:deepeval -p no:asyncio -p no:repeat -p no:rerunfailures
junit_logging = all
"""
CONFTEST = """
import pytest

@pytest.hookimpl(trylast=True)
def pytest_runtest_call(item):
    # What a system printed and logged is shown with a failure.
    assert "second" not in item.name
"""


class Parrot(LoopbackServer):
    """Says in every reply what it was sent, well or badly by turns."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self._turn = itertools.count()

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Reply:
        """See :class:`LoopbackServer`."""
        sent = json.dumps([path, headers])
        self.said.append(sent)
        turn = next(self._turn) % 5
        if turn in (1, 3):
            return error((400, 500)[turn // 2], sent)
        if "collections" in path or "rank" in path or "score" in path:
            return error(401, sent)
        asked = json.loads(body or b"{}")
        if "response_format" not in asked:
            return completion(f"The bridge is red [1]. {sent}", model=sent)
        why = json.dumps(f"It says so. {sent}")
        text = verdict(asked).replace('"It says so."', why).replace('"Sober."', why)
        return completion(text if turn else f"{sent} {text[:-1]}", model=sent)


def question(name: str, text: str) -> dict[str, object]:
    """A gold question."""
    return {**GOLD[0], "id": name, "question": text, "filters": {"year": "2022"}}


def plant(project: Project, server: Parrot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lay out a project full of keys."""
    key = PLANTED
    user = f"user:{quote(key['url-password'], safe='')}@"
    there = server.address.removeprefix("http://")
    environ = {
        "OPENAI_API_KEY": key["openai-env"],
        "OPENAI_BASE_URL": f"http://{user}{there}/v1?api_key={quote(key['url-token'], safe='')}",
        "TOUCHSTONE_JUDGE__URL": f"{server.address}/v1",
        "TOUCHSTONE_JUDGE__API_KEY": key["judge-env"],
        "QDRANT_API_KEY": key["qdrant-env"],
        "HTTPS_PROXY": f"http://me:{quote(key['proxy-env'], safe='')}@proxy.invalid:3128",
        "NO_PROXY": "127.0.0.1",
        "DATABASE_URL": f"postgresql://me:{quote(key['database-env'], safe='')}@db.invalid/x",
        "MY_SERVICE_API_KEY": key["service-env"],
    }
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    project.write("app.py", APP.lstrip())
    project.write("pytest.ini", INI)
    project.write("conftest.py", CONFTEST)
    project.gold(
        [
            question("first", "What about the bridge?"),
            question("second", "And again?"),
            question("third", "Is it broken?"),
            question("fourth", "Which colour, again?"),
        ]
    )
    options = {
        "api_key": key["option-key"],
        "headers": {"Authorization": f"Bearer {key['option-header']}"},
        "index": f"https://me:{quote(key['option-url'], safe='')}@index.invalid/a?x=1",
        "keys": [key["option-list"]],
    }
    project.configure(
        system="app",
        baseline="none",
        variants=[],
        systems={"app": {"build": "app:build", "options": options}},
        generator={"model": "writer", "tries": 1, "api_key": key["generator-setting"]},
        judge={"model": "gpt-4.1", "url": f"{server.address}/v1", "tries": 2, "canaries": False},
        scorer={
            "url": f"{server.address}/rerank?token={quote(key['scorer-query'], safe='')}",
            "api_key": key["scorer-setting"],
            "tries": 1,
        },
    )
    # An environment variable would beat the setting.
    monkeypatch.setenv("TOUCHSTONE_GENERATOR__API_KEY", key["generator-setting"])


def forms(secret: str) -> Iterator[str]:
    """A key as others may write it."""
    yield secret
    yield quote(secret, safe="")
    yield quote(secret)
    for before in ("", "a", "ab"):
        # The first characters and the last ones depend on what stands beside it.
        yield base64.b64encode(f"{before}{secret}".encode()).decode()[4 if before else 0 : -4]


def unpacked(name: str, content: bytes) -> Iterator[tuple[str, str]]:
    """The texts in a file: members, rows, and what a page's scripts unpack."""
    yield name, content.decode("utf-8", "replace")
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.namelist():
                yield from unpacked(f"{name}/{member}", archive.read(member))
    for packed in re.findall(rb"[\w+/]{200,}={0,2}", content) if name.endswith(".html") else ():
        try:
            yield f"{name}, its data", zlib.decompress(base64.b64decode(packed)).decode()
        except (ValueError, zlib.error):
            continue  # a script


def rows(file: Path) -> Iterator[tuple[str, str]]:
    """Every row of a database: a long text lies in pieces in its file."""
    with closing(sqlite3.connect(file)) as store:
        tables = [name for (name,) in store.execute("SELECT name FROM sqlite_master")]
        for table in tables:
            try:
                found = store.execute(f'SELECT * FROM "{table}"')  # noqa: S608 - its own names
            except sqlite3.OperationalError:
                continue  # an index
            for row in found:
                yield f"{file.name}, {table}", repr(row)


def leaks(project: Project, said: Mapping[str, str]) -> list[str]:
    """Where which key is found, beside the files in which it was planted."""
    planted = {"evaluation/settings.yaml"}
    texts = list(said.items())
    for name, content in project.tree().items():
        if name not in planted:
            texts += unpacked(name, content)
        if name.endswith(".sqlite"):
            texts += rows(project.folder / name)
    wanted = {name: set(forms(secret)) for name, secret in PLANTED.items()}
    return [
        f"{where}: {name}: {text[max(0, text.find(form) - 60) :][:120]!r}"
        for where, text in texts
        for name, written in wanted.items()
        for form in written
        if form in text
    ]


@pytest.mark.parametrize("ways", [[], ["-n2"]], ids=["serial", "workers"])
def test_no_key_comes_out(
    project: Project,
    ways: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    with Parrot() as server:
        plant(project, server, monkeypatch)
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.folder / "summary.md"))
        shown = ["-v", "--tb=long", "--showlocals", "--junitxml=junit.xml", "-rA", *ways]
        logged = ["-o", "log_cli=true", "--log-level=DEBUG", "--log-file=all.log"]
        ended = project.spawn(*shown, *logged)
        echoed = " ".join(server.said)
    assert ended.code in (0, 1), ended.text
    assert "INTERNALERROR" not in ended.text
    report = project.report()
    assert {case["error"]["kind"] for case in report["cases"] if case["error"]} == {"exception"}

    # That the keys were there to come out: the servers had them, and the system was heard.
    for name in ("url-password", "url-token", "judge-env", "scorer-setting", "scorer-query"):
        assert any(form in echoed for form in forms(PLANTED[name])), name
    assert "asking with" in (project.folder / "junit.xml").read_text("utf-8")
    assert "[secret]" in (project.folder / "all.log").read_text("utf-8")
    assert "[secret]" in json.dumps(report)

    # Between two tests pytest captures nothing: what a system prints then is on the terminal.
    own = re.compile(r"^asking with .*$", re.MULTILINE)
    said = {"the output": own.sub("", ended.text)}
    if not ways:
        said |= other_forms(project, monkeypatch, capfdbinary)
    assert leaks(project, said) == []


def other_forms(
    project: Project, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> dict[str, str]:
    """What the commands make of the report, and say."""
    monkeypatch.chdir(project.folder)
    file = str(project.report_files()[-1].relative_to(project.folder))
    commands = [
        *(["report", file, f"--format={form}"] for form in ("json", "html", "md", "csv", "junit")),
        ["report", "latest"],
        ["bundle", file, "--output=all.zip"],
        ["compare", file, file],
        ["gate", file, "Faithfulness >= 0.1"],
    ]
    said = {}
    for command in commands:
        capfdbinary.readouterr()
        code = main(command)
        captured = capfdbinary.readouterr()
        said[" ".join(command)] = (captured.out + captured.err).decode()
        assert code in (0, 1), said
        said |= dict(unpacked(f"{command[0]}.html", captured.out))
    plan = project.spawn("--touchstone-plan")
    assert plan.code == 0, plan.text
    said["the plan"] = plan.text
    return said


def test_no_key_comes_out_of_a_refusal(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    key = PLANTED["store-url"]
    quoted = quote(key, safe="")
    with Parrot() as server:
        plant(project, server, monkeypatch)
        url = server.address.replace("//", f"//:{quote(PLANTED['url-password'], safe='')}@")
        for environ in (
            {"QDRANT_URL": f"{url}?api_key={PLANTED['url-token']}"},
            {"TOUCHSTONE_STORE": f"postgresql+pg9://me:{quoted}@host/x?password={key}"},
            {"TOUCHSTONE_SCORER__URL": f"ftp://me:{quoted}@host/x?api_key={key}"},
            {"TOUCHSTONE_JUDGE__CONCURRENCY": f"https://me:{key.replace('/', '-')}@host"},
        ):
            with monkeypatch.context() as patch:
                for name, value in environ.items():
                    patch.setenv(name, value)
                ended = project.end("--tb=long", "--showlocals", "-v")
            assert ended.code == pytest.ExitCode.USAGE_ERROR, ended.text
            assert "ERROR: " in ended.text
            assert leaks(project, {"the output": ended.text}) == [], environ
    assert not project.report_files()
