"""The bundle as a file, which may come from anybody."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_touchstone.bundling import file as bundle_file
from pytest_touchstone.bundling.file import TABLES, Bundle, BundleError, packed, read_bundle
from pytest_touchstone.bundling.replay import Replay
from pytest_touchstone.store.bundles import fill
from pytest_touchstone.store.engine import Store, StoreError

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES = (
    st.none()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
)
ROWS = st.lists(st.dictionaries(TEXT, VALUES, max_size=4), max_size=3)
EMPTY = Bundle("ab", "1", {}, {name: [] for name in TABLES})


@settings(deadline=None)
@given(ROWS, st.dictionaries(st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True), TEXT, max_size=3))
def test_a_bundle_comes_out_as_it_went_in(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], prompts: dict[str, str]
) -> None:
    path = tmp_path_factory.mktemp("bundle") / "a.zip"
    whole = Bundle("ab", "1", {"a": 1}, {**EMPTY.tables, "eval_notes": rows}, (), prompts)
    path.write_bytes(packed(whole))
    found = read_bundle(path)
    assert found.tables["eval_notes"] == rows
    assert found.prompts == prompts
    assert packed(found) == packed(whole)


def written(path: Path, members: dict[str, bytes]) -> Path:
    """A bundle with these members instead of its own."""
    path.write_bytes(packed(EMPTY))
    with zipfile.ZipFile(path) as archive:
        own = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in {**own, **members}.items():
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"../../etc/passwd": b""}, "it holds '../../etc/passwd'"),
        ({"/prompts/a.md": b""}, "it holds '/prompts/a.md'"),
        ({"prompts/../a.md": b""}, "it holds 'prompts/../a.md'"),
        ({"calls.pickle": b""}, "it holds 'calls.pickle'"),
        ({"bundle.json": b'{"format": 99}'}, "is a bundle of format 99, not 1"),
        ({"bundle.json": b"[]"}, "is no bundle: TypeError"),
        ({"calls.jsonl": b"NaN\n"}, "is no bundle: ValueError: NaN is no JSON"),
        ({"calls.jsonl": b'{"a": Infinity}\n'}, "Infinity is no JSON"),
        ({"calls.jsonl": b"[" * 100_000 + b"\n"}, "is no bundle"),
        ({"annotations.jsonl": b"{}\n"}, "annotations.jsonl:1"),
    ],
)
def test_what_is_no_bundle_is_refused(tmp_path: Path, members: dict[str, bytes], said: str) -> None:
    path = written(tmp_path / "a.zip", members)
    with pytest.raises(Exception, match=r"bundle|annotations") as caught:
        read_bundle(path)
    assert said in str(caught.value)


def test_a_bomb_does_not_go_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle_file, "_LARGEST", 1_000_000)
    path = written(tmp_path / "a.zip", {})
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("prompts/bomb.md", b"\n" * 50_000_000)
    assert path.stat().st_size < 100_000
    with pytest.raises(BundleError, match="unpacks to more than 1,000,000 bytes"):
        read_bundle(path)


def test_a_name_stands_once(tmp_path: Path) -> None:
    path = written(tmp_path / "a.zip", {})
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("bundle.json", b"{}")
    with pytest.raises(BundleError, match=r"it holds 'bundle.json'"):
        read_bundle(path)


def test_a_bundle_without_a_run_replays_nothing(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="holds no run"):
        Replay(EMPTY, tmp_path / "a.zip")


def test_rows_of_other_columns_are_refused(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'store.sqlite'}")
    run = {"id": "r", "started_at": "2026", "x'); DROP TABLE eval_runs; --": 1}
    tables = {**EMPTY.tables, "eval_runs": [run]}
    try:
        with pytest.raises(StoreError, match="eval_runs has no column"):
            fill(store, tables)
    finally:
        store.close()
