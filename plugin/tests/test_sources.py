"""What is seen of a system's configuration in files."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_touchstone.systems.sources import source_digest

FILES = {
    "solo_app.py": "import solo_part\n",
    "solo_part.py": "from solo_kit.deep import thing\n",
    "solo_kit/__init__.py": "",
    "solo_kit/deep.py": "from . import near\nfrom .near import other\nthing = 1\n",
    "solo_kit/near.py": "other = 1\n",
    "solo_kit/system.md": "Answer.",
    "solo_kit/prompts/deep/rewrite.txt": "Rewrite.",
    "solo_kit/data.bin": "x",
    "solo_alone.py": "",
    "README.md": "About.",
    "prompts/answer.j2": "Say.",
}
SEEN = (
    "solo_app.py",
    "solo_part.py",
    "solo_kit/__init__.py",
    "solo_kit/deep.py",
    "solo_kit/near.py",
    "solo_kit/system.md",
    "solo_kit/prompts/deep/rewrite.txt",
    "prompts/answer.j2",
)
Digest = Callable[..., str]


@pytest.fixture
def digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Digest]:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.import_module("solo_app")
    yield lambda *names: source_digest(names or ["solo_app"])
    for name in [name for name in sys.modules if name.startswith("solo_")]:
        del sys.modules[name]


@pytest.mark.parametrize("name", FILES)
def test_a_change_is_seen_where_it_matters(digest: Digest, tmp_path: Path, name: str) -> None:
    before = digest()
    (tmp_path / name).write_text(FILES[name] + "# changed\n", "utf-8")
    assert (digest() != before) == (name in SEEN)


def test_a_new_prompt_is_a_change_and_a_new_module_is_none(digest: Digest, tmp_path: Path) -> None:
    before = digest()
    (tmp_path / "solo_kit/unused.py").write_text("x = 1\n")
    assert digest() == before
    (tmp_path / "solo_kit/more.yaml").write_text("x: 1\n")
    assert digest() != before


def test_the_place_is_no_part_of_it(
    digest: Digest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = digest("solo_kit.deep", "solo_kit")
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    (tmp_path / "solo_kit").rename(moved / "solo_kit")
    for name in [name for name in sys.modules if name.startswith("solo_kit")]:
        del sys.modules[name]
    monkeypatch.syspath_prepend(str(moved))
    importlib.import_module("solo_kit.deep")
    assert digest("solo_kit.deep", "solo_kit") == before


def test_modules_that_cannot_be_followed(digest: Digest, tmp_path: Path) -> None:
    (tmp_path / "solo_part.py").write_text("def broken(:\n")
    first = digest()
    (tmp_path / "solo_kit/near.py").write_text("other = 2\n")
    assert digest() == first, "what is behind a module that is no Python is not found"
    assert digest("sys", "no_such_module") == digest("no_such_module", "sys")
    assert digest("sys") != digest("builtins")


def test_installed_packages_are_not_followed() -> None:
    """The digest of the shipped baseline reads one file, not the whole plugin."""
    importlib.import_module("pytest_touchstone.systems.single_shot")
    assert len(source_digest(["pytest_touchstone.systems.single_shot"])) == 64
    assert source_digest(["pytest"]) == source_digest(["pytest"])


def test_circles_end(digest: Digest, tmp_path: Path) -> None:
    (tmp_path / "solo_part.py").write_text("import solo_app\nimport solo_part\n")
    assert len(digest()) == 64
