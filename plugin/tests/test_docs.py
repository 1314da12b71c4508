"""The pages for users say what is true: commands run, options and keys exist, links lead somewhere.

A shell block that cannot be run here has `<!-- not run by the tests: why -->` above it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from documents import (
    PAGES,
    ROOT,
    SHELL,
    Block,
    anchors,
    blocks,
    commands,
    inline_code,
    links,
    name_of,
)
from projects import INI, TIMEOUT

from pytest_touchstone.annotations import parse_annotations
from pytest_touchstone.gate import GateError
from pytest_touchstone.gate import parse as parse_gate
from pytest_touchstone.gold.reading import parse_gold
from pytest_touchstone.measures import MEASURES, parse
from pytest_touchstone.settings import Settings
from pytest_touchstone.settings_file import load_settings
from pytest_touchstone.shell.cli import main
from pytest_touchstone.shipped import shipped

EVERY = [block for page in PAGES for block in blocks(page)]
EARLIER = "reports/2026-11-30T143000Z_0123456789ab.json"
"""The report that the pages name as an example."""

SYSTEM = '''
from pytest_touchstone import Answer, Passage


def ask(messages, session):
    """Answers every question from one passage, after the filters of the year."""
    return Answer("In 2022, 34 schools were closed. [1]",
                  (Passage("c1", "In 2022, 34 schools were closed in the district."),),
                  filters={"year": "2022"}, usage=())
'''

GOLD: list[dict[str, Any]] = [
    {"id": "q1", "type": "factual"},
    {"id": "q2", "type": "comparative"},
    {"id": "q3", "type": "summary", "key_points": ["34 schools were closed."]},
    {"id": "q4", "type": "multi_turn", "history": [
        {"role": "user", "content": "Which year?", "filters": {"year": "2022"}},
        {"role": "assistant", "content": "2022."}]},
    {"id": "q5", "type": "edge_case"},
    {"id": "q6", "type": "factual"},
]  # fmt: skip

SETTINGS: dict[str, Any] = {
    "dataset": "data/test_set_v2026-11-30.jsonl",
    "system": "mine",
    "baseline": "none",
    "judge": {"model": "offline"},
    "systems": {"mine": {"ask": "my_system:ask", "concurrency": 8}},
    "resamples": 100,
}


def of(languages: frozenset[str] | set[str], *, run: bool | None = None) -> list[Block]:
    """Blocks in some languages; those that are to be run, or are not."""
    found = (block for block in EVERY if block.language in languages)
    return [block for block in found if run is None or run == (block.why_not is None)]


# -- what is run ------------------------------------------------------------------------------


def environment(folder: Path) -> dict[str, str]:
    """That of a shell in which nothing is set up but the installed commands."""
    foreign = ("TOUCHSTONE_", "OPENAI_", "QDRANT_", "SCORER_", "PYTEST_", "GITHUB_")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
    scripts = str(Path(sys.executable).parent)
    return kept | {"PATH": f"{scripts}{os.pathsep}{kept['PATH']}", "PYTHONPATH": str(folder)}


def shell(folder: Path, script: str) -> str:
    """What a script says, which has to end well."""
    done = subprocess.run(
        ["bash", "-eu", "-o", "pipefail", "-c", script],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=2 * TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}"
    return done.stdout


@pytest.fixture(scope="session")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small project laid out like the demonstration, with one run in its store."""
    folder = tmp_path_factory.mktemp("evaluated")
    (folder / "evaluation/data").mkdir(parents=True)
    gold = [
        {"question": f"How many schools were closed in {case['id']}?", "answer": "34 schools.",
         "gold_chunks": ["c1"], "filters": {"year": "2022"}} | case
        for case in GOLD
    ]  # fmt: skip
    lines = "".join(json.dumps(case) + "\n" for case in gold)
    (folder / "evaluation" / SETTINGS["dataset"]).write_text(lines)
    (folder / "evaluation/settings.yaml").write_text(yaml.safe_dump(SETTINGS))
    (folder / "my_system.py").write_text(SYSTEM)
    (folder / "pytest.ini").write_text(INI)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(shipped("tests"), folder / "tests", ignore=ignored)
    shell(folder, f"touchstone run --output {EARLIER}")
    shutil.copy(folder / EARLIER, folder / "main.json")
    shutil.copy(ROOT / "reports/sample.json", folder / "reports")
    return folder


@pytest.fixture
def project(evaluated: Path, tmp_path: Path) -> Path:
    """A copy of the project that a page may change."""
    return shutil.copytree(evaluated, tmp_path / "project")


def runnable(page: Path) -> str:
    """The commands of a page that can be run here, in order."""
    return "\n".join(block.text for block in blocks(page) if block in of(SHELL, run=True))


