"""`touchstone dataset power`: what a set of gold questions could detect, planned or at hand."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pytest_touchstone.shell.cli import main


def power(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["dataset", "power", *arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def figures(line: str) -> list[float]:
    return [float(number) for number in re.findall(r"(0\.\d{3}) at", line)]


def test_a_planned_set(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = power(capsys, "--questions", "160")
    assert code == 0
    _, line = out.splitlines()
    assert line.startswith("planned  160 questions in 160 clusters: ")
    assert re.findall(r"at rate ([\d.]+)", line) == ["0.5", "0.8", "0.95"]
    alone = figures(line)
    assert alone == sorted(alone, reverse=True), "rates near 1 vary less"

    _, out, _ = power(capsys, "--questions", "160", "--clusters", "12", "--icc", "0.1")
    alike = figures(out.splitlines()[1])
    assert all(one > other for one, other in zip(alike, alone, strict=True))
    _, out, _ = power(capsys, "--questions", "640", "--rate", "0.8")
    assert figures(out.splitlines()[1])[0] == pytest.approx(alone[1] / 2, abs=0.01)
    _, out, _ = power(capsys, "--questions", "160", "--deviation", "0.2")
    assert out.endswith("0.045 at deviation 0.2\n")


def test_a_set_at_hand_by_type(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "gold.jsonl"
    questions = [
        {
            "id": f"q{n}",
            "type": "summary" if n < 3 else "factual",
            "question": f"What is {n}?",
            "answer": "A number.",
            "cluster": f"doc{n // 2}",
        }
        for n in range(24)
    ]
    file.write_text("".join(json.dumps(one) + "\n" for one in questions), "utf-8")
    code, out, _ = power(capsys, str(file), "--rate", "0.8")
    assert code == 0
    assert [line.split(":")[0] for line in out.splitlines()[1:]] == [
        "all      24 questions in 12 clusters",
        "summary  3 questions in 2 clusters",
        "factual  21 questions in 11 clusters",
    ]
    assert out.splitlines()[2].endswith(": none, with fewer than 5 clusters")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name either a file of gold questions or --questions N"),
        (["gold.jsonl", "--questions", "9"], "name either a file"),
        (["missing.jsonl"], "missing.jsonl"),
        (["gold.jsonl", "--clusters", "9"], "--clusters: those of a file are counted"),
        (["--questions", "9", "--clusters", "10"], "--clusters 10 of --questions 9"),
        (["--questions", "9", "--clusters", "0"], "--clusters 0 of --questions 9"),
        (["--questions", "9", "--rate", "1"], "--rate 1: must lie between 0 and 1"),
        (["--questions", "9", "--deviation", "0"], "--deviation 0: must be above 0"),
        (["--questions", "9", "--icc", "2"], "icc 2: must be from 0 to 1"),
        (["--questions", "9", "--correlation", "nan"], "correlation nan"),
    ],
)
def test_what_contradicts_itself_is_said(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = power(capsys, *arguments)
    assert (code, out) == (4, "")
    assert err.startswith("touchstone: ")
    assert message in err
