"""Settings: file, environment and options; every fault one line; what may be published."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.settings import Settings, publishable
from pytest_touchstone.settings_file import SettingsError, load_settings

VALUE = "sk-0123456789abcdef"
"""A secret."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "evaluation" / "settings.yaml"
    path.parent.mkdir()
    path.write_text("dataset: gold.jsonl\n")
    return path


def load(file: Path, text: str | None = None, /, **given: Any) -> Settings:
    """Settings of a file with this text; ``environ`` is empty unless it is given."""
    if text is not None:
        file.write_text(text, "utf-8")
    return load_settings(file, **{"environ": {}, **given})


def faults(file: Path, text: str | None = None, /, **given: Any) -> list[str]:
    """The faults, with the file's path cut to `FILE`."""
    with pytest.raises(SettingsError) as raised:
        load(file, text, **given)
    assert str(raised.value) == "\n".join(raised.value.faults)
    return [fault.replace(str(file), "FILE") for fault in raised.value.faults]


# -- the file ---------------------------------------------------------------------------------


def test_paths_are_relative_to_the_file(file: Path) -> None:
    found = load(
        file,
        "dataset: data/gold.jsonl\nstore: sqlite:///own/store.sqlite\n"
        "corpus: {chunks: ../corpus.jsonl}\n",
    )
    assert found.dataset == file.parent / "data/gold.jsonl"
    assert found.reports == file.parent.parent / "reports"
    assert found.store_url == f"sqlite:///{file.parent}/own/store.sqlite"
    assert found.corpus is not None
    assert found.corpus.chunks == file.parent.parent / "corpus.jsonl"


@pytest.mark.parametrize(
    ("store", "url"),
    [
        ("sqlite:////var/x.sqlite", "sqlite:////var/x.sqlite"),
        ("sqlite+pysqlite:///x.sqlite", "sqlite+pysqlite:///HERE/x.sqlite"),
        ("postgresql+psycopg://u:p@db/x", "postgresql+psycopg://u:p@db/x"),
        (None, "sqlite:///REPORTS/touchstone.sqlite"),
    ],
)
def test_the_store_is_a_url(file: Path, store: str | None, url: str) -> None:
    settings = load(file, yaml.safe_dump({"dataset": "gold.jsonl", "store": store}))
    expected = url.replace("HERE", str(file.parent)).replace(
        "REPORTS", str(file.parent.parent / "reports")
    )
    assert settings.store_url == expected


@pytest.mark.parametrize(
    ("location", "expected"),
    [("store", "HERE/store"), ("/srv/q", "/srv/q"), ("http://q:6333", "http://q:6333")],
)
def test_a_location_is_a_folder_or_a_url(file: Path, location: str, expected: str) -> None:
    found = load(file, f"dataset: gold.jsonl\ncorpus: {{location: '{location}'}}\n")
    assert found.corpus is not None
    assert found.corpus.location == expected.replace("HERE", str(file.parent))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "dataset: is missing"),
        ("# nothing\n", "dataset: is missing"),
        ("- a\n", "must be a mapping of keys to values"),
        ("a: \x07\n", "not YAML: a character that YAML does not allow"),
        ("dataset: " + "[" * 1200, "not YAML: nested too deeply"),
    ],
)
def test_a_file_that_is_none_is_one_fault(file: Path, text: str, fault: str) -> None:
    assert faults(file, text) == [f"FILE: {fault}"]


