"""Measures as values: names that read back, and what a failed system gets."""

from __future__ import annotations

import keyword
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_touchstone.gold import Case, GoldChunk, GoldMessage
from pytest_touchstone.measures import (
    JUDGEMENTS,
    MEASURES,
    MRR,
    AcceptableBehaviour,
    Caution,
    Coherence,
    Contradictions,
    CostPerQuery,
    Faithfulness,
    FilterExactMatch,
    FilterF1,
    FilterPrecision,
    FilterRecall,
    FiltersRemembered,
    Formality,
    JointGoalAccuracy,
    KeyPointCoverage,
    Measure,
    OnTopic,
    Padding,
    ParagraphRelevance,
    Recall,
    RougeL,
    RougeLsum,
    SilentFailure,
    TaskCompletion,
    Uncited,
    Unresolved,
    nDCG,
    parse,
)
from pytest_touchstone.score import SYSTEM_ERROR
from pytest_touchstone.trace import Answer, Observation, Passage, SystemFault, Turn
from pytest_touchstone.verdicts import NoVerdict


@pytest.mark.parametrize(
    ("measure", "name", "title"),
    [
        (Recall, "Recall", "Recall"),
        (Recall @ 5, "Recall@5", "Recall@5"),
        (MRR, "MRR", "MRR"),
        (MRR @ 10, "MRR@10", "MRR@10"),
        (nDCG @ 10, "nDCG@10", "nDCG@10"),
        (FilterExactMatch, "FilterExactMatch", "Filter exact match"),
        (FilterPrecision, "FilterPrecision", "Filter precision"),
        (FilterRecall("year"), "FilterRecall(year)", "Filter recall (year)"),
        (FilterF1("district"), "FilterF1(district)", "Filter F1 (district)"),
        (FilterF1("län"), "FilterF1(län)", "Filter F1 (län)"),
        (FilterF1("meta.year"), "FilterF1('meta.year')", "Filter F1 ('meta.year')"),
        (FilterF1("class"), "FilterF1('class')", "Filter F1 ('class')"),
        (FilterF1("ﬁeld"), "FilterF1('ﬁeld')", "Filter F1 ('ﬁeld')"),
        (JointGoalAccuracy, "JointGoalAccuracy", "Joint goal accuracy"),
        (AcceptableBehaviour, "AcceptableBehaviour", "Acceptable behaviour"),
        (SilentFailure, "SilentFailure", "Silent failure"),
        (CostPerQuery, "CostPerQuery", "Cost per query (USD)"),
        (Faithfulness, "Faithfulness", "Faithfulness"),
        (Contradictions, "Contradictions", "Contradictions"),
        (Coherence, "Coherence", "Coherence"),
        (ParagraphRelevance, "ParagraphRelevance", "Paragraph relevance"),
        (RougeL, "RougeL", "ROUGE-L"),
        (RougeLsum, "RougeLsum", "ROUGE-Lsum"),
        (KeyPointCoverage, "KeyPointCoverage", "Key point coverage"),
        (Padding, "Padding", "Padding"),
        (Formality, "Formality", "Formality (1-5)"),
        (Caution, "Caution", "Caution (1-5)"),
        (TaskCompletion, "TaskCompletion", "Task completion"),
        (OnTopic, "OnTopic", "On topic"),
        (FiltersRemembered, "FiltersRemembered", "Filters remembered"),
    ],
)
def test_name_and_title(measure: Measure, name: str, title: str) -> None:
    assert (measure.name, measure.title) == (name, title)
    assert (str(measure), repr(measure)) == (name, name)
    assert parse(name) == measure


def test_other_spellings_are_read_as_the_canonical_one() -> None:
    assert parse(" Recall @ 5 ") == Recall @ 5
    assert parse('FilterF1("district")') == FilterF1("district")
    # One letter or a letter and a combining ring: the same field, as Unicode has it.
    assert FilterF1("a\u030ar") == FilterF1("\u00e5r")
    assert parse("FilterF1('a\u030ar')").name == "FilterF1(\u00e5r)"


field_names = st.text(min_size=1, max_size=20).filter(str.strip) | st.sampled_from(keyword.kwlist)
measures = st.one_of(
    st.sampled_from(list(MEASURES.values())),
    st.builds(
        lambda base, cutoff: base @ cutoff,
        st.sampled_from([Recall, MRR, nDCG]),
        st.integers(1, 10**9),
    ),
    st.builds(
        lambda base, field: base(field),
        st.sampled_from([FilterExactMatch, FilterPrecision, FilterRecall, FilterF1]),
        field_names,
    ),
)


@given(measures)
@example(FilterF1("')"))
@example(FilterF1("a\"'\\\n\0"))
@example(FilterF1("\ud800"))
@example(FilterF1("𝐱"))
@example(FilterF1("None"))
@example(FilterF1("\U000e0001" * 200))
def test_every_measure_reads_back_from_its_name(measure: Measure) -> None:
    back = parse(measure.name)
    assert back == measure
    assert hash(back) == hash(measure)
    assert {measure: 1}[back] == 1
    assert measure.name.isprintable()


