"""Settings from one YAML file, the environment and options.

Paths in the file are relative to the file's own folder, so that a run does not depend on where
it is started from; those in environment and options are relative to the working directory.  An
option beats an environment variable beats the file.  Every fault is one line that names file (or
variable), key and the values allowed; nothing runs on faulty settings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from pytest_touchstone.nearest import hint
from pytest_touchstone.settings import (
    CorpusSettings,
    EmbedderSettings,
    GeneratorSettings,
    JudgeSettings,
    PriceSettings,
    ScorerSettings,
    Settings,
    SystemSettings,
    names_a_secret,
)
from pytest_touchstone.unusable import Unusable

Key = tuple[str, ...]
"""Where a setting stands: ``("corpus", "location")``."""

_NAMED_VARIABLES: Mapping[str, tuple[Key, ...]] = {
    "OPENAI_BASE_URL": (("generator", "url"), ("embedder", "url"), ("judge", "url")),
    "OPENAI_API_KEY": (("generator", "api_key"), ("embedder", "api_key"), ("judge", "api_key")),
    "QDRANT_URL": (("corpus", "location"),),
    "QDRANT_API_KEY": (("corpus", "api_key"),),
    "SCORER_ENDPOINT": (("scorer", "url"),),
    "SCORER_MODEL": (("scorer", "model"),),
    "SCORER_API_KEY": (("scorer", "api_key"),),
}
_OPTIONAL = frozenset({"corpus", "judge", "scorer"})
_CONFIGURING: Mapping[str, str] = {"QDRANT_URL": "corpus", "SCORER_ENDPOINT": "scorer"}
_PREFIX = "TOUCHSTONE_"


class SettingsError(Unusable):
    """Settings that cannot be used; one line per fault."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = tuple(faults)


def load_settings(
    path: Path,
    *,
    overrides: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] = os.environ,
    optional: bool = False,
) -> Settings:
    """Settings from a file, the environment and options (name of a top-level key to value).

    :param optional: whether environment and options are enough where there is no such file.
    :raises SettingsError: with one line per fault.
    """
    data = {} if optional and not path.exists() else _read_yaml(path)
    data.setdefault("reports", str(Settings.model_fields["reports"].default))
    _make_absolute(data, path.resolve().parent)
    origin: dict[Key, str] = {}
    for key, value, variable in _from_environment(environ, data):
        _put(data, key, _anchored(key, value))
        origin[key] = f"environment variable {variable}"
    for name, value in (overrides or {}).items():
        if name == "gates":  # those of the command line stand beside the others
            _add_gates(data, value, origin)
            continue
        data[name] = _anchored((name,), value)
        origin[(name,)] = "command line"
    try:
        return Settings.model_validate(data)
    except ValidationError as error:
        raise SettingsError([_line(path, origin, fault) for fault in error.errors()]) from None


def _add_gates(data: dict[str, Any], texts: Sequence[str], origin: dict[Key, str]) -> None:
    known = data.get("gates") or []
    if isinstance(known, list):  # otherwise validation says so
        data["gates"] = [*known, *texts]
        for place in range(len(known), len(known) + len(texts)):
            origin["gates", str(place)] = "command line"


class _Loader(yaml.SafeLoader):
    """YAML in which a key stands once: the second of two would silently win."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = key_node.value
            if isinstance(key_node, yaml.ScalarNode) and key != "<<" and key in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key!r} stands there twice", problem_mark=key_node.start_mark
                )
            seen.add(key if isinstance(key_node, yaml.ScalarNode) else id(key_node))
        return super().construct_mapping(node, deep)


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise SettingsError([f"{path}: cannot be read: {error.strerror}"]) from None
    except UnicodeDecodeError:
        raise SettingsError([f"{path}: is not UTF-8"]) from None
    try:
        data = _parse_yaml(text)
    except _YAMLError as error:
        raise SettingsError([f"{path}{error}"]) from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise SettingsError([f"{path}: must be a mapping of keys to values"])
    return data


class _YAMLError(Exception):
    """Where in the text and why, without anything from the text but a key."""


def _parse_yaml(text: str) -> Any:
    try:
        return yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        at = f":{mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "a character that YAML does not allow"
        if isinstance(error, yaml.composer.ComposerError | yaml.constructor.ConstructorError):
            # What follows `*` or `!` may be a key.
            problem = "a value that starts with `*`, `&` or `!` must stand in quotation marks"
        raise _YAMLError(f"{at}: not YAML: {problem}") from None
    except RecursionError:
        raise _YAMLError(": not YAML: nested too deeply") from None


_PATH_KEYS: tuple[Key, ...] = (
    ("dataset",),
    ("reports",),
    ("previous",),
    ("corpus", "chunks"),
    ("embedder", "vectors"),
)
_SQLITE_FILE = re.compile(r"(sqlite(?:\+\w+)?:///)(?!:memory:|file:)([^/].*)")


def _make_absolute(data: dict[str, Any], folder: Path) -> None:
    """Anchor every relative path in ``data``, the store's file included, in ``folder``."""
    for key in _PATH_KEYS:
        if isinstance(value := _get(data, key), str):
            _put(data, key, str((folder / value).resolve()))
    location = _get(data, ("corpus", "location"))
    if isinstance(location, str) and location != ":memory:" and "://" not in location:
        _put(data, ("corpus", "location"), str((folder / location).resolve()))
    store = data.get("store")
    if isinstance(store, str) and (relative := _SQLITE_FILE.fullmatch(store)):
        data["store"] = f"{relative[1]}{folder / relative[2]}"


