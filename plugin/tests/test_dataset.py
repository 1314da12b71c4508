"""Gold files on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_touchstone.dataset import read_gold
from pytest_touchstone.gold import GoldError

REAL = Path(__file__).parents[3] / "shared/data/mtrag-human/gold.jsonl"


def test_a_file_is_read_under_its_name(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_text('{"id":"a","type":"factual","question":"Varför?","answer":""}\n', "utf-8")
    found = read_gold(path)
    assert (found.file, found.cases[0].question) == (str(path), "Varför?")


def test_a_file_that_cannot_be_read_is_one_fault(tmp_path: Path) -> None:
    path = tmp_path / "none.jsonl"
    with pytest.raises(GoldError) as raised:
        read_gold(path)
    (fault,) = raised.value.faults
    assert str(fault) == f"{path}: cannot be read: No such file or directory"
    with pytest.raises(GoldError, match="Is a directory"):
        read_gold(tmp_path)


@pytest.mark.skipif(not REAL.exists(), reason="../shared/data/mtrag-human is not beside the repo")
def test_the_real_conversations_are_sound() -> None:
    found = read_gold(REAL)
    assert len(found.cases) == 80
    assert sum(found.counts.values()) == 80
    assert len({case.cluster for case in found.cases}) == 10
    assert sum(not case.gold_chunks for case in found.cases) == 5
    assert sum(len(case.history) for case in found.cases) == 590
