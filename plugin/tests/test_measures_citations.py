"""Citations: counted, judged as ALCE does, and as a scorer sees them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone import verdicts
from pytest_touchstone.citing import band, cited_paragraphs
from pytest_touchstone.gold import Case
from pytest_touchstone.measures import (
    CitationCoverage,
    CitationPrecision,
    CitationRecall,
    CoveragePrecision,
    CoverageRecall,
    Measure,
    Uncited,
    Unresolved,
    parse,
)
from pytest_touchstone.score import Score
from pytest_touchstone.trace import Answer, Observation, Passage, SystemFault, Turn
from pytest_touchstone.verdicts import (
    CitationVerdict,
    NoVerdict,
    ParagraphCoverage,
    ParagraphSupport,
    ParagraphVerdict,
    SourceCoverage,
    SupportLabel,
)

CASE = Case("c", "factual", "?")
ALL = (
    CitationCoverage,
    CitationRecall,
    CitationPrecision,
    CoverageRecall,
    CoveragePrecision,
    Uncited,
    Unresolved,
)
TEXT = "# Findings\n\nGulu lost 7 [1, 2].\n\nLira lost 9 [2][9].\n\nNobody paid.\n\nWhich year?"
"""Paragraph 1 cites two passages, 2 one and one that is not there, 3 claims and cites nothing."""


def seen(text: str = TEXT, passages: int = 3, **said: object) -> Observation:
    found = tuple(Passage(f"p{i}", f"text {i}") for i in range(1, passages + 1))
    turn = Turn(0, "?", Answer(text, found))
    return Observation("c", "s", (turn,), verdicts=said)  # type: ignore[arg-type]


def support(*paragraphs: tuple[int, SupportLabel, dict[int, SupportLabel]]) -> ParagraphSupport:
    return ParagraphSupport(
        tuple(
            ParagraphVerdict(
                index,
                f"text {index}",
                label,
                f"because\n{index}",
                tuple(CitationVerdict(number, alone) for number, alone in sources.items()),
            )
            for index, label, sources in paragraphs
        )
    )


def coverage(
    *paragraphs: tuple[int, Mapping[int, float | str]], scale: str = "probability"
) -> verdicts.CitationCoverage:
    return verdicts.CitationCoverage(
        tuple(
            ParagraphCoverage(
                index,
                f"text {index}",
                tuple(
                    SourceCoverage(number, None, 0, score)
                    if isinstance(score, str)
                    else SourceCoverage(number, score)
                    for number, score in sources.items()
                ),
            )
            for index, sources in paragraphs
        ),
        "bge",
        scale,
    )


def score(measure: Measure, observed: Observation) -> Score:
    found = measure.score(CASE, observed)
    json.dumps(found.detail, allow_nan=False)
    assert "\n" not in found.why
    return found


def test_claims_that_cite_nothing() -> None:
    found = score(Uncited, seen())
    assert (found.value, found.origin) == (1 / 3, "computed")
    assert found.why == "1 of 3 paragraphs that claim cite nothing"
    assert found.detail == {"uncited": [{"paragraph": 3, "text": "Nobody paid."}]}
    assert score(Uncited, seen("It is so.\n\nAnd so.")).value == 1


def test_citations_of_no_passage() -> None:
    found = score(Unresolved, seen())
    assert (found.value, found.origin) == (0.25, "computed")
    assert found.why == "1 of 4 citations to none of 3 passages"
    assert found.detail == {
        "unresolved": [{"paragraph": 2, "text": "Lira lost 9 [2][9].", "numbers": [9]}]
    }
    assert score(Unresolved, seen("It is so [0].", passages=0)).value == 1


def test_the_pattern_of_a_marker_travels_with_the_observation() -> None:
    answer = Answer("It is so (källa 1). [7]", (Passage("p", "t"),))
    observed = Observation("c", "s", (Turn(0, "?", answer),), citation_pattern=r"\(källa \d{1,3}\)")
    assert score(Unresolved, observed).value == 0


def test_citations_that_a_system_reports_apart() -> None:
    passages = (Passage("a", "t"), Passage("b", "u"))
    answer = Answer("So it is.\n\nWhich?", passages, citations=("b", "x", "y", "b"))
    first, second = cited_paragraphs(answer)
    assert (first.cited, second.cited) == ((2, 0), ())
    assert score(Unresolved, Observation("c", "s", (Turn(0, "?", answer),))).value == 0.5
    marked = Answer("So it is [1].", passages, citations=("b",))
    assert [each.cited for each in cited_paragraphs(marked)] == [(1,)]


@pytest.mark.parametrize("text", ["I don't know.", "Which year?", "# Title", "```\nx[1]\n```"])
def test_an_answer_that_claims_nothing_is_not_applicable(text: str) -> None:
    observed = seen(text, support=support(), citation_coverage=coverage())
    assert {score(measure, observed).reason for measure in ALL} == {"not_applicable"}


def test_an_answer_that_never_cites() -> None:
    observed = seen("It is so.", support=support(), citation_coverage=coverage())
    values = {measure.name: score(measure, observed).value for measure in ALL}
    assert values == {
        "CitationCoverage": None,
        "CitationRecall": 0,
        "CitationPrecision": None,
        "CoverageRecall": 0,
        "CoveragePrecision": None,
        "Uncited": 1,
        "Unresolved": None,
    }


def test_a_failed_system_gets_the_worst() -> None:
    failed = Observation("c", "s", (Turn(0, "?", None, SystemFault("timeout", "late")),))
    for measure in ALL:
        assert score(measure, failed).value == (0 if measure.higher_is_better else 1)


# By a judge.

JUDGED = support(
    (1, "supported", {1: "supported", 2: "partial"}),
    (2, "partial", {2: "partial", 9: "unsupported"}),
)


def test_recall_of_citations_divides_by_what_claims() -> None:
    found = score(CitationRecall, seen(support=JUDGED))
    assert (found.value, found.origin) == (1 / 3, "judge")
    assert found.why == "1 of 3 paragraphs that claim supported, 1 cite nothing"
    assert [each["label"] for each in found.detail["paragraphs"]] == ["supported", "partial"]


def test_precision_of_citations() -> None:
    found = score(CitationPrecision, seen(support=JUDGED))
    assert (found.value, found.why) == (0.25, "1 of 4 citations needed")
    assert [each["needed"] for each in found.detail["citations"]] == [True, False, False, False]


@pytest.mark.parametrize(
    ("labels", "needed"),
    [
        (("supported", "supported"), 2),  # either is enough alone
        (("supported", "partial"), 1),
        (("supported", "unsupported"), 1),
        (("partial", "partial"), 2),  # each holds a half
        (("partial", "unsupported"), 1),
        (("unsupported", "unsupported"), 0),
    ],
)
def test_a_needed_citation(labels: tuple[SupportLabel, SupportLabel], needed: int) -> None:
    said = support((0, "supported", dict(enumerate(labels, start=1))))
    found = score(CitationPrecision, seen("So it is [1, 2].", support=said))
    assert found.value == needed / 2


def alce_precision(facts: list[set[str]], claim: set[str]) -> float:
    """ALCE's definition, with sources as sets of facts and entailment as inclusion."""
    if not claim <= set().union(*facts):
        return 0.0
    good = [
        claim <= one or not claim <= set().union(*facts[:i], *facts[i + 1 :])
        for i, one in enumerate(facts)
    ]
    return sum(good) / len(good)


