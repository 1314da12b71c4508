"""The settings of the scorer: file, environment, faults, and what is kept secret."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_touchstone.settings import ScorerSettings, Settings
from pytest_touchstone.settings_file import SettingsError, load_settings

KEY = "sk-0123456789abcdef"


def load(folder: Path, text: str = "", **environ: str) -> Settings:
    path = folder / "settings.yaml"
    path.write_text(f"dataset: gold.jsonl\n{text}", "utf-8")
    return load_settings(path, environ=environ)


def faults(folder: Path, text: str, **environ: str) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as raised:
        load(folder, text, **environ)
    return raised.value.faults


def test_without_one_nothing_has_coverage(tmp_path: Path) -> None:
    assert load(tmp_path).scorer is None
    assert load(tmp_path, "scorer:\n", SCORER_API_KEY=KEY, SCORER_MODEL="m").scorer is None


def test_the_endpoint_alone_configures_it(tmp_path: Path) -> None:
    found = load(tmp_path, SCORER_ENDPOINT="http://gpu:8005").scorer
    assert found == ScorerSettings(url="http://gpu:8005")
    assert found.model == "BAAI/bge-reranker-v2-m3"
    assert (found.scale, found.window, found.concurrency) == (None, None, 32)


def test_the_environment_beats_the_file(tmp_path: Path) -> None:
    text = "scorer: {url: 'http://file:1', model: file, scale: logit, window: 512}\n"
    environ = {"SCORER_ENDPOINT": "http://env:2", "TOUCHSTONE_SCORER__SCALE": "probability"}
    found = load(tmp_path, text, **environ, SCORER_API_KEY=KEY).scorer
    assert found is not None
    assert (found.url, found.model, found.scale) == ("http://env:2", "file", "probability")
    assert found.window == 512
    assert found.api_key is not None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("scorer: {}\n", "needs the `url` of a server (SCORER_ENDPOINT)"),
        ("scorer: {url: 'gpu:8005'}\n", "starts with http:// or https://"),
        ("scorer: {url: 'ftp://gpu'}\n", "starts with http:// or https://"),
        ("scorer: {url: 'http://gpu:99999'}\n", "starts with http:// or https://"),
        ("scorer: {url: 'http://gpu', scale: cosine}\n", "'probability' or 'logit'"),
        ("scorer: {url: 'http://gpu', window: 10}\n", "greater than or equal to 64"),
        ("scorer: {url: 'http://gpu', endpoint: x}\n", "unknown key"),
    ],
)
def test_faults_are_one_line_with_the_key(tmp_path: Path, text: str, said: str) -> None:
    (fault,) = faults(tmp_path, text)
    assert "scorer" in fault
    assert said in fault
    assert "\n" not in fault


def test_a_faulty_variable_is_named(tmp_path: Path) -> None:
    (fault,) = faults(tmp_path, "", SCORER_ENDPOINT="gpu")
    assert "environment variable SCORER_ENDPOINT" in fault


def test_key_and_password_are_secret(tmp_path: Path) -> None:
    text = "scorer: {url: 'https://me:hemligt-ord@gpu:8005/v1?sig=abc'}\n"
    found = load(tmp_path, text, SCORER_API_KEY=KEY)
    assert {KEY, "hemligt-ord"} <= set(found.secrets())
    published: dict[str, Any] = found.public()["scorer"]
    assert published["url"] == "https://gpu:8005/v1"
    assert KEY not in str(published)
    assert "api_key" not in published