def test_a_fault_of_the_text_has_its_line(file: Path) -> None:
    (fault,) = faults(file, "dataset: [\n")
    assert fault == "FILE:2: not YAML: expected the node content, but found '<stream end>'"
    (fault,) = faults(file, "dataset: a\nfloors: {}\nfloors: {}\n")
    assert fault == "FILE:3: not YAML: the key 'floors' stands there twice"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("datset: h", "datset: unknown key; did you mean `dataset`?"),
        ("judge: {modle: m}", "judge.modle: unknown key; did you mean `model`?"),
        ("florrs: {}", "florrs: unknown key; did you mean `floors`?"),
        ("zzz: 1", "zzz: unknown key; known: dataset, reports, store, corpus, "),
        ("7: h", "7: Keys should be strings (given: 7)"),
        (
            "corpus: {colection: c}",
            "corpus.colection: unknown key; did you mean `collection`?",
        ),
        (
            "systems: {a: {timout: 3}}",
            "systems.a.timout: unknown key; did you mean `timeout`?",
        ),
        (
            "prices: {m.1: {input: 1, output: 2, cached: 1}}",
            "prices.m.1.cached: unknown key; did you mean `cached_input`?",
        ),
        ("prices: {m: {input: 1}}", "prices.m.output: is missing"),
        ("prices: {m: 1}", "prices.m: must be a mapping of keys to values"),
        ("generator: gpt", "generator: must be a mapping of keys to values"),
        (
            "corpus: {}",
            "corpus: location `:memory:` needs `chunks`, a JSONL file to build it from",
        ),
        ("resamples: 99", "resamples: Input should be greater than or equal to 100 (given: 99)"),
        ("baseline: no", "baseline: Input should be a valid string (given: False)"),
        ("patience: .inf", "patience: Input should be a finite number (given: inf)"),
        (
            "floors: {Recal@5: 0.5}",
            "floors: 'Recal@5' is no measure: there is no `Recal`; did you mean `Recall`?",
        ),
        ("floors: {Recall@5: 50}", "floors: Recall@5 is 0 to 1; 50 is no floor for it"),
        ("floors: {CostPerQuery: -1}", "floors: CostPerQuery is 0 or more; -1 is no floor for it"),
        ("floors: {MRR: .nan}", "floors.MRR: Input should be a finite number (given: nan)"),
        (
            "systems: {a: {ask: app.answer}}",
            "systems.a.ask: is written `package.module:name` (given: 'app.answer')",
        ),
        ("systems: {a: {ask: 'm:a', build: 'm:b'}}", "systems.a: give `ask` or `build`, not both"),
        ("systems: {a: {ask: 'm:a', options: {k: 1}}}", "systems.a: `options` are for `build`; "),
        (
            "systems: {a: {build: 'm:a', options: {day: 2026-01-01}}}",
            "systems.a.options: must hold text, finite numbers, ",
        ),
        ("systems: {a: {build: 'm:a', options: {x: .nan}}}", "systems.a.options: must hold text"),
        ("system: a\nvariants: [b, a]", "a stands in more than one role (system, baseline, "),
        ("variants: [b, b]", "b stands in more than one role (system, baseline, variants)"),
        ("system: a\nvariants: [baseline]", "baseline stands in more than one role"),
    ],
)
def test_a_fault_is_one_line_that_says_what_to_do(file: Path, text: str, fault: str) -> None:
    (found,) = faults(file, f"dataset: gold.jsonl\n{text}\n")
    assert found.startswith(f"FILE: {fault}")
    assert len(found.splitlines()) == 1


def test_all_faults_are_reported_in_one_go(file: Path) -> None:
    text = "resamples: 1\nsystm: x\nsystems: {a: {timeout: 0}, b: {concurrency: 0}}\n"
    assert len(faults(file, text)) == 5


def test_a_file_that_cannot_be_read(file: Path) -> None:
    file.write_bytes(b"dataset: \xff\n")
    assert faults(file) == ["FILE: is not UTF-8"]
    file.unlink()
    assert faults(file) == ["FILE: cannot be read: No such file or directory"]


def test_a_file_may_be_missing_where_options_are_enough(file: Path) -> None:
    file.unlink()
    told = {"dataset": "gold.jsonl", "system": "app:ask", "baseline": "none"}
    settings = load_settings(file, overrides=told, environ={}, optional=True)
    assert (settings.system, settings.baseline) == ("app:ask", None)
    assert settings.reports == (file.parent / "../reports").resolve()
    with pytest.raises(SettingsError, match="dataset: is missing"):
        load_settings(file, environ={}, optional=True)


def test_a_byte_order_mark_is_no_fault(file: Path) -> None:
    file.write_bytes("\ufeffdataset: g\n".encode())
    assert load(file).dataset.name == "g"