def test_precision_is_that_of_alce_but_for_doubled_parts() -> None:
    claim, parts = {"a", "b"}, [set(), {"a"}, {"b"}, {"a", "b"}]
    for facts in product(parts, repeat=3):
        labels: list[SupportLabel] = [
            "supported" if one == claim else "partial" if one else "unsupported" for one in facts
        ]
        whole: SupportLabel = "supported" if claim <= set().union(*facts) else "partial"
        said = support((0, whole, dict(enumerate(labels, start=1))))
        value = score(CitationPrecision, seen("So it is [1-3].", support=said)).value
        assert value is not None
        alce = alce_precision(list(facts), claim)
        partial = [frozenset(one) for one in facts if len(one) == 1]
        if len(set(partial)) == len(partial) or claim in facts:
            assert value == alce
        else:
            assert value >= alce


def test_without_a_verdict_on_every_paragraph_nothing_is_scored() -> None:
    part = support((1, "supported", {1: "supported", 2: "supported"}))
    for measure in (CitationRecall, CitationPrecision):
        found = score(measure, seen(support=part))
        assert (found.reason, found.why) == ("needs_judge", "1 verdict for 2 paragraphs")
        assert score(measure, seen()).reason == "needs_judge"
        refused = score(measure, seen(support=NoVerdict("judge_refused", "will not")))
        assert (refused.reason, refused.why) == ("judge_refused", "will not")


# By a scorer.

COVERED = coverage((1, {1: 0.9, 2: 0.3}), (2, {2: 0.6, 9: "unresolved"}))


def test_coverage_is_the_best_of_each_paragraph() -> None:
    found = score(CitationCoverage, seen(citation_coverage=COVERED, support=JUDGED))
    assert found.value == pytest.approx(0.75)
    assert (found.origin, found.engine) == ("scorer", "bge")
    assert found.why == "mean over 2 paragraphs, 0 of them below 0.4"
    first, second = found.detail["paragraphs"]
    assert (first["coverage"], first["verdict"]) == (0.9, "supported")
    assert second["sources"] == [
        {"source": 2, "passage_id": "p2", "coverage": 0.6, "windows": 1, "reason": None},
        {"source": 9, "passage_id": None, "coverage": None, "windows": 0, "reason": "unresolved"},
    ]