@pytest.mark.parametrize("page", [page for page in PAGES[1:] if runnable(page)], ids=name_of)
def test_the_commands_of_a_page_run(page: Path, project: Path) -> None:
    assert shell(project, runnable(page))


def test_the_readme_leads_to_a_first_report(tmp_path: Path) -> None:
    """From an empty folder, cloning and installing left out: they need a network."""
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv/bin").symlink_to(Path(sys.executable).parent)
    said = shell(tmp_path, runnable(PAGES[0]))
    told = next(block for block in blocks(PAGES[0]) if "my_system:ask: 3 of 3" in block.text)
    for line in told.text.splitlines():
        shown = "page: " if line.startswith("page: ") else line
        assert line == "..." or f"\n{shown}" in said, said
    (report,) = (tmp_path / "reports").glob("*.json")
    assert report.with_suffix(".html").is_file()
    assert [case["case"] for case in json.loads(report.read_text())["cases"]] == ["q1", "q2", "q3"]


def test_what_is_not_run_says_why_and_is_the_smaller_part() -> None:
    assert all(len(block.why_not or "") > 8 for block in of(SHELL, run=False))
    assert len(of(SHELL, run=False)) < len(of(SHELL, run=True))


@pytest.mark.parametrize("block", of({"python"}, run=True), ids=str)
def test_python_runs(block: Block, project: Path) -> None:
    script = project / "example.py"
    script.write_text(block.text, "utf-8")
    if "frames(" in block.text:
        pytest.importorskip("pandas")
    shell(project, "python example.py")


@pytest.mark.parametrize("block", of({"python"}, run=False), ids=str)
def test_python_that_is_a_fragment_is_python(block: Block) -> None:
    compile(block.text, str(block), "exec")


# -- options and commands ---------------------------------------------------------------------

_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def options_of(help_text: str) -> set[str]:
    return set(_OPTION.findall(help_text))


def help_of(*words: str) -> str:
    """What a sub-command says of itself."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        main([*words, "--help"])
    return said.getvalue()


@pytest.fixture(scope="session")
def known() -> dict[str, set[str]]:
    """The options of each command: `touchstone run`, ..., `pytest`."""
    arguments = [sys.executable, "-m", "pytest", "--help", "-p", "xdist", "-p", "no:cacheprovider"]
    told = subprocess.run(arguments, capture_output=True, text=True, cwd=ROOT, check=True)
    found = {"pytest": options_of(told.stdout)}
    names = re.findall(r"^    ([a-z]+)\b", help_of(), re.MULTILINE)
    assert {"run", "report", "gate", "dataset"} <= set(names)
    for name in names:
        found[f"touchstone {name}"] = options_of(help_of(name))
    for task in re.findall(r"^    ([a-z]+)\b", help_of("dataset"), re.MULTILINE):
        found["touchstone dataset"] |= options_of(help_of("dataset", task))
    return found


def unknown_words(command: str, known: dict[str, set[str]]) -> list[str]:
    """What a command names that does not exist: a sub-command, or options."""
    with contextlib.suppress(ValueError):
        command = shlex.join(shlex.split(command))  # without what is quoted around options
    command = command.replace("python -m evaluation.run", "touchstone run")
    said = re.search(r"(?:^|[\s/])(touchstone [a-z]+|pytest)(?=\s|$)(.*)", command)
    if said is None:
        return []
    name, rest = said[1], said[2]
    if name not in known:
        return [name]
    own, _, passed_on = rest.partition(" -- ")
    return [each for each in _OPTION.findall(own) if each not in known[name]] + [
        each for each in _OPTION.findall(passed_on) if each not in known["pytest"]
    ]


def scripts(node: Any) -> Iterator[str]:
    """The shell scripts of a workflow file."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("run", "script"):
                yield from [value] if isinstance(value, str) else value
            else:
                yield from scripts(value)
    elif isinstance(node, list):
        for each in node:
            yield from scripts(each)


def is_workflow(data: Any) -> bool:
    return isinstance(data, dict) and any(scripts(data))


def test_commands_name_what_exists(known: dict[str, set[str]]) -> None:
    said = [(str(block), line) for block in of(SHELL) for line in commands(block.text)]
    for block in of({"yaml"}):
        data = yaml.safe_load(block.text)
        said += [(str(block), line) for text in scripts(data) for line in commands(text)]
    said += [(name_of(page), code) for page in PAGES for code in inline_code(page)]
    wrong = {f"{where}: {line}": bad for where, line in said if (bad := unknown_words(line, known))}
    assert not wrong
    assert sum("touchstone" in line for _, line in said) > 40


def test_options_alone_exist(known: dict[str, set[str]]) -> None:
    every = set().union(*known.values())
    said = {
        (name_of(page), option)
        for page in PAGES
        for code in inline_code(page)
        if code.startswith("--")
        for option in _OPTION.findall(code)
    }
    assert said
    assert {each for each in said if each[1] not in every} == set()


