"""Writes the Swedish demonstration's corpus from its hand-written debates.

    python -m evaluation.demo.riksdag.generate

`debates.txt` holds every speech as it was written; what is added here is what a protocol adds by
itself: the words that open and close a debate.  No chance and no clock take part, so that two
runs write the same bytes.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent

PARTIES: Mapping[str, str] = {
    "Framstegspartiet": "FR",
    "Landsbygdsunionen": "LU",
    "Stadslistan": "SL",
    "Gröna samlingen": "GS",
    "Löntagarförbundet": "LF",
}
"""Party, as the metadata write it, to the letters that the protocol puts behind a name."""

SPEAKERS: Mapping[str, str] = {
    "Sigrid Ahlmarker": "Framstegspartiet",
    "Torvald Brunskog": "Framstegspartiet",
    "Nadja Ceylan-Frost": "Framstegspartiet",
    "Tomas Ekviken": "Landsbygdsunionen",
    "Östen Knipbrink": "Landsbygdsunionen",
    "Märta Stenhagen-Ry": "Landsbygdsunionen",
    "Göran Äppelvik": "Landsbygdsunionen",
    "Leila Norrbacka": "Stadslistan",
    "Agnes Quistmark": "Stadslistan",
    "Viktor Ståhlrot": "Stadslistan",
    "Åsa Lavskär": "Gröna samlingen",
    "Imani Sörgård": "Gröna samlingen",
    "Elof Vinterbäck": "Gröna samlingen",
    "Samira Ekviken": "Löntagarförbundet",
    "Rut Hammarlöv": "Löntagarförbundet",
    "Börje Tunklint": "Löntagarförbundet",
}
"""Speaker to party; the two named Ekviken are meant to be taken for one another."""

CHAIR = "Talmannen"
PRESIDIUM = "Presidiet"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One chunk in the making; ``noise`` names the kind of boilerplate, ``""`` for a speech."""

    id: str
    speaker: str
    text: str
    noise: str = ""


@dataclass(frozen=True, slots=True)
class Debate:
    """One sitting's debate on one topic, in the order in which it was spoken."""

    id: str
    date: str
    topic: str
    title: str
    paragraphs: tuple[Paragraph, ...]


def read_debates(text: str) -> tuple[Debate, ...]:
    """The debates of a source text.

    `# id | date | topic | title` starts a debate, `@ speaker` a speech, `~kind` a paragraph that
    is boilerplate; blank lines part paragraphs.
    """
    parts = re.split(r"^# ", unicodedata.normalize("NFC", text), flags=re.MULTILINE)
    return tuple(_debate(part) for part in parts[1:])


def _debate(part: str) -> Debate:
    head, _, body = part.partition("\n")
    name, date, topic, title = (field.strip() for field in head.split("|"))
    return Debate(name, date, topic, title, tuple(_paragraphs(name, body)))


def _paragraphs(debate: str, body: str) -> Iterator[Paragraph]:
    speech = paragraph = 0
    speaker = ""
    for block in body.strip().split("\n\n"):
        lines = block.splitlines()
        if lines[0].startswith("@"):
            speaker = lines.pop(0).removeprefix("@").strip()
            speech, paragraph = speech + 1, 0
        noise = lines.pop(0).removeprefix("~") if lines[0].startswith("~") else ""
        paragraph += 1
        yield Paragraph(f"{debate}-{speech}-{paragraph}", speaker, " ".join(lines), noise)


def whole(debate: Debate) -> tuple[Paragraph, ...]:
    """The debate's paragraphs between the chair's opening and closing words."""
    names = dict.fromkeys(paragraph.speaker for paragraph in debate.paragraphs)
    listed = ", ".join(f"{name} ({PARTIES[SPEAKERS[name]]})" for name in names)
    opening = (
        f"Kammaren övergick till att debattera ärendet {debate.title}. Debatten gäller utskottets "
        f"betänkande om {debate.topic} den {debate.date}. Talarlistan är fastställd i samråd med "
        f"partigrupperna och upptar följande ledamöter: {listed}. Var och en har åtta minuter för "
        "sitt anförande, och därefter medges replik om högst två minuter."
    )
    closing = (
        "Därmed var överläggningen avslutad. Ärendet skulle avgöras vid ett senare tillfälle. "
        "Ledamöter som önskar foga en röstförklaring till protokollet lämnar den till "
        f"kammarkansliet senast dagen efter beslutet om {debate.topic}."
    )
    return (
        Paragraph(f"{debate.id}-start", CHAIR, opening, "öppning"),
        *debate.paragraphs,
        Paragraph(f"{debate.id}-slut", CHAIR, closing, "avslutning"),
    )


def corpus_lines(debates: Sequence[Debate]) -> Iterator[str]:
    """One chunk a line: id, text and the metadata that filters select on."""
    for debate in debates:
        for paragraph in whole(debate):
            metadata = {
                "speaker": paragraph.speaker,
                "party": SPEAKERS.get(paragraph.speaker, PRESIDIUM),
                "date": debate.date,
                "year": debate.date[:4],
                "topic": debate.topic,
                "debate": debate.id,
            }
            yield _line({"id": paragraph.id, "text": paragraph.text, "metadata": metadata})


def noise_lines(debates: Sequence[Debate]) -> Iterator[str]:
    """One line for each paragraph that says nothing about its topic."""
    for debate in debates:
        for paragraph in whole(debate):
            if paragraph.noise:
                yield _line({"id": paragraph.id, "kind": paragraph.noise})


def _line(data: Mapping[str, object]) -> str:
    return json.dumps(data, ensure_ascii=False) + "\n"


def write(folder: Path) -> None:
    """Write `corpus.jsonl` and `noise.jsonl` into the folder."""
    debates = read_debates((HERE / "debates.txt").read_text("utf-8"))
    for name, lines in (("corpus", corpus_lines(debates)), ("noise", noise_lines(debates))):
        (folder / f"{name}.jsonl").write_text("".join(lines), "utf-8", newline="\n")


if __name__ == "__main__":
    write(HERE)
