"""What a report was made of against what is here: each thing that differs is named."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
from hostile import bare_report

from pytest_touchstone.report import Report
from pytest_touchstone.report.model import Gold
from pytest_touchstone.reproducing.check import Item, after_a_run, checked
from pytest_touchstone.reproducing.here import Here, without_project
from pytest_touchstone.reproducing.lines import check_lines, verdict_lines
from pytest_touchstone.reproducing.verdict import Verdict, Word

CHUNK = {"text": "As it was.", "metadata": {"year": "2022"}}
OTHERS = {f"p{n}": {"text": f"Passage {n}.", "metadata": {}} for n in range(3)}


def report() -> Report:
    """A report about two questions of three, with four passages."""
    found: Any = copy.deepcopy(bare_report())
    snapshot = found["snapshot"]
    snapshot["commit"], snapshot["dirty"] = "a" * 40, False
    snapshot["dataset"] = {"path": "gold.jsonl", "sha256": "0" * 64, "counts": {"factual": 2}}
    snapshot["corpus"] = {"collection": "c", "points": 9, "chunks": 1, "sha256": "1" * 64}
    snapshot["settings"] = {"resamples": 100, "generator": {"temperature": 0.0, "model": None}}
    snapshot["prompts"] = {"baseline_answer": "2" * 64, "judge_claims": "3" * 64}
    snapshot["systems"] = {"mine": {"ask": "app:mine"}}
    snapshot["models"] = {"generator": {"model": "g"}, "judge": {"model": "j"}}
    snapshot["prices"] = {"g": {"input": 1, "cached_input": 1, "output": 2, "date": "2026-11-01"}}
    snapshot["packages"] = {"numpy": "2.0"}
    entry = found["cases"][0]
    texts = {"c1": CHUNK} | OTHERS
    found["passages"] = {f"digest of {name}": text for name, text in texts.items()}
    entry["passages"] = [{"id": n, "score": None, "digest": f"digest of {n}"} for n in texts]
    found["cases"] = [
        entry
        | {"case": name, "gold": {"id": name, "type": "factual", "question": f"What is {name}?"}}
        for name in ("q1", "q2")
    ]
    return cast(Report, found)


def here(**changes: Any) -> Here:
    """What is here: all as it was then, but for these."""
    then = report()
    known: dict[str, Any] = {
        key: copy.deepcopy(value)
        for key, value in then["snapshot"].items()
        if key not in ("run", "schema_version", "canaries", "results_sha256")
    }
    questions = {case["case"]: case["gold"] for case in then["cases"]}
    chunks = {"c1": CHUNK} | OTHERS
    for key, value in changes.items():
        if key == "questions":
            questions = questions | value
            known["dataset"]["sha256"] = "9" * 64
        elif key == "chunks":
            chunks = chunks | value
        else:
            known[key] = known[key] | value if isinstance(value, dict) else value
    return Here(
        known,
        {name: gold for name, gold in questions.items() if gold},
        frozenset(entry["measure"] for entry in then["measures"]),
        cast(Any, {name: chunk for name, chunk in chunks.items() if chunk}),
    )


def differing(now: Here, then: Report | None = None) -> dict[str, list[str]]:
    items = checked(then or report(), now)
    return {item.name: list(item.differences) for item in items if item.standing == "differs"}


def test_where_nothing_changed_all_holds() -> None:
    items = checked(report(), here())
    assert {item.standing for item in items} == {"holds"}
    assert [item.name for item in items] == [
        *("commit", "dataset", "measures", "settings", "systems", "models", "prompts"),
        *("corpus", "prices", "packages"),
    ]


def gold(name: str, **labels: Any) -> Gold:
    return cast(Gold, {"id": name, "type": "factual", "question": f"What is {name}?", **labels})


@pytest.mark.parametrize(
    ("change", "name", "lines"),
    [
        ({"commit": "b" * 40}, "commit", ["commit: aaaaaaaaaaaa → bbbbbbbbbbbb"]),
        (
            {"questions": {"q1": gold("q1", answer="It is."), "q2": None, "q3": gold("q3")}},
            "dataset",
            ['q1: changed in answer (null → "It is.")', "q2: removed", "q3: added"],
        ),
        ({"questions": {}}, "dataset", ["sha256: 000000000000 → 999999999999, in none of the"]),
        (
            {"settings": {"generator": {"temperature": 0.7, "model": None}}},
            "settings",
            ["generator.temperature: 0.0 → 0.7"],
        ),
        ({"settings": {"seed": 3}}, "settings", ["seed: absent → 3"]),
        (
            {"systems": {"mine": {"ask": "app:other"}}},
            "systems",
            ['mine.ask: "app:mine" → "app:ot'],
        ),
        ({"models": {"judge": {"model": "k"}}}, "models", ['judge.model: "j" → "k"']),
        (
            {"prompts": {"judge_claims": "4" * 64}},
            "prompts",
            ["judge_claims: 333333333333 → 444444444444"],
        ),
        ({"corpus": {"points": 10}}, "corpus", ["points: 9 → 10"]),
        (
            {"chunks": {"c1": {"text": "Otherwise.", "metadata": {"year": 2022}}}},
            "corpus",
            ["chunk c1: changed in metadata, text"],
        ),
        ({"chunks": {"c1": None}}, "corpus", ["chunk c1: is not there any more"]),
        (
            {"prices": {"g": {"input": 1, "cached_input": 1, "output": 3, "date": "2026-12-01"}}},
            "prices",
            ["g.output: 2 → 3"],
        ),
        ({"packages": {"numpy": "2.1"}}, "packages", ['numpy: "2.0" → "2.1"']),
    ],
)
def test_what_changed_is_named_and_nothing_else(
    change: Mapping[str, Any], name: str, lines: list[str]
) -> None:
    found = differing(here(**change))
    assert list(found) == [name]
    assert len(found[name]) == len(lines)
    for line, start in zip(found[name], lines, strict=True):
        assert line.startswith(start)


def test_a_price_of_another_day_holds() -> None:
    same = {"g": {"input": 1, "cached_input": 1, "output": 2, "date": "2026-12-24"}}
    assert differing(here(prices=same)) == {}


def test_passages_in_words_of_a_systems_own_are_no_changed_corpus() -> None:
    now = here(chunks={name: {"text": "Longer.", "metadata": {}} for name in OTHERS})
    assert differing(now) == {}
    changed = here(chunks={"p0": {"text": "Longer.", "metadata": {}}})
    assert differing(changed) == {"corpus": ["chunk p0: changed in text"]}


@pytest.mark.parametrize(
    ("then", "now", "said"),
    [
        ((None, None), (None, None), "there was none, and there is none"),
        (("a" * 40, True), ("a" * 40, False), "aaaaaaaaaaaa, with uncommitted changes then"),
        (("a" * 40, True), ("a" * 40, True), "aaaaaaaaaaaa, with uncommitted changes then and now"),
    ],
)
def test_a_commit_that_says_nothing(then: Any, now: Any, said: str) -> None:
    before = report()
    before["snapshot"]["commit"], before["snapshot"]["dirty"] = then
    commit = checked(before, here(commit=now[0], dirty=now[1]))[0]
    assert commit == Item("commit", "unknown", said)


def test_of_part_of_the_questions_no_other_is_called_new() -> None:
    then = report()
    then["snapshot"]["dataset"]["counts"] = {"factual": 5}
    now = here(questions={"q1": gold("q1", answer="So."), "q3": gold("q3")}, corpus={"chunks": 7})
    assert differing(now, then) == {"dataset": ['q1: changed in answer (null → "So.")']}, (
        "nor is a digest over other chunks another collection"
    )


def test_a_measure_that_no_test_takes_is_named() -> None:
    then, now = report(), here()
    then["measures"] = [*then["measures"], then["measures"][0] | {"measure": "Gone"}]
    assert differing(now, then) == {"measures": ["Gone: no test here takes it"]}


def test_without_a_project_packages_alone_can_be_told() -> None:
    then = report()
    then["snapshot"]["prompts"] = {"baseline_answer": "2" * 64, "gone": "3" * 64}
    items = {item.name: item for item in checked(then, without_project(then, "there is none"))}
    unknown = {name for name, item in items.items() if item.standing == "unknown"}
    assert unknown == items.keys() - {"prompts", "packages"}
    assert items["settings"].said == "there is none"
    assert [line.split(":")[0] for line in items["prompts"].differences] == [
        "baseline_answer",
        "gone",
    ]


def test_what_a_model_says_when_it_is_asked_is_known_after_a_run() -> None:
    again = report()
    again["snapshot"]["models"]["scorer"] = {"model": "s", "scale": "logit"}
    items = after_a_run(checked(report(), here()), report(), again)
    (models,) = (item for item in items if item.standing == "differs")
    assert models.name == "models"
    assert after_a_run(items[:1], report(), report()) == items[:1]


def without(now: Here, *roles: str) -> Here:
    models = {k: v for k, v in now.known["models"].items() if k not in roles}
    return replace(now, known={**now.known, "models": models}, why_not="nobody is there")


def test_models_hold_where_all_of_them_are_known() -> None:
    then = report()
    then["snapshot"]["models"]["embedder"] = {"model": None}
    (models,) = (i for i in checked(then, without(here(), "embedder")) if i.name == "models")
    assert models.standing == "holds", "there was none"
    (models,) = (i for i in checked(then, without(here(), "judge")) if i.name == "models")
    assert models == Item("models", "unknown", "judge: nobody is there")
    now = without(here(models={"generator": {"model": "k"}}), "judge")
    (models,) = (i for i in checked(then, now) if i.name == "models")
    assert models.standing == "differs", "what is known to differ does"
    now = here(settings={"scorer": {"model": "another"}})
    (models,) = (i for i in checked(then, now) if i.name == "models")
    assert models == Item("models", "unknown", "the settings name another scorer")


@pytest.mark.parametrize("name", ["mine", "+filters", "a.b c"])
def test_changed_code_is_named(name: str) -> None:
    then = report()
    then["snapshot"]["systems"] = {name: {"source_sha256": "a" * 64, "ask": "app:mine"}}
    now = here()
    now = replace(
        now,
        known={**now.known, "systems": {name: {"source_sha256": "b" * 64, "ask": "app:mine"}}},
    )
    (line,) = differing(now, then)["systems"]
    assert line.endswith(": its code changed (aaaaaaaaaaaa → bbbbbbbbbbbb)")
    assert name in line


def test_an_older_report_does_not_say_what_the_code_was() -> None:
    now = here(systems={"mine": {"ask": "app:mine", "source_sha256": "b" * 64}})
    items = {item.name: item for item in checked(report(), now)}
    assert items["systems"] == Item(
        "systems", "holds", "mine; the report does not say what their code was"
    )


def verdict_line(items: Sequence[Item], then: Report, word: Word = "different") -> str:
    return next(
        iter(
            verdict_lines(
                Verdict(word, (), (), (1, 2), 0.95), items, then, replayed=False, width=200
            )
        )
    )


def test_a_system_is_called_unsteady_only_where_its_code_is_known() -> None:
    then = report()
    unsteady, untold = "does not give the same twice.", "what it was cannot be told."
    items = checked(then, here())
    assert verdict_line(items, then).endswith(unsteady), "the commit is the same"
    items[0] = Item("commit", "unknown", "there was none, and there is none")
    assert verdict_line(items, then).endswith(untold)
    then["snapshot"]["systems"]["mine"]["source_sha256"] = "a" * 64
    assert verdict_line(items, then).endswith(unsteady), "so is the code"
    items[4] = Item("systems", "unknown", "nobody is there")
    assert verdict_line(items, then).endswith(untold)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("prompts",), "although prompts are not the same."),
        (("corpus",), "although corpus is not the same."),
        (("commit", "corpus"), "although commit and corpus are not the same."),
    ],
)
def test_what_differs_beside_a_report_that_came_out(names: Sequence[str], said: str) -> None:
    items = [Item(name, "differs", "", ["so"]) for name in names]
    assert verdict_line(items, report(), "within the interval").endswith(said)


def test_lines_are_safe_and_not_too_many() -> None:
    evil = "\x1b[31m\u202e\n"
    item = Item("dataset", "differs", evil, [f"{evil}{n}" for n in range(30)])
    lines = list(check_lines([item]))
    assert len(lines) == 12
    assert lines[-1] == "      and 20 more"
    assert not any(char in line for line in lines for char in "\x1b\u202e\n")
