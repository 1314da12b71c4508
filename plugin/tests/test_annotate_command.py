"""`touchstone annotate`: judged answers out to people, their values back, the judge corrected."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from canary_replies import canary_of, reply
from projects import Project, measure_of
from servers.openai import OpenAIServer

from pytest_touchstone.annotations import answer_digest
from pytest_touchstone.shell.cli import main

NUMBER = 48
APP = """
from pytest_touchstone import Answer, Passage


async def assistant(messages, session):
    number = int(messages[-1].content.split()[-1].rstrip("?"))
    return Answer(f"Finding number {number}.", (Passage("c1", "A passage."),), usage=())


"""
GOLD = [
    {
        "id": f"q{number:02}",
        "type": "factual" if number % 3 else "comparative",
        "question": f"What about {number}?",
        "answer": "",
    }
    for number in range(NUMBER)
]


def mark(number: int) -> int:
    """What the judge gives: from 2 to 5."""
    return 2 + number % 4


def said(number: int) -> int:
    """What people give: one less, but for every fifth answer."""
    return mark(number) - (number % 5 != 0)


def verdict(request: Mapping[str, Any]) -> str:
    prompt = request["messages"][0]["content"]
    if (canary := canary_of(prompt)) is not None:
        return reply(canary, canary.known[0])
    found = re.search(r"Finding number (\d+)", prompt)
    score = {"rationale": "Read.", "score": mark(int(found[1])) if found else 1}
    return json.dumps({"formality": score, "caution": score})


@pytest.fixture
def judged(project: Project) -> Project:
    project.write("app.py", APP.lstrip())
    project.gold(GOLD)
    project.configure(variants=[], baseline=None, systems={"assistant": {"ask": "app:assistant"}})
    return project


@pytest.fixture
def run(judged: Project) -> Callable[[], dict[str, Any]]:
    """Run the tone module with a judge; the report."""

    def once() -> dict[str, Any]:
        with OpenAIServer(verdict) as server:
            judged.configure(
                judge={"model": "gpt-4.1", "url": server.url, "api_key": "key", "tries": 1}
            )
            result = judged.run("-q", "tests/test_tone.py")
        assert result.ret == 0, result.stdout.str()
        return judged.report() | {"printed": result.stdout.str()}

    return once


_FIRST: list[str] = []


@pytest.fixture
def first(judged: Project, run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The report of a run without annotations; made once, since a run takes seconds."""
    if not _FIRST:
        run()
        _FIRST.append(judged.report_files()[-1].read_text("utf-8"))
    report: dict[str, Any] = json.loads(_FIRST[0])
    judged.write("reports/2026-01-01T000000Z_nocommit.json", _FIRST[0])
    return report


@pytest.fixture
def annotate(
    judged: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """The command, in the project's folder: its exit code and what it says."""

    def once(*arguments: str) -> tuple[int, str]:
        monkeypatch.chdir(judged.folder)
        capsys.readouterr()
        code = main(["annotate", *arguments])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return once


def fill_in(
    file: Path, value: Callable[[int], object] = said, *, only: str | None = None
) -> list[dict[str, str]]:
    """Put a value into each row, as a person with a spreadsheet would; the rows as they were."""
    text = file.read_text("utf-8-sig")
    delimiter = max(",;", key=text.partition("\n")[0].count)
    rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]), delimiter=";")
        writer.writeheader()
        for row in rows:
            wanted = only is None or row["measure"] == only
            given = value(int(row["case"].removeprefix("q"))) if wanted else ""
            writer.writerow(row | {"value": given})
    return rows


