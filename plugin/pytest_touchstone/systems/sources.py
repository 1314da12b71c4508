"""What can be seen of a system's configuration in files: its code, and prompts beside it.

The module that defines a system, the modules beside it that it imports, and theirs; of each
package among them, the text files that may be prompts.  Installed packages are not followed, and
what a system reads from elsewhere, or a server that it calls, cannot be seen: a system says such
things of itself in an attribute ``identity``.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

_TEXTS = frozenset({".md", ".txt", ".j2", ".jinja", ".jinja2", ".prompt", ".yaml", ".yml", ".toml"})
_PROMPTS = "prompts"
_MOST_FILES = 500
_LARGEST = 1_000_000
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_OURS = "pytest_touchstone"


def source_digest(modules: Iterable[str]) -> str:
    """SHA-256 over what is seen of these modules; the same wherever the files lie.

    :param modules: names of imported modules; those without a file are known by name alone.
    """
    found: dict[str, bytes] = {}
    for name in sorted(set(modules)):
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is None:
            found[name] = b""
            continue
        path = Path(file).resolve()
        root = path.parents[name.count(".") + (path.name == "__init__.py")]
        alone = name.partition(".")[0] == _OURS or _INSTALLED & set(path.parts)
        files = [path] if alone else _followed(path, root)
        found |= {each.relative_to(root).as_posix(): each.read_bytes() for each in files}
    digest = hashlib.sha256()
    for name, data in sorted(found.items()):
        digest.update(f"{name}\0{hashlib.sha256(data).hexdigest()}\n".encode())
    return digest.hexdigest()


def _followed(start: Path, root: Path) -> list[Path]:
    """The module's file, the files under ``root`` that it imports, and the texts beside them."""
    seen: dict[Path, None] = {}
    waiting = [start]
    while waiting and len(seen) < _MOST_FILES:
        path = waiting.pop()
        if path not in seen:
            seen[path] = None
            waiting += [each for each in _imported(path, root) if each not in seen]
    folders = {path.parent for path in seen}
    texts = (text for folder in sorted(folders) for text in _texts(folder))
    return [*seen, *texts][:_MOST_FILES]


def _texts(folder: Path) -> Iterator[Path]:
    """What may be a prompt: in a folder of that name, and beside the modules of a package."""
    found = list((folder / _PROMPTS).rglob("*"))
    if (folder / "__init__.py").exists():
        found += folder.iterdir()
    for path in sorted(found):
        if path.suffix in _TEXTS and path.is_file() and path.stat().st_size <= _LARGEST:
            yield path


def _imported(path: Path, root: Path) -> Iterator[Path]:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return
    package = path.parent.relative_to(root).parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files(root, alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1]] if node.level else []
            base += (node.module or "").split(".") if node.module else []
            yield from _files(root, base)
            for alias in node.names:
                yield from _files(root, [*base, alias.name])


def _files(root: Path, parts: list[str]) -> Iterator[Path]:
    """The files of a module and of the packages around it, where they lie under ``root``."""
    for end in range(1, len(parts) + 1):
        place = root.joinpath(*parts[:end])
        for path in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
            if path.is_file():
                yield path.resolve()
