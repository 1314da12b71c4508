"""Reports read back from files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from gated import Scored

from pytest_touchstone.report import to_json
from pytest_touchstone.report_file import UnreadableReport, read_report


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    report = Scored({"mine": {"Recall@5": [1.0, 0.5]}}).report()
    file = tmp_path / "report.json"
    file.write_text(to_json(report), "utf-8")
    assert read_report(file) == report


HOSTILE = json.dumps({"measures": [], "\x1b[31m" * 1000: 1}).encode()


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b"NaN", b"\xff\xfe", b'{"snapshot": 1}', HOSTILE]
)
def test_anything_else_is_refused_by_name(tmp_path: Path, text: bytes) -> None:
    file = tmp_path / "report.json"
    file.write_bytes(text)
    with pytest.raises(UnreadableReport) as refused:
        read_report(file)
    lines = str(refused.value).splitlines()
    assert len(lines) <= 4
    assert all(line.startswith(f"{file}: ") for line in lines)
    assert all(line.isprintable() and len(line) < len(str(file)) + 350 for line in lines)
