"""Tasks of a judge with replies to them and the verdicts that these are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_touchstone.judge.llm import ALL_PROMPTS
from pytest_touchstone.judge.tasks import (
    BehaviourTask,
    ClaimsTask,
    ClaimVerdictsTask,
    CoherenceTask,
    ConversationTask,
    CoverageTask,
    RelevanceTask,
    SupportTask,
    Task,
    ToneTask,
)
from pytest_touchstone.llm.prompts import Prompt, load_prompt
from pytest_touchstone.paragraphs import Paragraph, paragraphs
from pytest_touchstone.shipped import shipped
from pytest_touchstone.verdicts import (
    BehaviourVerdict,
    CitationVerdict,
    Claims,
    ClaimVerdict,
    Coherence,
    Conversation,
    Coverage,
    ParagraphSupport,
    ParagraphVerdict,
    PassageVerdict,
    PointVerdict,
    Quotation,
    Relevance,
    Tone,
    TurnVerdict,
)


@dataclass(frozen=True)
class Sample:
    """A task, a good reply to it, and its verdict."""

    task: Task[Any]
    reply: dict[str, Any]
    verdict: Any


PASSAGES = ("Bron invigdes i maj 1998.", "Bron kostade ”4 miljoner”.", "Hon är röd.")
ANSWER = "Bron öppnades 1998 [1]. Den kostade 4 miljoner [2]. Hör gärna av dig!"
CITING = "Hej.\n\nÅr 1998 för 4 miljoner [1, 2, 9].\n\nSjunk [7]."

SAMPLES: dict[str, Sample] = {
    "claims": Sample(
        ClaimsTask("Vad kostade bron?", ANSWER),
        {
            "claims": [
                {"sentence": 1, "claim": "Bron öppnades 1998."},
                {"sentence": 2, "claim": "Bron kostade 4 miljoner."},
                {"sentence": 2, "claim": "Bron kostade 4 miljoner."},
            ]
        },
        ("Bron öppnades 1998.", "Bron kostade 4 miljoner."),
    ),
    "claim_verdicts": Sample(
        ClaimVerdictsTask(("Den kostade 4 miljoner.", "Den är blå.", "Den är lång."), PASSAGES),
        {
            "verdicts": [
                {"claim": 2, "passage": 3, "quotation": "är  röd", "rationale": "Röd.",
                 "label": "contradicted"},
                {"claim": 1, "passage": 2, "quotation": 'kostade "4 miljoner"',
                 "rationale": "Står där.", "label": "supported"},
                {"claim": 3, "passage": None, "quotation": None, "rationale": "Inget om längd.",
                 "label": "not_found"},
            ]
        },
        Claims(
            (
                ClaimVerdict("Den kostade 4 miljoner.", "supported", "Står där.", 2,
                             Quotation('kostade "4 miljoner"', True)),
                ClaimVerdict("Den är blå.", "contradicted", "Röd.", 3, Quotation("är  röd", True)),
                ClaimVerdict("Den är lång.", "not_found", "Inget om längd."),
            )
        ),
    ),
    "relevance": Sample(
        RelevanceTask("Vad kostade bron?", PASSAGES[:2]),
        {
            "verdicts": [
                {"passage": 1, "rationale": "Bara året.", "label": "partly"},
                {"passage": 2, "rationale": "Kostnaden.", "label": "relevant"},
            ]
        },
        Relevance(
            (PassageVerdict(1, "partly", "Bara året."), PassageVerdict(2, "relevant", "Kostnaden."))
        ),
    ),
    "coherence": Sample(
        CoherenceTask("Sida 3 av 9"),
        {"rationale": "En sidfot.", "label": "boilerplate"},
        Coherence("boilerplate", "En sidfot."),
    ),
    "coverage": Sample(
        CoverageTask(("Kostade 4 miljoner", "Är längst"), ANSWER),
        {
            "points": [
                {"point": 1, "quotation": "4 miljoner", "rationale": "Ja.", "label": "present"},
                {"point": 2, "quotation": None, "rationale": "Nej.", "label": "absent"},
            ],
            "sentences": [
                {"sentence": 1, "serves": []},
                {"sentence": 2, "serves": [1]},
                {"sentence": 3, "serves": []},
            ],
        },
        Coverage(
            (
                PointVerdict("Kostade 4 miljoner", "present", "Ja.", Quotation("4 miljoner", True)),
                PointVerdict("Är längst", "absent", "Nej."),
            ),
            ("Bron öppnades 1998 [1].", "Den kostade 4 miljoner [2].", "Hör gärna av dig!"),
            (0, 2),
        ),
    ),
    "tone": Sample(
        ToneTask("Vad kostade bron?", ANSWER),
        {
            "formality": {"rationale": "Saklig.", "score": 4},
            "caution": {"rationale": "Utan förbehåll.", "score": 3},
        },
        Tone(4, "Saklig.", 3, "Utan förbehåll."),
    ),
    "support": Sample(
        SupportTask(paragraphs(CITING), PASSAGES),
        {
            "paragraphs": [
                {
                    "paragraph": 1,
                    "sources": [
                        {"source": 2, "label": "partial"},
                        {"source": 1, "label": "partial"},
                    ],
                    "rationale": "Tillsammans allt.",
                    "label": "supported",
                }
            ]
        },
        ParagraphSupport(
            (
                ParagraphVerdict(
                    1, "År 1998 för 4 miljoner [1, 2, 9].", "supported", "Tillsammans allt.",
                    (
                        CitationVerdict(1, "partial"),
                        CitationVerdict(2, "partial"),
                        CitationVerdict(9, "unsupported"),
                    ),
                ),
                ParagraphVerdict(
                    2, "Sjunk [7].", "unsupported", "It cites no source that exists.",
                    (CitationVerdict(7, "unsupported"),),
                ),
            )
        ),
    ),
    "behaviour": Sample(
        BehaviourTask("Vad byggdes 2031?", {"year": "2031", "ok": [True, None]}, "Inget för 2031."),
        {"quotation": "Inget för 2031", "rationale": "Medger.", "label": "admitted"},
        BehaviourVerdict("admitted", "Medger.", Quotation("Inget för 2031", True)),
    ),
    "conversation": Sample(
        ConversationTask((("Vad kostade bron?", "4 miljoner."), ("Och när?", "")), "1998"),
        {
            "turns": [
                {"turn": 1, "rationale": "Ja.", "on_topic": True},
                {"turn": 2, "rationale": "Inget svar.", "on_topic": False},
            ],
            "rationale": "Året saknas.",
            "label": "failed",
        },
        Conversation(
            "failed", "Året saknas.", (TurnVerdict(0, True, "Ja."),
                                       TurnVerdict(1, False, "Inget svar."))
        ),
    ),
}  # fmt: skip


def judge_prompts() -> dict[str, Prompt]:
    """The shipped prompts of the judge, by name."""
    return {
        name: load_prompt(shipped(f"evaluation/prompts/{name}.md").read_text("utf-8"))
        for name in ALL_PROMPTS
    }


def tasks_about(text: str) -> list[Task[Any]]:
    """Every task, with this text in every place where untrusted text can stand."""
    return [
        ClaimsTask(text, f"Ja. {text}"),
        ClaimVerdictsTask((text, "b"), (text, "d"), ({text: text}, {"year": text})),
        RelevanceTask(text, (text, "d"), ({text: text}, {"year": text}), (text,)),
        CoherenceTask(text),
        CoverageTask((text, "b"), f"Ja. {text}"),
        ToneTask(text, text),
        SupportTask(
            (Paragraph(0, text, (1, 2)), Paragraph(1, text, (2,))),
            (text, "d"),
            ({text: text}, {"year": text}),
        ),
        BehaviourTask(text, {"field": text, text: [text]}, text),
        ConversationTask(((text, text), ("c", "d")), text),
    ]