def _get(data: Mapping[str, Any], key: Key) -> Any:
    here: Any = data
    for part in key:
        if not isinstance(here, Mapping) or part not in here:
            return None
        here = here[part]
    return here


def _put(data: dict[str, Any], key: Key, value: Any) -> None:
    *parents, last = key
    for part in parents:
        if data.get(part) is None:
            data[part] = {}
        data = data[part]
        if not isinstance(data, dict):
            return  # a section that is no section: validation says so
    data[last] = value


def _anchored(key: Key, value: Any) -> Any:
    """A value from outside the file, its relative paths in the working directory."""
    alone: dict[str, Any] = {}
    _put(alone, key, value)
    _make_absolute(alone, Path.cwd())
    return _get(alone, key)


def _from_environment(
    environ: Mapping[str, str], file: Mapping[str, Any]
) -> Iterator[tuple[Key, Any, str]]:
    """Settings that the environment gives: key, value, name of the variable; the last one wins.

    :param file: what the file says: its keys are matched whatever their case.
    :raises SettingsError: for a value that starts like a list or mapping and is none.
    """
    own = []
    for variable, text in environ.items():
        if variable.startswith(_PREFIX):
            key = _key_of(variable, file)
            own.append((key, _value_of(variable, key, text), variable))
    # What is optional is configured by being named: a key alone configures no collection.
    there = {name for name, section in file.items() if section is not None}
    there |= {key[0] for key, _, _ in own}
    there |= {section for variable, section in _CONFIGURING.items() if environ.get(variable)}
    for variable, keys in _NAMED_VARIABLES.items():
        if value := environ.get(variable):
            for key in keys:
                if key[0] in there or key[0] not in _OPTIONAL:
                    yield key, value, variable
    yield from own


def _key_of(variable: str, file: Mapping[str, Any]) -> Key:
    """``TOUCHSTONE_SYSTEMS__Mine__TIMEOUT`` to ``("systems", "mine", "timeout")``.

    A name that the file has, in whatever case, is that name; any other is in lower case.
    """
    here: Any = file
    key = []
    for part in variable.removeprefix(_PREFIX).split("__"):
        known = {str(name).casefold(): name for name in here} if isinstance(here, Mapping) else {}
        name = str(known.get(part.casefold(), part.lower()))
        here = here.get(name) if isinstance(here, Mapping) else None
        key.append(name)
    return tuple(key)


def _value_of(variable: str, key: Key, text: str) -> Any:
    """Lists, mappings, ``null`` and options are YAML; other text is read as its setting's type."""
    bare = text.strip()
    is_yaml = bare in ("null", "~") or bare.startswith(("[", "{")) or key[2:3] == ("options",)
    if not is_yaml:
        return text
    try:
        return _parse_yaml(bare)
    except _YAMLError as error:
        raise SettingsError([f"environment variable {variable}{error}"]) from None


def _line(path: Path, origin: Mapping[Key, str], fault: Mapping[str, Any]) -> str:
    """One validation fault as a line: where, which key, what is wrong, what is allowed."""
    loc = tuple(str(part) for part in fault["loc"])
    sources = (origin[loc[:end]] for end in range(len(loc), 0, -1) if loc[:end] in origin)
    where = ": ".join([next(sources, str(path)), *([".".join(loc)] if loc else [])])
    if fault["type"] == "extra_forbidden":
        return f"{where}: unknown key; {hint(loc[-1], _known_keys(loc[:-1]))}"
    if fault["type"] == "missing":
        return f"{where}: is missing"
    if fault["type"] in ("model_type", "dict_type"):
        return f"{where}: must be a mapping of keys to values"
    message = str(fault["msg"]).removeprefix("Value error, ")
    given = fault["input"]
    said = repr(given) in message
    if said or isinstance(given, dict | list) or any(map(names_a_secret, loc)):
        return f"{where}: {message}"
    return f"{where}: {message} (given: {given!r})"


_SECTIONS: Mapping[str, type[BaseModel]] = {
    "corpus": CorpusSettings,
    "embedder": EmbedderSettings,
    "generator": GeneratorSettings,
    "judge": JudgeSettings,
    "scorer": ScorerSettings,
    "systems": SystemSettings,
    "prices": PriceSettings,
}


def _known_keys(section: Sequence[str]) -> list[str]:
    model = _SECTIONS[section[0]] if section else Settings
    return list(model.model_fields)
