"""The layers: pure below effects below the shell; imports go one way."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest_touchstone

PACKAGE = Path(pytest_touchstone.__file__).parent
PURE = {
    "agreement", "annotations", "calibrate", "drawing", "notebook", "rubrics", "student",
    "worksheet",
    "citing", "comparing", "estimate", "floors", "gate", "gold", "history", "measures", "nearest",
    "paragraphs", "repeats", "report", "rouge", "score", "storable", "tokens", "trace",
    "unusable", "verdicts",
}  # fmt: skip
EFFECTS = {
    "bundling", "corpus", "covering", "dataset", "flight", "forms", "garbage", "judge", "llm",
    "opening", "planning", "provenance", "redact", "report_file", "reproducing", "run",
    "scorer", "settings", "settings_file", "shipped", "snapshot", "store", "systems",
}  # fmt: skip
SHELL = {"shell"}
TOUCHES_THE_WORLD = {
    "asyncio",
    "openai",
    "os",
    "pathlib",
    "qdrant_client",
    "sqlalchemy",
    "threading",
}


def rooms() -> Iterator[tuple[Path, str]]:
    """Every module with the name of its room: its folder, or itself at the top."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path, path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path, *, at_start: bool = False) -> set[str]:
    """Modules that a file imports; ``at_start``: only those it imports when it is imported."""
    tree = ast.parse(path.read_text("utf-8"))
    nodes: list[ast.AST] = list(tree.body) if at_start else list(ast.walk(tree))
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def own(names: set[str]) -> set[str]:
    """The rooms of this package among imported names."""
    return {name.split(".")[1] for name in names if name.startswith("pytest_touchstone.")}


def test_every_module_has_a_layer() -> None:
    assert {room for _, room in rooms()} - {"__init__"} == PURE | EFFECTS | SHELL


def test_imports_go_from_the_shell_to_effects_to_the_pure_core() -> None:
    allowed = {"pure": PURE, "effects": PURE | EFFECTS, "shell": PURE | EFFECTS | SHELL}
    wrong = []
    for path, room in rooms():
        if room == "__init__":
            continue
        layer = "pure" if room in PURE else "effects" if room in EFFECTS else "shell"
        known = own(imports(path)) & (PURE | EFFECTS | SHELL)
        wrong += [f"{path.name} ({layer}) imports {r}" for r in sorted(known - allowed[layer])]
    assert not wrong


def test_only_the_shell_knows_pytest() -> None:
    knowing = {room for path, room in rooms() if {"pytest", "_pytest"} & imports(path)}
    assert knowing <= SHELL


def test_the_pure_core_touches_nothing() -> None:
    wrong = [
        f"{path.name}: {name}"
        for path, room in rooms()
        if room in PURE
        for name in sorted(imports(path) & TOUCHES_THE_WORLD)
    ]
    assert not wrong


def test_the_entry_imports_nothing_heavy() -> None:
    for name in ("__init__.py", "shell/__init__.py", "shell/plugin.py"):
        loaded = imports(PACKAGE / name, at_start=True)
        names = {module.split(".")[0] for module in loaded}
        heavy = names - sys.stdlib_module_names - {"pytest", "pytest_touchstone"}
        assert not heavy, name
        assert own(loaded) <= {"shell"}, name
