"""Corpus chunks: what a collection holds, and the reader of the JSONL file it is built from.

One JSON object a line, UTF-8: `{"id", "text", "metadata": {...}}`; `metadata` is optional and
its values are any JSON.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from pytest_touchstone.unusable import Unusable

_FIELDS = ("id", "text", "metadata")


class ChunksError(Unusable):
    """A corpus file that cannot be used; ``faults`` holds one line each, `file:line: field: …`."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = tuple(faults)


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk of a corpus.  ``id`` is unique in it; ``metadata`` is what filters select on."""

    id: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


def chunks_digest(chunks: Iterable[Chunk]) -> str:
    """SHA-256 (hex) over id, text and metadata as canonical JSON, in order of the ids.

    It depends neither on where the chunks are stored nor on the order they came in.
    """
    digest = hashlib.sha256()
    for chunk in sorted(chunks, key=lambda chunk: chunk.id):
        data = {"id": chunk.id, "text": chunk.text, "metadata": dict(chunk.metadata)}
        line = json.dumps(data, sort_keys=True, separators=(",", ":"))
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def read_chunks(path: Path) -> tuple[Chunk, ...]:
    """The chunks of a JSONL file, in file order.  Blank lines are passed over.

    :raises ChunksError: with every fault of the file, each with file, line and field.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ChunksError([f"{path}: cannot be read: {error.strerror}"]) from None
    chunks: list[Chunk] = []
    faults: list[str] = []
    first_line: dict[str, int] = {}
    # splitlines() would also cut at U+2028 and other separators that JSON strings may hold.
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        record, problems = _record(line, first=number == 1)
        faults += [f"{path}:{number}: {problem}" for problem in problems]
        if problems:
            continue
        chunk = Chunk(record["id"], record["text"], record.get("metadata") or {})
        earlier = first_line.setdefault(chunk.id, number)
        if earlier != number:
            faults.append(f"{path}:{number}: id: {chunk.id!r} stands on line {earlier} already")
        chunks.append(chunk)
    if not chunks and not faults:
        faults.append(f"{path}: holds no chunks")
    if faults:
        raise ChunksError(faults)
    return tuple(chunks)


def _record(line: bytes, *, first: bool) -> tuple[dict[str, Any], list[str]]:
    """The JSON object on a line, and everything that is wrong with it."""
    if first and line.startswith(b"\xef\xbb\xbf"):
        return {}, ["(line): starts with a byte-order mark; save the file as UTF-8 without one"]
    try:
        record = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        return {}, [f"(line): is not UTF-8 (byte {error.start + 1})"]
    except json.JSONDecodeError as error:
        return {}, [f"(line): is not JSON: {error.msg} (column {error.colno})"]
    except (ValueError, RecursionError) as error:
        return {}, [f"(line): is not JSON: {error}"]
    if not isinstance(record, dict):
        return {}, ["(line): must be a JSON object with `id` and `text`"]
    return record, _problems(record)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _problems(record: Mapping[str, Any]) -> list[str]:
    problems: list[str] = []
    for name in ("id", "text"):
        value = record.get(name)
        if name not in record:
            problems.append(f"{name}: is missing")
        elif not isinstance(value, str):
            problems.append(f"{name}: must be a string, not {json.dumps(value)[:60]}")
        elif not value.strip():
            problems.append(f"{name}: is empty")
    metadata = record.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        problems.append("metadata: must be an object of field names to values")
    for name in record.keys() - set(_FIELDS):
        close = difflib.get_close_matches(name, _FIELDS, n=1)
        hint = f"did you mean `{close[0]}`?" if close else "put it under `metadata`"
        problems.append(f"{name}: unknown field; {hint}")
    try:
        json.dumps(record, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except UnicodeEncodeError:
        problems.append(
            "(line): holds half of a surrogate pair (\\ud800-\\udfff), which is no text"
        )
    except ValueError:
        problems.append("(line): holds a number too large for a float")
    return sorted(problems)
