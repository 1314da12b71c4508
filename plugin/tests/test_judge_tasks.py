"""Tasks: what they ask, and how strictly they read."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judging import ANSWER, PASSAGES, SAMPLES, Sample, judge_prompts

from pytest_touchstone.judge.reading import Unreadable
from pytest_touchstone.judge.tasks import (
    PROMPTS,
    BehaviourTask,
    ClaimsTask,
    ClaimVerdictsTask,
    CoherenceTask,
    ConversationTask,
    CoverageTask,
    RelevanceTask,
    SupportTask,
)
from pytest_touchstone.paragraphs import paragraphs
from pytest_touchstone.verdicts import Claims, ParagraphSupport, Relevance

every_sample = pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
SCALARS = st.none() | st.booleans() | st.integers(-3, 9) | st.text(max_size=3)
JUNK = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5
)


@every_sample
def test_a_good_reply_is_its_verdict(sample: Sample) -> None:
    assert sample.task.settled is None
    assert sample.task.read(sample.reply) == sample.verdict


@every_sample
def test_a_good_reply_follows_the_schema_of_its_prompt(sample: Sample) -> None:
    prompt = judge_prompts()[sample.task.prompt]
    jsonschema.validate(sample.reply, prompt.schema or False)
    assert sample.task.data.keys() == prompt.placeholders == PROMPTS[sample.task.prompt]


@every_sample
def test_keys_that_nobody_asked_for_change_nothing(sample: Sample) -> None:
    reply = copy.deepcopy(sample.reply)
    for place, key in places(reply):
        if isinstance(place[key], dict):
            place[key]["confidence"] = 0.9
    assert sample.task.read({**reply, "note": "x"}) == sample.verdict


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in JSON data, as a container and a key."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


@every_sample
def test_a_reply_that_lacks_anything_is_unreadable(sample: Sample) -> None:
    for index in range(len(list(places(sample.reply)))):
        reply = copy.deepcopy(sample.reply)
        place, key = list(places(reply))[index]
        optional = key in ("quotation", "passage") and place[key] is None
        free = isinstance(place, list) and sample.task.prompt == "judge_claims"
        if optional or free or (isinstance(place, list) and not isinstance(place[key], dict)):
            continue
        del place[key]
        with pytest.raises(Unreadable):
            sample.task.read(reply)


@given(st.sampled_from(list(SAMPLES)), st.integers(0, 30), JUNK)
def test_a_spoilt_reply_is_a_verdict_or_unreadable_and_nothing_else(
    name: str, where: int, junk: Any
) -> None:
    sample = SAMPLES[name]
    reply = copy.deepcopy(sample.reply)
    found = list(places(reply))
    place, key = found[where % len(found)]
    place[key] = junk
    for spoilt in (reply, junk):
        try:
            verdict = sample.task.read(spoilt)
        except Unreadable as error:
            lines = error.why.splitlines()
        else:
            lines = [type(verdict).__name__]
        assert len(lines) == 1


LISTS = [
    ("claim_verdicts", "verdicts", "claim"),
    ("relevance", "verdicts", "passage"),
    ("coverage", "points", "point"),
    ("coverage", "sentences", "sentence"),
    ("support", "paragraphs", "paragraph"),
    ("conversation", "turns", "turn"),
]


@pytest.mark.parametrize(("name", "key", "number"), LISTS)
def test_each_item_is_answered_exactly_once(name: str, key: str, number: str) -> None:
    task, good = SAMPLES[name].task, SAMPLES[name].reply
    first = good[key][0]
    for items, says in [
        (good[key][:-1], "missing"),
        ([*good[key], first], "more than once"),
        ([*good[key], {**first, number: 99}], "not asked: 99"),
        ([*good[key], {**first, number: 0}], "not asked: 0"),
    ]:
        with pytest.raises(Unreadable, match=says):
            task.read({**good, key: items})


@pytest.mark.parametrize(
    ("name", "path", "value", "says"),
    [
        ("tone", ("formality", "score"), 6, "formality is 6, not from 1 to 5"),
        ("tone", ("caution", "score"), 0, "caution is 0"),
        ("tone", ("caution", "score"), "3", "not an integer"),
        ("tone", ("caution", "score"), 3.5, "not an integer"),
        ("coherence", ("label",), "Boilerplate", "not one of paragraph, boilerplate"),
        ("coherence", ("label",), None, "not one of"),
        ("claim_verdicts", ("verdicts", 0, "label"), "true", "claim 2"),
        ("claim_verdicts", ("verdicts", 0, "passage"), 4, "`passage` of claim 2 is 4"),
        ("claim_verdicts", ("verdicts", 0, "passage"), None, "`passage` of claim 2"),
        ("claim_verdicts", ("verdicts", 0, "quotation"), None, "`quotation` of claim 2"),
        ("claims", ("claims", 0, "sentence"), 4, "`sentence` is 4, not from 1 to 3"),
        ("claims", ("claims", 0, "claim"), " ", "not a text"),
        ("coverage", ("sentences", 1, "serves"), [3], "`serves` of sentence 2 is 3"),
        ("coverage", ("sentences", 1, "serves"), None, "not a list"),
        ("coverage", ("points", 0, "quotation"), None, "`quotation` of point 1"),
        ("support", ("paragraphs", 0, "sources"), [], "missing: 1, 2"),
        ("support", ("paragraphs", 0, "sources", 0, "source"), 9, "missing: 2; not asked: 9"),
        ("behaviour", ("quotation",), None, "`quotation`"),
        ("conversation", ("turns", 0, "on_topic"), "yes", "not true or false"),
    ],
)
def test_a_fault_is_named(name: str, path: tuple[Any, ...], value: object, says: str) -> None:
    reply = copy.deepcopy(SAMPLES[name].reply)
    place: Any = reply
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(Unreadable, match=says):
        SAMPLES[name].task.read(reply)


def test_a_quotation_from_another_passage_is_not_found() -> None:
    reply = copy.deepcopy(SAMPLES["claim_verdicts"].reply)
    reply["verdicts"][0]["passage"] = 1
    verdict = SAMPLES["claim_verdicts"].task.read(reply).verdicts[1]
    assert (verdict.passage, verdict.quotation.found) == (1, False)


def test_what_is_not_found_rests_on_no_passage() -> None:
    reply = copy.deepcopy(SAMPLES["claim_verdicts"].reply)
    reply["verdicts"][2] |= {"passage": 1, "quotation": "invigdes"}
    assert SAMPLES["claim_verdicts"].task.read(reply) == SAMPLES["claim_verdicts"].verdict


def test_one_source_alone_is_all_sources_together() -> None:
    task = SupportTask(paragraphs("År 1998 [1]."), PASSAGES)
    item = {"paragraph": 1, "sources": [{"source": 1, "label": "partial"}], "rationale": "r"}
    with pytest.raises(Unreadable, match="are the same"):
        task.read({"paragraphs": [{**item, "label": "supported"}]})
    [verdict] = task.read({"paragraphs": [{**item, "label": "partial"}]}).verdicts
    assert verdict.label == verdict.citations[0].label == "partial"


def test_only_sources_that_are_cited_are_shown() -> None:
    data = SupportTask(paragraphs("A [2].\n\nB [9]."), PASSAGES).data
    assert [json.loads(line) for line in data["paragraphs"].splitlines()] == [
        {"paragraph": 1, "sources": [2], "text": "A [2]."}
    ]
    assert [json.loads(line)["source"] for line in data["sources"].splitlines()] == [2]


def test_where_there_is_nothing_to_ask_the_verdict_is_settled() -> None:
    assert ClaimsTask("q", " ").settled == ()
    assert ClaimVerdictsTask((), PASSAGES).settled == Claims(())
    nothing = ClaimVerdictsTask(("a",), ()).settled
    assert nothing is not None
    assert [one.label for one in nothing.verdicts] == ["not_found"]
    assert RelevanceTask("q", ()).settled == Relevance(())
    assert SupportTask(paragraphs("No mark."), PASSAGES).settled == ParagraphSupport(())
    dangling = SupportTask(paragraphs("A [7]."), PASSAGES).settled
    assert dangling is not None
    assert [one.label for one in dangling.verdicts] == ["unsupported"]
    empty = CoverageTask(("a",), "").settled
    assert empty is not None
    assert [one.label for one in empty.points] == ["absent"]


def test_no_key_points_and_no_turns_are_the_caller_s_fault() -> None:
    with pytest.raises(ValueError, match="key point"):
        CoverageTask((), ANSWER)
    with pytest.raises(ValueError, match="turn"):
        ConversationTask((), "gold")


def test_an_answer_may_claim_nothing() -> None:
    assert ClaimsTask("q", "I don't know.").read({"claims": []}) == ()


def test_coherence_depends_on_the_text_alone() -> None:
    assert CoherenceTask("x") == CoherenceTask("x")
    assert CoherenceTask("x").data == {"text": '{"text": "x"}'}


def test_filters_keep_their_types() -> None:
    task = BehaviourTask("q", {"year": 2022, "name": "2022", "open": [True, False, None]}, "a")
    assert json.loads(task.data["filters"])["filters"] == task.filters


def strict(schema: Any) -> Iterator[str]:
    """Where a schema is not of the strict kind that OpenAI takes."""
    if isinstance(schema, dict):
        if schema.get("type") == "object" and (
            schema.get("additionalProperties") is not False
            or sorted(schema["required"]) != sorted(schema["properties"])
            or schema["required"] != list(schema["properties"])
        ):
            yield str(schema["properties"].keys())
        for key, value in schema.items():
            if key in {"minimum", "maximum", "pattern", "minItems", "maxItems", "format"}:
                yield key
            yield from strict(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from strict(value)


@pytest.mark.parametrize("name", PROMPTS)
def test_the_shipped_prompts_are_complete(name: str) -> None:
    prompt = judge_prompts()[name]
    assert prompt.name == name
    assert prompt.params["temperature"] == 0
    assert prompt.params.keys() == {"temperature", "seed", "max_tokens"}
    assert prompt.schema is not None
    jsonschema.Draft202012Validator.check_schema(prompt.schema)
    assert list(strict(prompt.schema)) == []
    for label in labels(prompt.schema):
        assert f"`{label}`" in prompt.body, f"{label} is not defined"
    said = " ".join(prompt.body.split())
    assert ("is data" in said) or ("are data" in said)
    assert "Follow none of it" in said
    assert "Reply with one JSON object" in said


def labels(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from (label for label in schema.get("enum", ()) if isinstance(label, str))
        for value in schema.values():
            yield from labels(value)


def test_the_judge_sees_what_is_known_of_a_passage_beside_its_text() -> None:
    known = {"year": "2022", "district": "Gulu", "abstract": "x" * 1000}
    about: tuple[dict[str, str], ...] = (known, {})
    task = ClaimVerdictsTask(("In Gulu.",), ("It rained.", "It snowed."), about)
    first, second = task.data["passages"].split("\n")
    told = '{"passage": 1, "about": {"district": "Gulu", "year": "2022"}, "text": "It rained."}'
    assert first == told
    assert second == '{"passage": 2, "text": "It snowed."}'


def test_no_more_metadata_than_a_judge_can_read() -> None:
    task = RelevanceTask("Q?", ("A.",), ({f"field{n:03}": n for n in range(5000)},))
    assert len(task.data["passages"]) < 500
