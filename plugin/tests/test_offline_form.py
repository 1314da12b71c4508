"""The offline judge's form of a chunk: what is a paragraph, and what kind of noise."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.judge.offline import form
from pytest_touchstone.judge.offline.recurrence import Recurrence

ROOT = Path(__file__).parents[2]
SETS = ROOT / "evaluation" / "judge_fitting"


def unknown(line: str) -> float:
    return 0.0


def rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def auc(noisy: list[bool], scores: list[float]) -> float:
    from scipy.stats import mannwhitneyu

    flags, values = np.array(noisy), np.array(scores)
    found = mannwhitneyu(values[flags], values[~flags]).statistic
    return float(found / (flags.sum() * (~flags).sum()))


# The examples of the judge's prompt, which say what each label means.
@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("paragraph", "Rådet granskade tolv kommuner. Tre av dem saknade rutiner."),
        ("boilerplate", "Page 12 of 80 · Office of the Auditor · www.example.org"),
        ("table_debris", "2019 2020 2021 Total 14 3.2 – 7 17.1 Mbale 4"),
        (
            "cut",
            "which the committee had, contrary to the first of the three, and that is also why",
        ),
    ],
)
def test_the_examples_of_the_prompt_have_their_labels(label: str, text: str) -> None:
    assert form.coherence(text, unknown).label == label


@pytest.mark.parametrize(
    "text",
    [
        "Findings\n\nThe council keeps no register [3]. It was asked for one in 2019.",
        "You need:\n- a valid passport\n- a photograph\n- the fee in cash",
        "wage bill. The council paid 14 persons who had left, and recovered nothing from them.",
        "港は二〇一九年に二度浚渫された。水深は七・四メートルになった。",
        "تم تدقيق اثنتي عشرة بلدية. ثلاث منها لم تكن لديها إجراءات.",
        "Satama ruopattiin kahdesti. Syvyys on nyt 7,4 metriä, mikä riittää lautoille talvella.",
        "See the [guide\nfor users](https://example.org/a/b/c) first. It explains each step.",
    ],
)
def test_what_can_be_read_on_its_own_is_a_paragraph(text: str) -> None:
    found = form.coherence(text, unknown)
    assert found.label == "paragraph", found.rationale


@pytest.mark.parametrize("half", ["tune", "report"])
def test_noise_is_told_from_paragraphs_in_both_languages(half: str) -> None:
    texts = [row for row in rows(SETS / "forms.jsonl") if row["split"] == half]
    noise = [form.noise(row["text"], unknown) for row in texts]
    assert auc([row["label"] != "paragraph" for row in texts], noise) >= 0.95


@pytest.mark.parametrize("demo", ["audit", "riksdag"])
def test_the_demonstrations_noise_stands_apart(demo: str) -> None:
    folder = ROOT / "evaluation" / "demo" / demo
    noisy = {row["id"] for row in rows(folder / "noise.jsonl")}
    chunks = rows(folder / "corpus.jsonl")
    # Every noise chunk, and each fifth of the others: the whole is measured by the script.
    some = [c for n, c in enumerate(chunks) if c["id"] in noisy or n % 5 == 0]
    noise = [form.noise(chunk["text"], unknown) for chunk in some]
    assert auc([chunk["id"] in noisy for chunk in some], noise) >= 0.95


def test_a_line_that_many_chunks_hold_is_boilerplate() -> None:
    text = "The members of the board were present, and the minutes of the last meeting were read."
    assert form.coherence(text, unknown).label == "paragraph"
    found = form.coherence(text, lambda _: 0.4)
    assert found.label == "boilerplate"
    assert "many chunks" in found.rationale


def test_repetition_is_known_by_sequences_of_words_not_by_the_letter() -> None:
    chunks = [
        f"The annual report of {name}, which the board had drawn up in accordance with the law on"
        f" accounts and with good custom, was read aloud and signed on {day} May 2020. {own}"
        for day, (name, own) in enumerate(
            [("Mora", "Bridges fell."), ("Falun", "Roads sank."), ("Sund", "Ice broke up.")], 1
        )
    ]
    recurrence = Recurrence(chunks)
    line = (
        chunks[0].replace("Mora", "Rättvik").replace("2020", "2021").removesuffix(" Bridges fell.")
    )
    assert recurrence(line) == 1.0
    assert recurrence("Nobody has ever written these words before.") == 0.0
    assert recurrence("…") == 0.0
    assert Recurrence([])("The annual report of the board.") == 0.0


def test_what_makes_up_most_of_the_text_decides() -> None:
    prose = "The council keeps no register of its land. It was asked for one in 2019, in vain. "
    rows_ = "2019 2020 2021 Total 14 3.2 – 7 17.1 Mbale 4"
    assert form.coherence(prose * 3 + "\n" + rows_, unknown).label == "paragraph"
    assert form.coherence(prose + "\n" + f"{rows_}\n" * 6, unknown).label == "table_debris"
    grades = [form.noise(f"{rows_}\n" * n + prose * 2, unknown) for n in range(5)]
    assert grades == sorted(grades)


@given(st.text(max_size=300))
def test_any_text_has_a_form_a_reason_in_one_line_and_the_same_one_again(text: str) -> None:
    noise, found = form.noise(text, unknown), form.coherence(text, unknown)
    assert 0.0 <= noise <= 1.0
    assert (found.label == "paragraph") == (noise < form.NOISE_FROM)
    assert found.rationale.strip()
    assert len(found.rationale.splitlines()) == 1
    assert form.coherence(text, unknown) == found


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        " ",
        ".",
        "\n",
        "[",
        "[a](",
        "a b. ",
        "1 ",
        "Ab",
        "\x00",
        "(",
        "港。",
        "é,",
        "page ",
        "A. ",
    ],
)
def test_a_megabyte_is_read(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    assert 0.0 <= form.noise(text, unknown) <= 1.0


@pytest.mark.parametrize(
    "text",
    [
        "Home > Guides > Bridges > Tolls  Sign in  Was this page helpful? Yes No",
        "Subscribe to our newsletter. Follow us on Facebook. Read more articles like this.",
        "Page 3 of 40 Bridge Authority Annual Report 2031 Confidential",
        "Search results for “bridge” 1-10 of 90 Sort by: Date",
        "Berg A, Lind K. Bridges 2009;12:34-40. Holm P. Roads 2011;2:1-9.",
    ],
)
def test_furniture_of_pages_is_noise_without_repetition(text: str) -> None:
    assert form.coherence(text, unknown).label != "paragraph"


@pytest.mark.parametrize(
    "text",
    [
        "the bridge is closed on sundays. the toll is then paid at the harbour.",
        "Mr Speaker, I thank the Member for the question. No, we have not built the bridge.",
    ],
)
def test_small_letters_and_thanks_for_a_question_are_paragraphs(text: str) -> None:
    assert form.coherence(text, unknown).label == "paragraph"
