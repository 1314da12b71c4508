"""The checked-in statements: passages, answers that they support, rewordings and changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Statement:
    """One item of ``statements_*.txt``.

    :param rewordings: answers with the same meaning as far as they go.
    :param changes: (kind, answer with one thing changed).
    """

    lang: str
    passages: tuple[str, ...]
    answer: str
    rewordings: tuple[str, ...]
    changes: tuple[tuple[str, str], ...]


@dataclass
class _Item:
    lang: str
    passages: list[str] = field(default_factory=list)
    answer: str = ""
    rewordings: list[str] = field(default_factory=list)
    changes: list[tuple[str, str]] = field(default_factory=list)

    def finished(self) -> Statement:
        return Statement(
            self.lang,
            tuple(self.passages),
            self.answer,
            tuple(self.rewordings),
            tuple(self.changes),
        )


def statements(split: str) -> list[Statement]:
    """The items of one file.

    :param split: ``dev`` or ``heldout``.
    :raises ValueError: where a line cannot be read, with its number.
    """
    path = FOLDER / f"statements_{split}.txt"
    items: list[_Item] = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        mark, _, rest = line.partition(" ")
        if not rest:
            items.append(_Item(mark))
        elif mark == "P":
            items[-1].passages.append(rest)
        elif mark == "A":
            items[-1].answer = rest
        elif mark == "=":
            items[-1].rewordings.append(rest)
        elif mark == "~":
            items[-1].changes.append(_changed(items[-1].answer, rest, f"{path.name}:{number}"))
        else:
            raise ValueError(f"{path.name}:{number}: unknown mark {mark!r}")
    return [item.finished() for item in items]


def _changed(answer: str, rest: str, where: str) -> tuple[str, str]:
    kind, _, change = rest.partition(": ")
    old, arrow, new = change.partition(" -> ")
    if not arrow or old not in answer:
        raise ValueError(f"{where}: {old!r} is not in the answer")
    return kind, answer.replace(old, new, 1)