def test_measures_of_different_kinds_are_different() -> None:
    values = [*MEASURES.values(), Recall @ 5, nDCG @ 5, Recall @ 10]
    values += [FilterF1("a"), FilterRecall("a"), FilterF1("b")]
    assert len(set(values)) == len(values)
    assert list(MEASURES) == [measure.name for measure in MEASURES.values()]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "write it like `Recall@5`, `MRR` or `FilterF1(district)`"),
        ("   ", "write it like"),
        ("Recal@5", "there is no `Recal`; did you mean `Recall`?"),
        ("recall@5", "did you mean `Recall`?"),
        ("ndcg@10", "did you mean `nDCG`?"),
        ("RR", "did you mean `MRR`?"),
        ("FilterF2", "did you mean `FilterF1`?"),
        ("filterf1(district)", "did you mean `FilterF1`?"),
        ("AcceptableBehavior", "did you mean `AcceptableBehaviour`?"),
        ("Zzz", "known: Recall, MRR, nDCG, Coherence"),
        ("Recall@0", "needs a whole number k from 1, not 0"),
        ("Recall@5.0", "needs a whole number k from 1, not 5.0"),
        ("Recall@True", "needs a whole number k from 1, not True"),
        ("Recall@'5'", "needs a whole number k from 1, not '5'"),
        ("Recall@-1", "write it like"),
        ("Recall@k", "write it like"),
        ("Recall@5@10", "write it like"),
        ("Recall@(1+4)", "write it like"),
        ("Recall@" + "9" * 5000, "write it like"),
        ("Recall@", "write it like"),
        ("Recall*5", "write it like"),
        ("Recall(5)", "Recall takes no field; write `Recall`"),
        ("CostPerQuery@5", "CostPerQuery takes no cutoff; write `CostPerQuery`"),
        ("FilterF1@5", "FilterF1 takes no cutoff"),
        ("JointGoalAccuracy(year)", "JointGoalAccuracy takes no field"),
        ("FilterF1()", "write it like"),
        ("FilterF1(a, b)", "write it like"),
        ("FilterF1(a)(b)", "write it like"),
        ("FilterF1(field=a)", "write it like"),
        ("FilterF1(meta.year)", "write it like"),
        ("FilterF1(3)", "needs the name of a field, not 3"),
        ("FilterF1('')", "needs the name of a field, not ''"),
        ("FilterF1(' ')", "needs the name of a field, not ' '"),
        ("Recall\n@5", "write it like"),
        ("Recall\0", "write it like"),
        ("Recall\ud800", "write it like"),
        ("(" * 300, "write it like"),
        ("-" * 400 + "1", "write it like"),
        ("(" * 100_000, "write it like"),
        ("-" * 2400 + "1", "write it like"),
        ("Recall #" + "x" * 2500, "write it like"),
        (f"FilterF1({'x' * 201})", "the name of a field has at most 200 characters"),
        ("lambda: Recall", "write it like"),
    ],
)
def test_a_malformed_name_is_refused_in_one_useful_line(name: str, message: str) -> None:
    with pytest.raises(ValueError, match="is no measure: ") as raised:
        parse(name)
    assert message in str(raised.value)
    assert str(raised.value).isprintable()


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("ROUGE-L", "RougeL"),
        ("filter exact match", "FilterExactMatch"),
        ("Cost per query (USD)", "CostPerQuery"),
        ("Formality", None),
        ("Coverage recall", "CoverageRecall"),
    ],
)
def test_what_stands_in_the_table_leads_to_the_name(title: str, name: str | None) -> None:
    if name is None:
        assert parse(title).name == title
        return
    with pytest.raises(ValueError, match=f"title of a measure: its name is `{name}`$"):
        parse(title)


