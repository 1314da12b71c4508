"""What an answer claims."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.judge.offline.claims import claims


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I do not know.",
        "I could not find any information about this in the passages.",
        "Tyvärr hittar jag inget om detta i källorna.",
        "Det framgår inte av underlaget.",
        "Jag vet inte.",
        "There is no information on this district.",
        "No report matches these filters.",
        "You're welcome! If you have any more questions, feel free to ask. Stay safe!",
        "Hej! Hör gärna av dig om du har fler frågor.",
        "Which year do you mean?",
        "Vilket år menar du?",
        "Yes.",
        "[1]",
        "Nothing matches year 2023. What follows leaves out year 2023.",
        "Inga anföranden matchar året 2023. Det som följer bortser från året 2023.",
    ],
)
def test_no_claim(answer: str) -> None:
    assert claims(answer) == ()


@pytest.mark.parametrize(
    "answer",
    [
        "Management did not provide the records.",
        "There were no records for 30 procurements.",
        "I could not confirm that value for money was obtained.",
        "What follows is a loss of UGX 5m.",
        "The answer ignores the law of 2015.",
        "Vi vill sänka skatten.",
        "Vi har inte råd med fler vägar.",
        "第一句话。",
    ],
)
def test_a_sentence_is_a_claim(answer: str) -> None:
    assert claims(answer) == (answer,)


def test_what_follows_an_admission_is_judged() -> None:
    assert claims("I found no passages about 2019, but in 2020 Gulu spent UGX 3 billion.") == (
        "in 2020 Gulu spent UGX 3 billion.",
    )


def test_marks_of_lists_emphasis_and_citations_are_left_out() -> None:
    answer = "Two things were found:\n\n1. **Roads**: 12 km were graded [1].\n- See [the report](https://example.org/x).\n"
    assert claims(answer) == ("Roads: 12 km were graded.", "See the report.")


def test_each_claim_once_and_code_is_one() -> None:
    answer = "It cost 4 million. It cost 4 million.\n```sql\nselect 1;\nselect 2;\n```\n"
    assert claims(answer) == ("It cost 4 million.", "select 1; select 2;")


def test_a_sentence_does_not_end_at_an_abbreviation() -> None:
    assert claims("Determine the order (e.g. Emergency Protective Order).") == (
        "Determine the order (e.g. Emergency Protective Order).",
    )


@given(st.text(max_size=300))
def test_any_text_is_taken_apart(answer: str) -> None:
    found = claims(answer)
    assert len(set(found)) == len(found)
    assert all(each.strip() for each in found)


def test_a_long_text_of_one_kind_is_read_in_one_go() -> None:
    assert claims(" " * 300_000) == ()
    assert len(claims("[" * 100_000 + "a")) == 1


@pytest.mark.parametrize(
    ("answer", "claim"),
    [
        (
            "Thank you for the question, Mora spent 12 million kronor.",
            "Mora spent 12 million kronor.",
        ),
        ("Hi, Mora built a bridge.", "Mora built a bridge."),
        ("Sorry, the right sum is 48.", "the right sum is 48."),
        ("I searched and found that Mora built a bridge.", "Mora built a bridge."),
        ("I will add that 48 bridges were built.", "48 bridges were built."),
        ("Jag har sökt och Mora fick 12 miljoner kronor.", "Mora fick 12 miljoner kronor."),
        ("Here is the sum for 2031, EUR 4 million:", "the sum for 2031, EUR 4 million:"),
    ],
)
def test_what_follows_talk_with_a_figure_is_a_claim_without_its_opener(
    answer: str, claim: str
) -> None:
    assert claims(answer) == (claim,)


@pytest.mark.parametrize(
    "finding",
    [
        "The documents for 9 of 21 bridges were not signed.",
        "No records were found for 9 bridges worth EUR 4 million.",
        "Uppgifter saknas för 9 av 21 broar.",
    ],
)
def test_an_admission_with_a_figure_is_a_finding(finding: str) -> None:
    assert claims(finding) == (finding,)


@pytest.mark.parametrize(
    "talk",
    [
        "Hello, I am happy to help.",
        "Here are 3 reports from 2031:",
        "I could not find how many of the 21 bridges were built.",
        "The passages do not say anything about the 21 bridges.",
        "Let me know if you need more than 12 reports.",
    ],
)
def test_figures_of_talk_are_no_claims(talk: str) -> None:
    assert claims(talk) == ()


def test_an_abbreviation_and_a_bracket_end_no_sentence() -> None:
    assert claims("Mötet började kl. 14.30 i Mora.") == ("Mötet började kl. 14.30 i Mora.",)
    assert len(claims("(" + "A bridge was built. " * 100)) > 1


def test_the_citation_of_a_table_ends_its_last_cell() -> None:
    answer = "Entity | Officers 1 Arua 6.5 FY 2022/23 [4] Entity | Land 1 Gulu 80 [5, 6] It fell."
    assert claims(answer) == (
        "Entity | Officers 1 Arua 6.5 FY 2022/23",
        "Entity | Land 1 Gulu 80",
        "It fell.",
    )
    prose = "In Gulu [1] UGX 5 million was lost | or more [2] and never found."
    assert claims(prose) == ("In Gulu UGX 5 million was lost | or more and never found.",)
