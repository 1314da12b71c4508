"""The file: a zip of strict JSON, the same bytes for the same run.

It may come from anybody: only members of known names are read, each up to a size, and nothing in
it is run or unpacked to a path.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_touchstone.annotations import Annotation, annotation_line, parse_annotations
from pytest_touchstone.unusable import Unusable

FORMAT = 1
TABLES = (
    "eval_runs",
    "eval_cases",
    "eval_plan",
    "eval_questions",
    "eval_passages",
    "eval_scores",
    "eval_calls",
    "eval_notes",
    "eval_canaries",
    "eval_spending",
)
_ABOUT, _ANNOTATIONS = "bundle.json", "annotations.jsonl"
_PROMPT = re.compile(r"prompts/([a-z][a-z_]{0,60})\.md")
_LARGEST = 1_000_000_000
"""Bytes of all members together, unpacked."""
_EPOCH = (1980, 1, 1, 0, 0, 0)

Row = Mapping[str, Any]


class BundleError(Unusable):
    """A file that is no bundle, or not one of this version."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """What a report was made of.

    :param results_sha256: of that report.
    :param settings: the effective ones, without secrets.
    :param tables: rows of the store's tables, by table; of calls ``key``, ``kind`` and ``result``.
    :param prompts: text of each prompt, by name.
    """

    results_sha256: str
    plugin_version: str
    settings: Mapping[str, Any]
    tables: Mapping[str, Sequence[Row]]
    annotations: Sequence[Annotation] = ()
    prompts: Mapping[str, str] = field(default_factory=dict)


def packed(bundle: Bundle) -> bytes:
    """The file's bytes: nothing of when or where it was made is in them."""
    about = {
        "format": FORMAT,
        "plugin_version": bundle.plugin_version,
        "results_sha256": bundle.results_sha256,
        "settings": bundle.settings,
    }
    members = {_ABOUT: _line(about)}
    for name in TABLES:
        members[_member(name)] = "".join(map(_line, bundle.tables.get(name, ())))
    members[_ANNOTATIONS] = "".join(f"{annotation_line(one)}\n" for one in bundle.annotations)
    members |= {f"prompts/{name}.md": text for name, text in bundle.prompts.items()}
    packing = io.BytesIO()
    with zipfile.ZipFile(packing, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, text in sorted(members.items()):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            archive.writestr(entry, text.encode())
    return packing.getvalue()


def read_bundle(path: Path) -> Bundle:
    """The bundle in a file.

    :raises BundleError: in one line.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = _members(path, archive)
    except OSError as error:
        raise BundleError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise BundleError(f"{path}: is no bundle: {error}") from None
    try:
        return _parsed(path, members)
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise BundleError(f"{path}: is no bundle: {type(error).__name__}: {error}") from None


def _members(path: Path, archive: zipfile.ZipFile) -> dict[str, bytes]:
    known = {_ABOUT, _ANNOTATIONS, *map(_member, TABLES)}
    members: dict[str, bytes] = {}
    left = _LARGEST
    for entry in archive.infolist():
        name = entry.filename
        if name in members or not (name in known or _PROMPT.fullmatch(name)):
            raise BundleError(f"{path}: is no bundle: it holds {name!r:.80}")
        with archive.open(entry) as file:
            members[name] = file.read(left + 1)  # whatever the entry says of its size
        left -= len(members[name])
        if left < 0:
            raise BundleError(f"{path}: unpacks to more than {_LARGEST:,} bytes")
    if missing := sorted(known - members.keys()):
        raise BundleError(f"{path}: is no bundle: it lacks {', '.join(missing)}")
    return members


def _parsed(path: Path, members: Mapping[str, bytes]) -> Bundle:
    about = _strict(members[_ABOUT])
    if about["format"] != FORMAT:
        raise BundleError(f"{path}: is a bundle of format {about['format']!r:.20}, not {FORMAT}")
    prompts = {
        found[1]: data.decode()
        for name, data in members.items()
        if (found := _PROMPT.fullmatch(name))
    }
    return Bundle(
        str(about["results_sha256"]),
        str(about["plugin_version"]),
        dict(about["settings"]),
        {name: _rows(members[_member(name)]) for name in TABLES},
        parse_annotations(members[_ANNOTATIONS], file=_ANNOTATIONS),
        prompts,
    )


def _rows(data: bytes) -> list[Row]:
    return [dict(_strict(line)) for line in data.splitlines()]


def _strict(data: bytes) -> Any:
    def refuse(word: str) -> Any:
        raise ValueError(f"{word} is no JSON")

    return json.loads(data, parse_constant=refuse)


def _member(table: str) -> str:
    return f"{table.removeprefix('eval_')}.jsonl"


def _line(data: Any) -> str:
    return json.dumps(data, ensure_ascii=True, allow_nan=False, sort_keys=True) + "\n"