def test_from_a_drawing_to_a_corrected_judge(
    judged: Project,
    first: dict[str, Any],
    run: Callable[[], dict[str, Any]],
    annotate: Callable[..., tuple[int, str]],
) -> None:
    assert measure_of(first, "Formality")["calibrated"] is None
    assert first["findings"]["agreement"] == []

    sheet = judged.folder / "sheet.csv"
    code, text = annotate("--draw", "40%", "--csv", "sheet.csv")
    assert code == 0, text
    assert "sheet.csv: 40 rows on 20 answers, drawn from " in text
    assert "  Formality: 20 of 48\n" in text
    raw = sheet.read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    assert b"assistant" not in raw, "whose answer it is would tell"
    assert annotate("--draw", "40%", "--csv", "sheet.csv")[0] == 4, "never over a filled sheet"
    again = judged.folder / "again.csv"
    annotate("--draw", "40%", "--csv", "again.csv")
    assert again.read_bytes() == raw, "drawn by a seed"

    rows = fill_in(sheet, lambda number: 7 if number % 2 else said(number))
    code, text = annotate("--read", "sheet.csv", "--annotator", "ann")
    assert code == 4
    assert "sheet.csv: row " in text
    assert "column I, value: must be one of 1, 2, 3, 4, 5, not '7'" in text
    assert not (judged.folder / "evaluation/annotations.jsonl").exists(), "all or nothing"

    fill_in(sheet, only="Formality")
    formality = [row for row in rows if row["measure"] == "Formality"]
    assert {row["probability"] for row in formality} == {"13 of 32", "7 of 16"}
    assert {row["value"] for row in rows} == {""}
    code, text = annotate("--read", "sheet.csv", "--annotator", "ann")
    assert code == 0, text
    assert "annotations.jsonl: 20 annotations by ann added\n  20 rows added nothing" in text
    code, text = annotate("--read", "sheet.csv", "--annotator", "ann")
    assert "0 annotations by ann added" in text
    fill_in(again, lambda number: 6 - said(number))
    code, text = annotate("--read", "again.csv", "--annotator", "ann")
    assert code == 4
    assert re.search(r"ann gives \d here, and gave \d in \S*annotations.jsonl:\d+", text)

    after = run()
    found = measure_of(after, "Formality")["calibrated"]
    judge = sum(map(mark, range(NUMBER))) / NUMBER
    truth = sum(map(said, range(NUMBER))) / NUMBER
    assert found["labels"], found["population"] == (20, NUMBER)
    assert found["judge"]["estimate"] == pytest.approx(judge)
    assert found["estimate"] == pytest.approx(truth, abs=0.25)
    assert found["ci"][0] < truth < found["ci"][1] < judge
    assert found["ci_method"].startswith("prediction-powered (PPI++), t, ")
    assert found["slope"] > 0.5
    width = found["ci"][1] - found["ci"][0]
    assert width < found["people"]["ci"][1] - found["people"]["ci"][0]
    assert found["left_out"] == {}
    assert measure_of(after, "Caution")["calibrated"] is None
    assert measure_of(after, "Formality")["system"]["origin"] == {"human": 20, "judge": 28}
    (agreed,) = after["findings"]["agreement"]
    assert (agreed["measure"], agreed["level"], agreed["pairs"]) == ("Formality", "ordinal", 20)
    assert 0 < agreed["kappa"]["ci"][0] < agreed["kappa"]["value"] < 1
    assert agreed["difference"] > 0.5
    assert sum(map(sum, agreed["confusion"]["counts"])) == 20
    line = next(x for x in after["printed"].splitlines() if x.startswith("Judge against people"))
    judged.write("reports/other.json", json.dumps({k: v for k, v in after.items() if k in first}))
    assert_the_report_is_written_again(judged, annotate, line, found)
    shape = (
        "Judge against people: Formality (1-5): 3.50 corrected to # [#, #] by 20 labels of"
        " 48 answers; kappa # [#, #] over 20 pairs"
    )
    assert re.fullmatch(re.escape(shape).replace(r"\#", r"\d\.\d\d"), line), line


def assert_the_report_is_written_again(
    judged: Project, annotate: Callable[..., tuple[int, str]], line: str, found: dict[str, Any]
) -> None:
    """A system that answers otherwise each time is corrected in the report that was drawn from."""
    annotations = judged.folder / "evaluation/annotations.jsonl"
    lines = annotations.read_text("utf-8").splitlines(keepends=True)
    annotations.write_text("".join(lines[:5]), "utf-8")
    fill_in(judged.folder / "sheet.csv", only="Formality")
    arguments = ("--read", "sheet.csv", "--annotator", "ann", "--report", "reports/other.json")
    code, text = annotate(*arguments)
    assert code == 0, text
    assert line in text.splitlines()
    again = json.loads((judged.folder / "reports/other.json").read_text("utf-8"))
    assert measure_of(again, "Formality")["calibrated"] == found


def test_a_larger_drawing_holds_the_smaller_and_its_labels(
    judged: Project,
    first: dict[str, Any],
    run: Callable[[], dict[str, Any]],
    annotate: Callable[..., tuple[int, str]],
) -> None:
    code, text = annotate("--draw", "10%", "--csv", "small.csv")
    assert "  Formality: 6 of 48: too few to correct the judge's mean by (10 are needed)" in text
    small = {row["case"] for row in fill_in(judged.folder / "small.csv", only="Formality")}
    annotate("--read", "small.csv", "--annotator", "ann")
    annotate("--draw", "50%", "--csv", "large.csv")
    large = judged.folder / "large.csv"
    rows = fill_in(large, lambda number: "" if f"q{number:02}" in small else said(number))
    assert small < {row["case"] for row in rows}
    code, text = annotate("--read", "large.csv", "--annotator", "ann")
    assert code == 0, text
    found = measure_of(run(), "Formality")["calibrated"]
    assert (found["labels"], found["left_out"]) == (24, {})
    assert found["estimate"] is not None


