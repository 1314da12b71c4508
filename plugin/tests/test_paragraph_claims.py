"""Does a paragraph claim anything: rules in English and Swedish, and for the rest."""

from __future__ import annotations

import pytest

from pytest_touchstone.paragraphs import paragraphs
from pytest_touchstone.paragraphs.claims import makes_claims


def claims(text: str) -> bool:
    (found,) = paragraphs(text)
    return found.claims


@pytest.mark.parametrize(
    "text",
    [
        "Gulu lost 7 million.",
        "Yes.",
        "42",
        "Sure, Gulu lost 7 million.",
        "Sure! Gulu lost 7 million.",
        "I found that Gulu lost 7 million.",
        "I could not find the total, but Gulu lost 7 million.",
        "Tack vare anslaget byggdes bron.",
        "Visst föreslog hon det.",
        "Jag hittar inte summan, men Gulu förlorade 7 miljoner.",
        "Herr talman! Järnvägen är landets pulsåder.",
        "Was it so? It was.",
        "Gulu lost 7 million. The reasons are:",
        "- Gulu: 7 million",
        "鉄道は国の動脈です。",
        "Железная дорога важна",
        "لا شيء أكيد.",
        "What about it? [1]",
        "I do not know [1].",
        "> Quoted words count.",
        "Nothing was stolen.",
    ],
)
def test_claiming(text: str) -> None:
    assert claims(text)


@pytest.mark.parametrize(
    "text",
    [
        "Which year do you mean?",
        "**Vilket år menar du?**",
        "”Vilket år?”",
        "どの年ですか？",
        "The main findings are:",
        "**The findings:**",
        "Hello!",
        "Hi there! Great question.",
        "Of course.",
        "Thank you for your question!",
        "I hope this helps! Let me know if you need more.",
        "If you have further questions, feel free to ask.",
        "Here are the findings.",
        "I don't know.",
        "I don’t know who paid.",
        "Unfortunately, I could not find this in the sources.",
        "Sorry, but I cannot answer that.",
        "The provided documents do not mention Gulu.",
        "There is no information about 2031.",
        "Nothing matches year 2019. What follows leaves out year 2019.",
        "No passages match.",
        "Hej! Tack för din fråga.",
        "Jag vet inte.",
        "Tyvärr hittar jag inget om det.",
        "Tyvärr kan jag inte svara på det.",
        "Källorna nämner inte Gulu.",
        "Underlaget ger inget svar.",
        "Det finns inga uppgifter om 2031.",
        "Hör gärna av dig!",
        "Om du vill veta mer kan jag leta vidare.",
        "Här följer några exempel.",
        "**Sammanfattning**",
        "- ...",
        "***",
    ],
)
def test_not_claiming(text: str) -> None:
    assert not any(each.claims for each in paragraphs(text))


@pytest.mark.parametrize("text", ["<details>\n<summary></summary>", "</details>", "<br>", "&nbsp;"])
def test_tags_and_entities_claim_nothing(text: str) -> None:
    assert not makes_claims(text)


def test_what_stands_between_tags_does() -> None:
    assert makes_claims("<p>The bridge is <b>red</b>.</p>")