@pytest.mark.parametrize(
    "code",
    [
        "touched.append(1)",
        "[touched.append(1)]",
        "Recall @ touched.append(1)",
        "FilterF1(touched.append(1))",
        "FilterF1(f'{touched.append(1)}')",
        "__import__('builtins').touched.append(1)",
        "(lambda: touched.append(1))()",
    ],
)
def test_nothing_in_a_name_is_evaluated(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    touched: list[int] = []
    monkeypatch.setattr("builtins.touched", touched, raising=False)
    with pytest.raises(ValueError, match="is no measure"):
        parse(code)
    assert touched == []


@given(st.text(max_size=30) | st.text("RecalMnDCG@(')5\"\\., ", max_size=12))
def test_any_text_is_a_measure_or_a_value_error(name: str) -> None:
    try:
        measure = parse(name)
    except ValueError as refused:
        message = str(refused)
    else:
        assert parse(measure.name) == measure
        return
    assert "is no measure: " in message


@pytest.mark.parametrize("cutoff", [0, -1, True, 2.0, "5", None])
def test_a_cutoff_is_a_whole_number_from_1(cutoff: Any) -> None:
    with pytest.raises(ValueError, match="Recall@k needs a whole number k from 1"):
        Recall @ cutoff


def test_a_cutoff_and_a_field_are_given_once() -> None:
    with pytest.raises(ValueError, match="Recall@5 has its cutoff already"):
        Recall @ 5 @ 10
    with pytest.raises(ValueError, match=r"FilterF1\(a\) has its field already"):
        FilterF1("a")("b")
    with pytest.raises(ValueError, match="needs the name of a field"):
        FilterF1("")
    with pytest.raises(ValueError, match="at most 200 characters"):
        FilterF1("x" * 201)


CASE = Case(
    "c",
    "edge_case",
    "Anything from Gulu in 2031?",
    history=(GoldMessage("user", "Hi", {}), GoldMessage("assistant", "Hi.")),
    gold_chunks=(GoldChunk("a"),),
    filters={"district": "Gulu"},
    behavior=("admitted",),
)
CASES = (
    CASE,
    replace(CASE, type="summary", answer="Nothing.", key_points=("Nothing.",), behavior=()),
    replace(CASE, type="multi_turn"),
)
FAILED = Observation(
    "c", "s", (Turn(1, CASE.question, None, SystemFault("timeout", "120 s went by")),)
)


def fitting(measure: Measure) -> Case:
    """A gold question that the measure applies to."""
    return next(case for case in CASES if measure.applies(case))


@pytest.mark.parametrize(
    "measure", [*MEASURES.values(), Recall @ 5, nDCG @ 10, FilterF1("district")], ids=str
)
def test_a_failed_system_gets_the_worst_value_or_none(measure: Measure) -> None:
    score = measure.score(fitting(measure), FAILED)
    expected = {
        SilentFailure: 1.0,
        Contradictions: 1.0,
        Padding: 1.0,
        Uncited: 1.0,
        Unresolved: 1.0,
        Formality: 1.0,
        Caution: 1.0,
        CostPerQuery: None,
    }.get(measure, 0.0)
    assert score.value == expected
    assert score.value == measure.worst
    assert score.reason == SYSTEM_ERROR
    assert score.why == "system error (timeout): 120 s went by"


@pytest.mark.parametrize("measure", MEASURES.values(), ids=str)
def test_a_missing_answer_is_not_measured_by_mistake(measure: Measure) -> None:
    if measure == JointGoalAccuracy:
        assert measure.measure(CASE, FAILED).reason == "not_asked"
        return
    with pytest.raises(ValueError, match="s did not answer c"):
        measure.measure(fitting(measure), FAILED)


def test_dimensions_and_needs() -> None:
    assert list(dict.fromkeys(measure.dimension for measure in MEASURES.values())) == [
        "retrieval",
        "paragraphs",
        "faithfulness",
        "citations",
        "summarisation",
        "tone",
        "filters",
        "multi_turn",
        "relaxation",
        "cost",
    ]
    for measure in MEASURES.values():
        # Where only what was retrieved is measured, no generation is paid for.
        assert (measure.dimension in ("retrieval", "paragraphs")) == ("passages" in measure.needs)
        assert ("passages" in measure.needs) != ("answer" in measure.needs)
        assert (measure.dimension == "multi_turn") == ("live" in measure.needs)
    assert JointGoalAccuracy.needs == {"answer", "turns"}
    assert SilentFailure.needs == {"answer", "counts"}


def test_which_measures_need_a_judge() -> None:
    judged = {name for name, measure in MEASURES.items() if measure.judged}
    assert judged == {
        "Coherence",
        "ParagraphRelevance",
        "Faithfulness",
        "Contradictions",
        "CitationRecall",
        "CitationPrecision",
        "KeyPointCoverage",
        "Padding",
        "Formality",
        "Caution",
        "TaskCompletion",
        "OnTopic",
    }
    assert all(len(MEASURES[name].needs & JUDGEMENTS) == 1 for name in judged)
    wanting = {name for name, measure in MEASURES.items() if measure.wants}
    assert wanting == {"AcceptableBehaviour", "SilentFailure", "CitationCoverage"}


@pytest.mark.parametrize("measure", [each for each in MEASURES.values() if each.judged], ids=str)
def test_without_a_verdict_there_is_no_value_but_the_reason(measure: Measure) -> None:
    [need] = measure.needs & JUDGEMENTS
    answer = Answer("Nothing [1].", (Passage("a", "text"),))
    seen = Observation("c", "s", (Turn(1, CASE.question, answer),), mode="live")
    missing = measure.score(fitting(measure), seen)
    assert (missing.value, missing.reason) == (None, "needs_judge")
    assert need in missing.why
    down = NoVerdict("judge_unreachable", "no connection\nafter 3 tries")
    refused = measure.score(fitting(measure), replace(seen, verdicts={need: down}))
    assert (refused.value, refused.reason) == (None, "judge_unreachable")
    assert refused.why == "no connection after 3 tries"
    assert measure.score(fitting(measure), replace(FAILED, verdicts={need: down})).reason == (
        SYSTEM_ERROR
    )