@pytest.mark.parametrize("text", ["baseline: null", "baseline: none", "baseline: 'none'"])
def test_there_may_be_no_baseline(file: Path, text: str) -> None:
    assert load(file, f"dataset: g\n{text}\n").baseline is None
    assert load(file, "dataset: g\nsystem: a\n").baseline == "baseline"
    assert load(file, "dataset: g\n").system == "baseline", "measured alone"


def test_floors_are_known_by_canonical_names(file: Path) -> None:
    found = load(file, "dataset: g\nfloors: {'Recall @ 5': 0.5, 'FilterF1(district)': 1}\n")
    assert found.floors == {"Recall@5": 0.5, "FilterF1(district)": 1}


@given(st.text(alphabet="a:[]{}*&!|>'\"#%@-, \n\t\x00é", max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "settings.yaml"
        path.write_bytes(text.encode())
        with pytest.raises(SettingsError) as raised:
            load_settings(path, environ={})
    assert all(fault.startswith(str(path)) for fault in raised.value.faults)


# -- environment and options ------------------------------------------------------------------


def test_an_option_beats_a_variable_beats_the_file(file: Path) -> None:
    text = "dataset: g\nsystem: in-file\n"
    environ = {"TOUCHSTONE_SYSTEM": "in-environment"}
    assert load(file, text).system == "in-file"
    assert load(file, environ=environ).system == "in-environment"
    assert load(file, environ=environ, overrides={"system": "option"}).system == "option"


def test_variables_reach_every_setting(file: Path) -> None:
    text = "dataset: g\nsystems: {MyBot: {build: 'm:b'}}\nfloors: {MRR: 0.1}\n"
    found = load(
        file,
        text,
        environ={
            "TOUCHSTONE_RESAMPLES": "500",
            "TOUCHSTONE_PATIENCE": "1.5",
            "TOUCHSTONE_BASELINE": "none",
            "TOUCHSTONE_VARIANTS": "[history, 'no']",
            "TOUCHSTONE_GENERATOR__MODEL": "2022",
            "TOUCHSTONE_GENERATOR__TEMPERATURE": "null",
            "TOUCHSTONE_SYSTEMS__MYBOT__TIMEOUT": "3",
            "TOUCHSTONE_SYSTEMS__MYBOT__OPTIONS__TOP_K": "7",
            "TOUCHSTONE_SYSTEMS__other__ASK": "m:other",
            "TOUCHSTONE_FLOORS": "{Recall@5: 0.25}",
            "TOUCHSTONE_PRICES": '{"gpt-4.1": {"input": 2, "output": 8}}',
            "touchstone_system": "not ours: variables are written in capitals",
        },
    )
    assert (found.resamples, found.patience, found.baseline) == (500, 1.5, None)
    assert found.variants == ("history", "no")
    assert (found.generator.model, found.generator.temperature) == ("2022", None)
    assert found.systems["MyBot"].timeout == 3
    assert found.systems["MyBot"].options == {"top_k": 7}
    assert found.systems["other"].ask == "m:other"
    assert found.floors == {"Recall@5": 0.25}, "a mapping takes the place of the file's"
    assert found.prices["gpt-4.1"].output == 8
    assert found.system == "baseline"


def test_paths_outside_the_file_are_relative_to_the_working_directory(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    found = load(
        file,
        environ={
            "TOUCHSTONE_REPORTS": "out",
            "TOUCHSTONE_STORE": "sqlite:///x.sqlite",
            "TOUCHSTONE_CORPUS__CHUNKS": "corpus.jsonl",
        },
        overrides={"dataset": "../other.jsonl"},
    )
    here = tmp_path / "here"
    assert found.reports == here / "out"
    assert found.store_url == f"sqlite:///{here}/x.sqlite"
    assert found.corpus is not None
    assert found.corpus.chunks == here / "corpus.jsonl"
    assert found.dataset == tmp_path / "other.jsonl"


def test_the_usual_variables_configure_endpoints(file: Path) -> None:
    environ = {
        "OPENAI_BASE_URL": "http://llm:8000/v1",
        "OPENAI_API_KEY": VALUE,
        "QDRANT_URL": "http://q:6333",
        "QDRANT_API_KEY": "q-" + VALUE,
    }
    found = load(file, environ=environ)
    assert found.generator.url == found.embedder.url == "http://llm:8000/v1"
    assert found.generator.effective_model == "gpt-4o-mini"
    assert found.corpus is not None
    assert found.corpus.location == "http://q:6333"
    assert set(found.secrets()) == {VALUE, "q-" + VALUE}
    assert load(file, environ={"OPENAI_API_KEY": VALUE}).generator.effective_model == "extractive"


@pytest.mark.parametrize("text", ["dataset: g\n", "dataset: g\ncorpus:\n"])
def test_a_key_alone_configures_no_collection(file: Path, text: str) -> None:
    assert load(file, text, environ={"QDRANT_API_KEY": VALUE}).corpus is None
    environ = {"QDRANT_API_KEY": VALUE, "TOUCHSTONE_CORPUS__LOCATION": "http://q:6333"}
    found = load(file, text, environ=environ).corpus
    assert found is not None
    assert found.api_key is not None


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("RESAMPLES", "many", ": resamples: Input should be a valid integer"),
        ("FLOORS", "{MRR: high}", ": floors.MRR: Input should be a valid number"),
        ("VARIANTS", "[a", ":1: not YAML: "),
        ("GENERATOR", "x", ": generator: must be a mapping of keys to values"),
        ("SETINGS", "x", ": setings: unknown key; known: dataset, "),
        ("GENERATOR__MODLE", "x", ": generator.modle: unknown key; did you mean `model`?"),
        ("EMBEDDER__TIMEOUT", "0", ": embedder.timeout: Input should be greater than 0"),
    ],
)
def test_a_wrong_variable_is_named(file: Path, name: str, value: str, fault: str) -> None:
    (found,) = faults(file, environ={f"TOUCHSTONE_{name}": value})
    assert found.startswith(f"environment variable TOUCHSTONE_{name}{fault}")


def test_a_wrong_option_is_named(file: Path) -> None:
    (fault,) = faults(file, overrides={"system": 3})
    assert fault == "command line: system: Input should be a valid string (given: 3)"


def test_a_section_that_is_none_stays_a_fault_under_a_variable(file: Path) -> None:
    (fault,) = faults(file, "dataset: g\ngenerator: 5\n", environ={"OPENAI_API_KEY": VALUE})
    assert fault == "FILE: generator: must be a mapping of keys to values"


# -- secrets ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        f"generator: {{api_key: [{VALUE}]}}",
        f"generator: {{api_key: *{VALUE}}}",
        f"generator: {{api_key: !{VALUE} x}}",
        f"generator: {{api_kee: {VALUE}}}",
        f"generator: {{api_key: {VALUE}, tries: 0}}",
        f"systems: {{a: {{build: 'm:b', options: {{token: {VALUE}, x: .nan}}}}}}",
    ],
)
def test_no_fault_of_the_file_repeats_a_secret(file: Path, text: str) -> None:
    assert VALUE not in "\n".join(faults(file, f"dataset: g\n{text}\n"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TOUCHSTONE_GENERATOR__API_KEY", f"[{VALUE}]"),
        ("TOUCHSTONE_API_TOKEN", VALUE),
        ("OPENAI_API_KEY", VALUE),
    ],
)
def test_no_fault_of_a_variable_repeats_a_secret(file: Path, name: str, value: str) -> None:
    assert VALUE not in "\n".join(faults(file, "resamples: 1\n", environ={name: value}))