def test_labels_that_are_no_drawing_of_this_run_correct_nothing(
    judged: Project,
    first: dict[str, Any],
    run: Callable[[], dict[str, Any]],
    annotate: Callable[..., tuple[int, str]],
) -> None:
    annotate("--draw", "50%", "--csv", "sheet.csv")
    drawn = {row["case"] for row in fill_in(judged.folder / "sheet.csv")}
    annotate("--read", "sheet.csv", "--annotator", "ann")
    name = next(case["id"] for case in reversed(GOLD) if case["id"] not in drawn)
    chosen = {
        "case": name,
        "answer_sha256": answer_digest(f"Finding number {int(name[1:])}."),
        "measure": "Formality",
        "annotator": "bo",
        "value": 3,
    }
    with (judged.folder / "evaluation/annotations.jsonl").open("a") as file:
        file.write(json.dumps(chosen))
    # A system that answers some questions otherwise than when it was drawn from.
    judged.write("app.py", APP.replace("number {number}.", "number {number}{'!' * (number < 9)}."))
    report = run()
    found = measure_of(report, "Formality")["calibrated"]
    assert (found["estimate"], found["people"], found["labels"]) == (None, None, 0)
    assert found["left_out"]["not_drawn"] == 1
    assert 9 < found["left_out"]["answers_changed"] < 24
    assert "not corrected: people labelled no answer that was drawn for them" in report["printed"]
    assert "of a drawing whose answers are not all in this run" in report["printed"]


def test_annotations_of_questions_that_are_not_there_are_told(judged: Project) -> None:
    line = {"measure": "Formality", "answer_sha256": "a" * 64, "annotator": "ann", "value": 3}
    lines = "".join(f"{json.dumps(line | {'case': f'gone{n}'})}\n" for n in range(5))
    judged.write("evaluation/annotations.jsonl", lines)
    printed = judged.run("-q", "tests/test_cost.py").stdout.str()
    told = re.findall(r"note: annotations that say nothing here: .*", printed)
    assert len(told) == 1
    assert "annotations.jsonl:1: no gold question is called 'gone0'" in told[0]
    assert told[0].endswith("and 2 more")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--draw", "10%"), "--draw goes with --csv=FILE"),
        (("--draw", "10%", "--csv", "x.csv", "--annotator", "a"), "--draw goes with --csv=FILE"),
        (("--draw", "10%", "--csv", "x.csv"), "holds no report: run an evaluation"),
        (("--draw", "10%", "--csv", "x.csv", "--report", "gone.json"), "gone.json: cannot be read"),
        (("--read", "x.csv"), "--read goes with --annotator=NAME"),
        (("--read", "x.csv", "--annotator", "a", "--csv", "y.csv"), "and without --csv"),
        (("--read", "x.csv", "--annotator", "a", "--report", "gone.json"), "gone.json: cannot be"),
        (("--read", "x.csv", "--annotator", " "), "--read goes with --annotator=NAME"),
        (("--read", "gone.csv", "--annotator", "ann"), "gone.csv: No such file or directory"),
        (("--draw", "10%", "--csv", "x.csv", "--settings", "gone.yaml"), "gone.yaml"),
    ],
)
def test_what_does_not_go_together(
    annotate: Callable[..., tuple[int, str]], arguments: tuple[str, ...], message: str
) -> None:
    code, text = annotate(*arguments)
    assert code == 4
    assert text.startswith("touchstone: ")
    assert message in text


@pytest.mark.parametrize("share", ["10", "0%", "101%", "ten", "-5%", "nan%"])
def test_a_share_is_a_percentage(
    annotate: Callable[..., tuple[int, str]], capsys: pytest.CaptureFixture[str], share: str
) -> None:
    with pytest.raises(SystemExit):
        annotate(f"--draw={share}", "--csv", "x.csv")
    assert "write a share like 10%, up to 100%" in capsys.readouterr().err


def test_a_report_without_a_judge_has_nothing_to_draw(
    judged: Project, annotate: Callable[..., tuple[int, str]]
) -> None:
    assert judged.run("-q", "tests/test_cost.py").ret == 0
    code, text = annotate("--draw", "10%", "--csv", "x.csv")
    assert code == 4
    assert "no answer of the system under test was judged" in text
    assert not (judged.folder / "x.csv").exists()
