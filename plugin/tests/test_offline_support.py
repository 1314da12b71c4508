"""Claims against passages: labels, evidence, reasons, support of the whole."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from offline_embedding import HashedWords

from pytest_touchstone.judge.offline.claims import claims
from pytest_touchstone.judge.offline.support import AT_FAULT, FLOOR, judge_claims
from pytest_touchstone.verdicts import ClaimVerdict

PASSAGES = (
    "Key audit matters are those matters that were of most significance in the audit.",
    "Gulu District spent UGX 1.2 billion on roads in FY 2021/22. The Chief Administrative Officer"
    " did not provide the vouchers. Of 52 primary schools, 29 had no latrines.",
    "Lira District spent UGX 2.5 billion on roads in FY 2021/22.",
)


def verdict(claim: str, passages: tuple[str, ...] = PASSAGES) -> ClaimVerdict:
    (found,) = judge_claims([claim], passages, HashedWords()).verdicts
    return found


def support(answer: str, passages: tuple[str, ...] = PASSAGES) -> float | None:
    return judge_claims(claims(answer), passages, HashedWords()).support


@pytest.mark.parametrize(
    "claim",
    [
        "Gulu District spent UGX 1.2 billion on roads in FY 2021/22.",
        "UGX 1,200,000,000 was spent on roads by Gulu District in 2021/2022.",
        "In FY 2021/22 Gulu's roads cost UGX 1,200 million.",
        "29 of the 52 primary schools lacked latrines.",
        "The CAO did not provide vouchers.",
        "Vouchers were not provided by the Chief Administrative Officer.",
    ],
)
def test_supported_with_its_evidence(claim: str) -> None:
    found = verdict(claim)
    assert (found.label, found.passage) == ("supported", 2)
    assert found.quotation is not None
    assert found.quotation.found
    assert found.quotation.text in PASSAGES[1]
    assert support(claim) is not None
    assert (support(claim) or 0) >= FLOOR


@pytest.mark.parametrize(
    ("claim", "shown"),
    [
        ("Gulu District spent UGX 1.3 billion on roads in FY 2021/22.", '"UGX 1.2 billion"'),
        ("Gulu District spent UGX 1.2 million on roads in FY 2021/22.", '"UGX 1.2 billion"'),
        ("Gulu District spent USD 1.2 billion on roads in FY 2021/22.", '"UGX 1.2 billion"'),
        ("Gulu District spent UGX 1.2 billion on roads in FY 2020/21.", '"FY 2021/22"'),
        ("In FY 2021/22 Kitgum District spent UGX 1.2 billion on roads.", '"Gulu"'),
        ("Kitgum District spent UGX 1.2 billion on roads in FY 2021/22.", '"Gulu"'),
        ("Gulu City spent UGX 1.2 billion on roads in FY 2021/22.", '"District"'),
        ("Lira District spent UGX 1.2 billion on roads in FY 2021/22.", ""),
        ("The Chief Administrative Officer did provide the vouchers.", "denies"),
        ("Gulu District did not spend UGX 1.2 billion on roads in FY 2021/22.", "denies"),
        ("Of 52 primary schools, 19 had no latrines.", '"29"'),
        ("Of 52 primary schools, 29 had latrines.", "denies"),
    ],
)
def test_contradicted_by_what_stands_in_its_place(claim: str, shown: str) -> None:
    found = verdict(claim)
    assert found.label == "contradicted"
    assert shown in found.rationale
    assert found.passage is not None
    assert found.quotation is not None
    assert found.quotation.found
    assert (support(claim) or 0) < FLOOR


def test_the_rationale_is_one_readable_line() -> None:
    found = verdict("Gulu District spent UGX 1.3 billion on roads in FY 2021/22.")
    expected = '"UGX 1.3 billion" is in no passage; nearest: "UGX 1.2 billion" in passage 2'
    assert found.rationale == expected


def test_what_no_passage_speaks_of_is_not_found() -> None:
    found = verdict("The hospital bought new incubators for the maternity ward.")
    assert (found.label, found.passage, found.quotation) == ("not_found", None, None)


def test_a_number_that_no_passage_holds_outweighs_all_words() -> None:
    passages = ("The bridge over the river was opened and is used by many people.",)
    found = verdict("The bridge over the river was opened and is used by 40,000 people.", passages)
    assert found.label == "not_found"
    assert '"40,000" is in no passage' in found.rationale


def test_a_claim_may_put_together_what_two_passages_say() -> None:
    claim = "Gulu District spent UGX 1.2 billion on roads and Lira District UGX 2.5 billion."
    assert verdict(claim).label == "supported"


def test_metadata_say_what_a_passage_is_about() -> None:
    passages = ["UGX 695 million was not accounted for.", "UGX 120 million was not accounted for."]
    about = [{"district": "Kabale", "year": "2020"}, {"district": "Amuru", "year": "2020"}]
    for district, label in (("Kabale", "supported"), ("Amuru", "contradicted")):
        claim = f"In {district}, UGX 695 million was not accounted for in 2020."
        (found,) = judge_claims([claim], passages, HashedWords(), about).verdicts
        assert found.label == label, found.rationale


def test_swedish() -> None:
    passages = ("Regeringen avsatte 2,4 miljarder kronor till underhåll av järnvägen år 2021.",)
    for claim, label in (
        ("År 2021 avsatte regeringen 2 400 mkr till järnvägsunderhåll.", "supported"),
        ("Regeringen avsatte 2,4 miljoner kronor till järnvägen år 2021.", "contradicted"),
        ("Regeringen avsatte inte 2,4 miljarder kronor till järnvägen år 2021.", "contradicted"),
        ("Regeringen avsatte 2,4 miljarder kronor till järnvägen år 2012.", "contradicted"),
    ):
        assert verdict(claim, passages).label == label, claim


@pytest.mark.parametrize(
    "text", ["桥于1998年开放，耗资400万元。", "افتتح الجسر عام 1998 بتكلفة 4 ملايين."]
)
def test_any_script_supports_itself_and_sees_another_year(text: str) -> None:
    assert verdict(text, (text,)).label == "supported"
    changed = text.replace("1998", "1989")
    assert (support(changed, (text,)) or 0) < FLOOR


def test_support_is_a_mean_that_one_fault_keeps_below_the_floor() -> None:
    right = "Gulu District spent UGX 1.2 billion on roads in FY 2021/22."
    wrong = "Of 52 primary schools, 19 had no latrines."
    several = f"{right} The Chief Administrative Officer did not provide the vouchers. {right}"
    assert (support(right) or 0) > FLOOR
    assert support(f"{several} {wrong}") is not None
    assert (support(f"{several} {wrong}") or 1) <= AT_FAULT < FLOOR
    assert support("I do not know.") is None


def test_embeddings_are_asked_only_where_words_leave_it_open() -> None:
    embed = HashedWords()
    judge_claims(["Gulu District spent UGX 1.2 billion on roads."], PASSAGES, embed)
    judge_claims(["Gulu District spent UGX 9 billion on roads."], PASSAGES, embed)
    judge_claims(["Whales sing in the ocean at night."], PASSAGES, embed)
    assert embed.asked == []
    open_claim = "Roads were repaired slowly because engineers were scarce."
    passage = "The roads of the region were repaired by workers after engineers had left."
    judge_claims([open_claim], [passage], embed)
    assert (embed.asked.count(open_claim), embed.asked.count(passage)) == (1, 1)


def test_passages_without_words() -> None:
    assert verdict("It cost 4 million.", ("", "***")).label == "not_found"


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=120), st.lists(st.text(max_size=200), min_size=1, max_size=3))
def test_any_text_gets_a_verdict_and_a_support_in_range(claim: str, passages: list[str]) -> None:
    found = judge_claims([claim], passages, HashedWords())
    assert found.support is not None
    assert 0 <= found.support <= 1
    assert found == judge_claims([claim], passages, HashedWords())
    (one,) = found.verdicts
    assert (one.passage is None) == (one.label == "not_found")


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "The bridge was closed by 30 June and no later than 2030.",
            "It was closed by 30 June 2030.",
        ),
        ("The bridge has still not reached its goal.", "The bridge has not yet reached its goal."),
        ("Not only the bridge but also the road was built.", "The bridge and the road were built."),
        ("The bridge made the second quarter's plan.", "In Q2 the bridge made its plan."),
        (
            "The CEO of the bridge company retired.",
            "The chief executive of the bridge company retired.",
        ),
        ("Längden på bron var 33 m.", "Bron var 33 m i längd."),
    ],
)
def test_other_words_for_the_same_are_no_fault(claim: str, passage: str) -> None:
    assert verdict(claim, (passage,)).label != "contradicted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("It was the third bridge over the river.", "It was the second bridge over the river."),
        ("EUR 2 million for the bridge was spent.", "EUR 2 million for the bridge was unspent."),
        ("Flera broar skadades.", "Inga broar skadades."),
        (
            "600 million euros went to the bridge.",
            "The road cost 900 million kronor; 600 million went to the bridge.",
        ),
        ("Anna Berg opened the Mora bridge.", "Karin Berg opened the Mora bridge."),
    ],
)
def test_places_prefixes_and_currencies_count(claim: str, passage: str) -> None:
    assert verdict(claim, (passage,)).label != "supported"


def test_weak_support_is_not_called_support() -> None:
    claim = "Roads in Gulu were repaired by private foreign companies overnight without warning."
    found = judge_claims([claim], ("Gulu District repaired roads.",), HashedWords())
    assert 0.5 <= (found.support or 0.0) < FLOOR
    assert found.verdicts[0].label == "not_found"
    assert "weak support" in found.verdicts[0].rationale


TABLE = (
    "Table 6: Advances, FY 2021/22. No. Entity | Unaccounted UGX m | Officers 1 Arua City 167 65"
    " 2 Gulu DLG 565 21 Source: analysis of the reports, FY 2021/22"
)


@pytest.mark.parametrize("head", ["No.", "No |", "Nos.", "Nr.", "No.:", "No:"])
def test_the_number_column_of_a_table_denies_nothing(head: str) -> None:
    passage = TABLE.replace("No.", head)
    claims_of_it = (
        "Entity | Unaccounted UGX m | Officers 1 Arua City 167 65 2 Gulu DLG 565 21",
        "Entity | Unaccounted UGX m | Officers 1 Arua City 167 65 | Unaccounted advances",
    )
    assert [verdict(each, (passage,)).label for each in claims_of_it] == ["supported"] * 2


@pytest.mark.parametrize(
    "text",
    [
        "The CAO did not provide the vouchers.",
        "Land without title was sold, but no buyer had paid.",
        "Utan bygglov öppnades inte bron, som saknade räcken.",
        "The price fell from 23 to 40 million shillings.",
    ],
)
def test_what_stands_word_for_word_is_not_contradicted(text: str) -> None:
    around = f"Bridges were opened, and all vouchers provided. {text} The buyer had paid for land."
    others = ("The CAO did provide the vouchers. The buyer had paid. Bron öppnades.", around)
    assert verdict(text, others).label == "supported"


@pytest.mark.parametrize(
    "passage",
    [
        "It is not true that the bridge was closed in 2030.",
        "No one disputes the cost, but the mayor denied that the bridge was closed in 2030.",
        "The claim that the bridge was closed in 2030 is false.",
    ],
)
def test_a_quotation_without_the_denial_around_it_is_contradicted(passage: str) -> None:
    claim = "The bridge was closed in 2030."
    assert verdict(claim, (passage,)).label == "contradicted"
    assert verdict(claim, (passage, f"Minutes: {claim}")).label == "supported"