FULL = f"""
dataset: gold.jsonl
store: postgresql://me:{VALUE}1@db/touchstone
corpus: {{location: 'https://u:{VALUE}2@q:6333?key={VALUE}3', api_key: {VALUE}4}}
embedder: {{model: /models/e5, api_key: {VALUE}5}}
generator: {{url: 'https://u:{VALUE}6@llm/v1', api_key: {VALUE}7}}
systems:
  mine:
    build: app:build
    options:
      top_k: 5
      max_tokens: 100
      apiKey: {VALUE}8
      index: /home/somebody/index
      drive: 'C:\\Users\\somebody\\index'
      service:
        headers: {{Authorization: Bearer {VALUE}9}}
        url: 'http://s/?token={VALUE}a'
      passwords: []
      many: [{{client_secret: {VALUE}b}}, 'https://me:{VALUE}c@s']
"""


def test_what_is_published_holds_no_secret_and_no_path_of_the_machine(file: Path) -> None:
    settings = load(file, FULL)
    text = json.dumps(settings.public())
    assert VALUE not in text
    assert "somebody" not in text
    assert str(file.parent) not in text
    public = settings.public()
    assert public["corpus"]["location"] == "https://q:6333"
    assert public["embedder"]["model"] == "e5"
    assert public["systems"]["mine"]["options"] == {
        "top_k": 5,
        "max_tokens": 100,
        "index": "index",
        "drive": "index",
        "service": {"headers": {}, "url": "http://s/"},
        "many": [{}, "https://s"],
    }