def test_a_paragraph_whose_citations_are_all_unresolved_is_not_skipped() -> None:
    said = coverage((0, {9: "unresolved"}), (1, {1: 0.8}))
    observed = seen("So it is [9].\n\nAnd so [1].", citation_coverage=said)
    assert score(CitationCoverage, observed).value == 0.4
    assert score(CoverageRecall, observed).value == 0  # 0.8 is not above 0.8
    assert score(CoverageRecall @ 0.7, observed).value == 0.5
    assert score(CoveragePrecision @ 0.7, observed).value == 0.5


def test_recall_and_precision_at_a_threshold() -> None:
    observed = seen(citation_coverage=COVERED)
    assert score(CoverageRecall, observed).value == 1 / 3
    assert score(CoverageRecall @ 0.5, observed).value == 2 / 3
    assert score(CoveragePrecision, observed).value == 0.25
    assert score(CoveragePrecision @ 0.5, observed).value == 0.5


def test_a_proxy_says_so() -> None:
    said = coverage((0, {1: 0.5}), scale="proxy")
    found = score(CitationCoverage, seen("So it is [1].", citation_coverage=said))
    assert found.why.endswith("(proxy)")
    assert found.detail["scale"] == "proxy"


def test_without_a_scorer_nothing_fails() -> None:
    for measure in (CitationCoverage, CoverageRecall, CoveragePrecision):
        assert score(measure, seen()).reason == "no_scorer"
        off = NoVerdict("scorer_unreachable", "no answer")
        assert score(measure, seen(citation_coverage=off)).reason == "scorer_unreachable"
        lacking = coverage((1, {1: 0.9, 2: "scorer_refused"}), (2, {2: 0.6, 9: "unresolved"}))
        found = score(measure, seen(citation_coverage=lacking))
        assert found.reason == "scorer_refused"
        assert found.why == "1 citation without coverage: scorer_refused"
        assert score(measure, seen(citation_coverage=coverage())).reason == "no_scorer"


def test_the_best_is_unknown_where_one_source_is() -> None:
    assert coverage((0, {1: 0.9, 2: "scorer_refused"})).paragraphs[0].best is None
    assert coverage((0, {1: 0.2, 2: 0.9, 7: "unresolved"})).paragraphs[0].best == 0.9
    assert coverage((0, {7: "unresolved"})).paragraphs[0].best is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0, 0.99))
def test_coverage_is_within_its_range(scores: list[float], threshold: float) -> None:
    text = "\n\n".join(f"It is {i} [1]." for i in range(len(scores)))
    said = coverage(*((i, {1: value}) for i, value in enumerate(scores)))
    observed = seen(text, citation_coverage=said)
    value = score(CitationCoverage, observed).value
    assert value is not None
    assert min(scores) - 1e-9 <= value <= max(scores) + 1e-9
    recall = score(CoverageRecall @ threshold, observed).value
    assert recall == sum(one > threshold for one in scores) / len(scores)


@given(st.lists(st.sampled_from(get_args(SupportLabel)), min_size=1, max_size=9))
def test_recall_is_the_share_of_supported(labels: list[SupportLabel]) -> None:
    text = "\n\n".join(f"It is {i} [1]." for i in range(len(labels)))
    said = support(*((i, label, {1: label}) for i, label in enumerate(labels)))
    value = score(CitationRecall, seen(text, support=said)).value
    assert value == labels.count("supported") / len(labels)
    assert score(CitationPrecision, seen(text, support=said)).value == value


# Names and bands.


def test_names_with_a_threshold() -> None:
    assert CoverageRecall @ 0.8 == CoverageRecall == parse("CoverageRecall@0.8")
    assert (CoverageRecall @ 0.7).name == "CoverageRecall@0.7"
    assert (CoveragePrecision @ 0.5).title == "Coverage precision (> 0.5)"
    assert parse("CoveragePrecision@0") == CoveragePrecision @ 0.0
    for wrong in (1, -0.1, True, "0.5", float("nan"), None):
        with pytest.raises(ValueError, match="needs a number from 0 to below 1"):
            CoverageRecall @ wrong  # type: ignore[operator]
    with pytest.raises(ValueError, match="has its threshold already"):
        CoverageRecall @ 0.7 @ 0.6
    with pytest.raises(ValueError, match="takes no cutoff"):
        parse("CitationRecall@0.8")


@given(st.floats(0, 1, exclude_max=True))
def test_every_threshold_reads_back(threshold: float) -> None:
    measure = CoverageRecall @ threshold
    assert parse(measure.name) == measure


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.0, "supports"),
        (0.81, "supports"),
        (0.8, "related"),
        (0.4, "related"),
        (0.399, "does_not_support"),
        (0.0, "does_not_support"),
    ],
)
def test_bands(value: float, expected: str) -> None:
    assert band(value) == expected