@pytest.mark.parametrize("page", sorted((ROOT / "docs/dimensions").glob("*.md")), ids=name_of)
def test_a_dimension_is_run_alone_by_its_module(page: Path) -> None:
    wanted = f"test_{page.stem.replace('-', '_')}"
    chosen = re.findall(r"^pytest -k (\w+)$", runnable(page), re.MULTILINE)
    assert chosen == [wanted]
    assert [each.stem for each in shipped("tests").glob("*.py") if wanted in each.stem] == [wanted]


# -- settings, gates, measures, gold questions ------------------------------------------------


def section_of(key: str) -> Any:
    """The model of a section of the settings, also of one that may be left out."""
    annotation = Settings.model_fields[key].annotation
    return next((each for each in get_args(annotation) if each is not type(None)), annotation)


_SECTIONS = ("corpus", "embedder", "generator", "judge", "scorer")


@pytest.mark.parametrize(
    "block", [b for b in of({"yaml"}) if not is_workflow(yaml.safe_load(b.text))], ids=str
)
def test_settings_are_valid(block: Block, tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    own = "" if re.search(r"^dataset:", block.text, re.MULTILINE) else "dataset: gold.jsonl\n"
    file.write_text(own + block.text, "utf-8")
    load_settings(file, environ={})


def test_keys_in_the_text_exist() -> None:
    wrong = []
    for page in PAGES:
        for code in inline_code(page):
            key = re.fullmatch(rf"({'|'.join(_SECTIONS)})\.([a-z_]+)(:.*)?", code)
            if key and key[2] not in section_of(key[1]).model_fields:
                wrong.append((name_of(page), code))
            for name in re.findall(r"TOUCHSTONE_([A-Z_]+)", code):
                first, _, second = name.lower().partition("__")
                inner = section_of(first).model_fields if first in _SECTIONS else ()
                if first not in Settings.model_fields or (second and second not in inner):
                    wrong.append((name_of(page), code))
    assert not wrong


def test_every_setting_is_told() -> None:
    text = (ROOT / "docs/settings.md").read_text("utf-8")
    assert [key for key in Settings.model_fields if not re.search(rf"`{key}\b", text)] == []


def test_gates_can_be_read() -> None:
    said = {
        (name_of(page), code)
        for page in PAGES
        for code in inline_code(page)
        if re.search(r"^[^X-].* [<>]= ", code) and not code.startswith("pytest ")
    }
    assert len(said) > 20
    wrong = {}
    for where, code in said:
        try:
            parse_gate(code)
        except GateError as error:
            wrong[f"{where}: {code}"] = str(error)
    assert not wrong


def test_measures_stand_where_they_belong() -> None:
    """Each page of a dimension has all its measures, with their range and direction."""
    for page in (ROOT / "docs/dimensions").glob("*.md"):
        rows = re.findall(r"^\| (`[^|]+) \|(.*)$", page.read_text("utf-8"), re.MULTILINE)
        told: dict[str, str] = {}
        for names, rest in rows:
            told |= dict.fromkeys(re.findall(r"`([^`]+)`", names), rest)
        measures = {parse(name): rest for name, rest in told.items() if is_measure(name)}
        dimension = page.stem.replace("-", "_")
        assert {m.name.partition("@")[0] for m in measures} == {
            m.name.partition("@")[0] for m in MEASURES.values() if m.dimension == dimension
        }, page
        for measure, rest in measures.items():
            low, high = measure.range
            assert f" {low:g} {'or more' if high is None else f'to {high:g}'} |" in rest, measure
            assert f"| {'higher' if measure.higher_is_better else 'lower'} |" in rest


def is_measure(name: str) -> bool:
    try:
        parse(name)
    except ValueError:
        return False
    return True


def test_the_index_of_measures_is_whole() -> None:
    text = (ROOT / "docs/measures.md").read_text("utf-8")
    assert [name for name in MEASURES if not re.search(rf"`{name}[`@]", text)] == []


@pytest.mark.parametrize("block", of({"json", "jsonl"}), ids=str)
def test_examples_of_files_can_be_read(block: Block) -> None:
    data = block.text.encode()
    for line in block.text.splitlines():
        example = json.loads(line)
        assert example
    if "annotator" in example and "measure" in example:
        digest = b"0" * 64
        assert parse_annotations(data.replace("…".encode(), digest), file="x")
    else:
        assert parse_gold(data, file="x").cases


# -- links ------------------------------------------------------------------------------------

_LINKED = (*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CHANGELOG.md")


@pytest.mark.parametrize("page", _LINKED, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    wrong = []
    for link in links(page):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            wrong.append(link)
    assert not wrong


def test_the_index_has_every_page() -> None:
    index = ROOT / "docs/README.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in links(index)}
    assert [name_of(page) for page in PAGES[1:] if page not in {*linked, index}] == []