def test_every_secret_is_known_for_masking(file: Path) -> None:
    found = load(file, FULL).secrets()
    for mark in "124567b":
        assert VALUE + mark in found
    assert f"Bearer {VALUE}9" in found


def test_the_digest_is_of_what_makes_results(file: Path, tmp_path: Path) -> None:
    text = "dataset: g\nsystem: a\nfloors: {MRR: 0.5, 'Recall@5': 1}\ncorpus: {chunks: c.jsonl}\n"
    digest = load(file, text).digest
    assert re.fullmatch("[0-9a-f]{64}", digest)
    moved = tmp_path / "moved" / "settings.yaml"
    moved.parent.mkdir()
    same = "corpus: {chunks: c.jsonl}\nsystem: a\nfloors: {'Recall@5': 1.0, MRR: 0.5}\ndataset: h\n"
    assert load(moved, same + "reports: elsewhere\nstore: sqlite:///x\n").digest == digest
    assert load(file, text, environ={"OPENAI_API_KEY": VALUE}).digest == digest
    assert load(file, text, overrides={"system": "b"}).digest != digest
    assert load(file, text.replace("0.5", "0.6")).digest != digest


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
        max_leaves=12,
    )
)
def test_publishing_is_idempotent_and_keeps_shapes(data: Any) -> None:
    once = publishable(data)
    assert publishable(once) == once
    assert type(once) is type(data)
    if isinstance(data, list):
        assert len(once) == len(data)


def sections() -> list[str]:
    """The settings that are sections of their own."""
    kinds = {
        name: [field.annotation, *get_args(field.annotation)]
        for name, field in Settings.model_fields.items()
    }
    found = [n for n, those in kinds.items() if any(hasattr(one, "model_fields") for one in those)]
    return [f"{n}.x" if n in ("systems", "prices") else n for n in found]


@pytest.mark.parametrize("name", sections())
def test_every_section_tells_its_own_keys(file: Path, name: str) -> None:
    """One that the reader of settings forgot would end in a traceback."""
    nested = name.replace(".", ": {") + ": {no_such_key: 1}" + "}" * name.count(".")
    found = faults(file, f"dataset: gold.jsonl\n{nested}\n")
    assert any(f"{name}.no_such_key: unknown key" in fault for fault in found), found


def test_secrets_in_urls_and_headers_are_known_and_not_shown(file: Path) -> None:
    found = load(
        file,
        """
dataset: gold.jsonl
judge: {model: m, url: "https://me:judge-word-1@host/v1?api_key=judge-word-2"}
systems:
  mine:
    build: app:build
    options:
      headers: {Authorization: Bearer option-word-1}
      index: see https://me:option-word-2@host/x
""",
    )
    words = {"judge-word-1", "judge-word-2", "option-word-1", "option-word-2"}
    assert words <= set(found.secrets())
    shown = f"{found!r} {found} {found.systems!r} {found.judge}"
    assert "host/v1" in shown
    assert not [word for word in words if word in shown]
