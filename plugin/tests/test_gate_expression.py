"""The grammar of gates: every form, and what is said of what is none."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.gate import Gate, GateError, parse
from pytest_touchstone.gate.expression import Quantity, Reference
from pytest_touchstone.gold import CASE_TYPES
from pytest_touchstone.measures import MEASURES, FilterF1, Measure, Recall, nDCG

FORMS = {
    "Recall@5 >= 0.70": Gate("estimate", "Recall@5", None, True, None, 0.7),
    "lower(Faithfulness) >= 0.85": Gate("lower", "Faithfulness", None, True, None, 0.85),
    "upper(Contradictions) <= .1": Gate("upper", "Contradictions", None, False, None, 0.1),
    "Faithfulness >= baseline": Gate("estimate", "Faithfulness", None, True, "baseline", 0.0),
    "Recall@10 >= previous - 0.03": Gate("estimate", "Recall@10", None, True, "previous", -0.03),
    "unscored(Tone) <= 0.05": Gate("unscored", "tone", None, False, None, 0.05),
    "unscored(Caution[summary]) <= 0": Gate("unscored", "Caution", "summary", False, None, 0.0),
    "Recall@10[multi_turn] >= 0.5": Gate("estimate", "Recall@10", "multi_turn", True, None, 0.5),
    "  CostPerQuery<=previous+1e-3 ": Gate(
        "estimate", "CostPerQuery", None, False, "previous", 0.001
    ),
    "lower( Recall @ 10 [ factual ] ) >= 1.": Gate(
        "lower", "Recall@10", "factual", True, None, 1.0
    ),
    'FilterF1("a [b] >= \\" c")[factual] >= baseline + 0.1': Gate(
        "estimate", FilterF1('a [b] >= " c').name, "factual", True, "baseline", 0.1
    ),
}


@pytest.mark.parametrize("text", FORMS)
def test_every_form_is_read(text: str) -> None:
    assert parse(text) == FORMS[text]
    assert parse(str(FORMS[text])) == FORMS[text]


def test_the_canonical_text_is_what_a_person_would_write() -> None:
    shown = [str(gate) for gate in FORMS.values()]
    assert shown[:5] == [
        "Recall@5 >= 0.7",
        "lower(Faithfulness) >= 0.85",
        "upper(Contradictions) <= 0.1",
        "Faithfulness >= baseline",
        "Recall@10 >= previous - 0.03",
    ]
    assert shown[5:8] == [
        "unscored(tone) <= 0.05",
        "unscored(Caution[summary]) <= 0",
        "Recall@10[multi_turn] >= 0.5",
    ]


BOUNDS = "the bound is a number, `baseline` or `previous`, such as `previous - 0.03`"
WRITE = "write it like `Recall@5 >= 0.7`"
TYPES = "known: factual, comparative, summary, multi_turn, edge_case"
SHARE = "`unscored(...)` takes a number between 0 and 1"
MALFORMED = {
    "Recall@5": f"it compares nothing; {WRITE}",
    "Recall@5 0.7": f"it compares nothing; {WRITE}",
    "Recall@5 = 0.7": "`=` is no comparison of gates; write `>=` or `<=`",
    "Recall@5 == 0.7": "`==` is no comparison of gates; write `>=` or `<=`",
    "Recall@5 => 0.7": "`=>` is no comparison of gates; write `>=`",
    "Padding =< 0.7": "`=<` is no comparison of gates; write `<=`",
    "Recall@5 > 0.7": "`>` is no comparison of gates; write `>=`",
    "Padding < 0.7": "`<` is no comparison of gates; write `<=`",
    "Recall@5 ≥ 0.7": "`≥` is no comparison of gates; write `>=`",
    "Recall@5 != 0.7": "`!=` is no comparison of gates; write `>=` or `<=`",
    "0.5 <= Recall@5 <= 0.7": "it holds 2 comparisons; write a gate for each",
    "MRR >= 0.7 and Recall@5 >= 0.7": "it holds 2 comparisons; write a gate for each",
    "0.7 <= Recall@5": "the measure stands on the left: `Recall@5 >= 0.7`",
    "previous <=": "the measure stands on the left: `... >= previous`",
    ">= 0.7": f"nothing stands before `>=`; {WRITE}",
    "Recall@5 >=": f"no bound stands behind `>=`; {BOUNDS}",
    "Recall@5 >= 70%": "scores are no percentages: write 0.7 for 70%",
    "Recall@5 >= previous - 3%": "scores are no percentages: write 0.7 for 70%",
    "Recall@5 >= 0,7": f"decimals stand behind a point, as in 0.7; {BOUNDS}",
    "Recall@5 >= 70": "Recall@5 is 0 to 1, and 70 lies outside; for 70 per cent write 0.7",
    "MRR >= -0.1": "MRR is 0 to 1, and -0.1 lies outside",
    "CostPerQuery <= -1": "CostPerQuery is 0 or more, and -1 lies outside",
    "Recall@5 >= nan": "`nan` is no number to compare with",
    "CostPerQuery <= 1e999": "1e999 is too large a number",
    "Recall@5 >= 0.7 0.8": f"{BOUNDS}, not `0.7 0.8`",
    "Recall@5 >= MRR": f"{BOUNDS}, not `MRR`",
    "Recall@5 >= previos": "did you mean `previous`?",
    "Recall@5 >= previous * 0.9": f"{BOUNDS}, not `previous * 0.9`",
    "Recall@5 >= previous - 3": (
        "Recall@5 is 0 to 1, and 3 is more than two of its values can differ;"
        " for 3 per cent write 0.03"
    ),
    "Recall@5 >= previous − 0.03": "`−` is no minus sign here; write `-`",
    "Recal@5 >= 0.7": "'Recal@5' is no measure: there is no `Recal`; did you mean `Recall`?",
    "Recall@0 >= 0.7": "'Recall@0' is no measure: Recall@k needs a whole number k from 1, not 0",
    "tone >= 0.7": "`tone` is a dimension; its measures are Formality, Caution",
    "unscored(Tine) <= 0.7": "`Tine` is no dimension; did you mean `tone`?",
    "Recall@5[multiturn] >= 0.7": (
        "`multiturn` is no type of question; did you mean `multi_turn`?"
    ),
    "Recall@5[] >= 0.7": f"no type stands in the brackets; {TYPES}",
    "MRR[factual][summary] >= 0.1": (
        "one type in square brackets stands last: `Recall@10[multi_turn]`"
    ),
    "lower(MRR)[factual] >= 0.1": "a type stands behind its measure: `lower(Recall@5[factual])`",
    "[factual] >= 0.1": f"it names no measure; {WRITE}",
    "Recall@5[factual >= 0.7": "`[` is never closed",
    "lower(Recall@5 >= 0.7": "`(` is never closed",
    "Recall@5) >= 0.7": "`)` closes nothing; brackets must match",
    "lower(Recall@5] >= 0.7": "`]` closes nothing; brackets must match",
    "FilterF1('x) >= 0.1": "`'` is never closed",
    "mean(Recall@5) >= 0.7": "there is no `mean(...)`; known: lower, upper, unscored",
    "Lower(Recall@5) >= 0.7": "there is no `Lower(...)`; did you mean `lower`?",
    "lower() >= 0.1": "`lower()` names no measure; write `lower(Faithfulness)`",
    "lower(upper(MRR)) >= 0.1": "only one of `lower`, `upper` and `unscored` at a time",
    "lower(MRR) >= baseline": (
        "a comparison uses the interval of the difference already: write `MRR >= baseline`"
    ),
    "unscored(Tone) <= previous": SHARE,
    "unscored(Tone) <= 5": "a share is 0 to 1, and 5 lies outside; for 5 per cent write 0.05",
    "Recall@5 <= 0.7": "of Recall@5 more is better: write `Recall@5 >= ...`",
    "Contradictions >= 0.1": "of Contradictions less is better: write `Contradictions <= ...`",
    "unscored(Tone) >= 0.05": (
        "of the share of unscored questions less is better: write `unscored(Tone) <= ...`"
    ),
}


@pytest.mark.parametrize("text", MALFORMED)
def test_what_is_no_gate_is_told_in_one_line(text: str) -> None:
    with pytest.raises(GateError) as refused:
        parse(text)
    assert str(refused.value) == f"{text!r} is no gate: {MALFORMED[text]}"


@pytest.mark.parametrize("text", ["", " \t\n"])
def test_nothing_is_no_gate(text: str) -> None:
    with pytest.raises(GateError, match=r"^an empty text is no gate: write it like `Recall@5"):
        parse(text)


def test_a_very_long_text_is_refused_in_a_short_line() -> None:
    with pytest.raises(GateError) as refused:
        parse("(" * 1_000_000)
    assert len(str(refused.value)) < 250
    assert "longer than 4000 characters" in str(refused.value)


MARGINS = st.floats(-1, 1).map(lambda value: value + 0.0)


@st.composite
def gates(draw: st.DrawFn) -> Gate:
    """Any gate that there is."""
    measures: list[Measure] = [*MEASURES.values(), Recall @ 5, nDCG @ 10]
    references: list[Reference | None] = [None, "baseline", "previous"]
    quantities: list[Quantity] = ["estimate", "lower", "upper"]
    fields = st.text(min_size=1, max_size=8).filter(str.strip).map(FilterF1)
    kind = draw(st.sampled_from([None, *CASE_TYPES]))
    if draw(st.booleans()):
        names = ["tone", "multi_turn", "retrieval", *MEASURES]
        share = draw(st.floats(0, 1).map(lambda value: value + 0.0))
        return Gate("unscored", draw(st.sampled_from(names)), kind, False, None, share)
    measure = draw(st.sampled_from(measures) | fields)
    reference = draw(st.sampled_from(references))
    better = measure.higher_is_better
    if reference is not None:
        return Gate("estimate", measure.name, kind, better, reference, draw(MARGINS))
    low, high = measure.range
    bound = draw(st.floats(low, high if high is not None else 1e300)) + 0.0
    return Gate(draw(st.sampled_from(quantities)), measure.name, kind, better, None, bound)


@given(gates())
def test_the_canonical_text_of_any_gate_reads_back(gate: Gate) -> None:
    assert parse(str(gate)) == gate
    assert str(parse(str(gate))) == str(gate)


@given(st.text(st.sampled_from("Recall@5MRlower()[]factual>=<0.7prvious- \n\r'\"\\\x00é%")))
def test_any_text_is_a_gate_or_refused(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python's, of escapes in a field's name
        try:
            said = str(parse(text))
        except GateError as error:
            said = str(error)
        else:
            assert str(parse(said)) == said
        assert said.isprintable()
