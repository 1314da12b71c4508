"""Write the corpus of the audit demonstration, and beside it which of its chunks are noise.

    python -m evaluation.demo.audit.generate

``corpus.jsonl`` is what a collection is built from; ``noise.jsonl`` (``{"id", "kind"}``) is read
by no system.  The same files come out byte for byte on every run and every machine.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evaluation.demo.audit import wording
from evaluation.demo.audit.facts import (
    ENTITIES,
    LOCAL,
    THEMES,
    TOPICS,
    YEARS,
    Entity,
    Key,
    Stated,
    Value,
    categories,
    chance,
    draw,
    fact,
    finding,
    fiscal_year,
    has_report,
    local_findings,
    pick,
    shown,
)

HERE = Path(__file__).parent
_FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk in the making.

    :param closing: a last sentence without figures, where a chunker may cut; it is not in
        ``text`` yet.
    :param states: what a reader can learn from the chunk, field by field.
    :param noise: the kind of noise that it is; empty for content.
    """

    text: str
    states: frozenset[Stated] = frozenset()
    category: str = ""
    closing: str = ""
    noise: str = ""
    extra: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A report: its id is the cluster of the questions about it."""

    id: str
    title: str
    short: str
    year: str
    source: str
    body: tuple[tuple[str, str], ...]
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class AuditChunk:
    """A finished chunk with what only this demonstration knows of it."""

    id: str
    text: str
    metadata: Mapping[str, Value]
    document: str
    states: frozenset[Stated]
    noise: str


def corpus() -> tuple[AuditChunk, ...]:
    """All chunks, document by document."""
    return tuple(chunk for document in documents() for chunk in _chunks(document))


def documents() -> Iterator[Document]:
    """All reports: those of bodies, then the consolidated ones, then the thematic ones."""
    for entity in ENTITIES.values():
        for year in YEARS:
            if has_report(entity, year):
                yield _body_report(entity, year)
    for year in YEARS:
        yield _consolidated(year)
    for theme, years in THEMES.items():
        for year in years:
            yield _thematic(theme, year)


# Reports of one body.


def _body_report(entity: Entity, year: str) -> Document:
    name = f"{'min' if entity.kind == 'ministry' else 'lg'}-{entity.key}-{year}"
    pieces: list[Piece] = []
    for category in categories(entity):
        key = Key(entity.key, year, category)
        if finding(key) is not None:
            pieces += _section(entity, key)
    return Document(
        name,
        f"Report of the Auditor General on {entity.label}, {fiscal_year(year)}",
        entity.short,
        year,
        "ministry" if entity.kind == "ministry" else "district",
        ((entity.kind, entity.name),),
        tuple(_with_noise(name, entity.label, entity.short, year, pieces)),
    )


def _section(entity: Entity, key: Key) -> Iterator[Piece]:
    """The one to three chunks of a finding."""
    table = wording.CENTRAL_WORDING if entity.kind == "ministry" else wording.LOCAL_WORDING
    template = table[key.category][_template(key, len(table[key.category]))]
    first, second = _say(template.first, key, entity), _say(template.second, key, entity)
    closing = _say(template.closing, key, entity)[0]
    prior = _prior(entity, key)
    response, advice = _response(entity, key), _advice(entity, key)
    heading = f"{template.heading} "
    if chance("split", *key, percent=14) and first[1] and second[1]:
        # The chunk border falls between the two figures.
        yield Piece(heading + first[0], first[1], key.category, closing)
        rest: tuple[Said, ...] = (second, prior, response)
    else:
        start = _join(first, second)
        mode = draw("response", *key, low=0, high=9)
        if mode < 4:
            start = _join(start, prior, response)
            yield Piece(heading + start[0] + " " + closing, start[1], key.category)
            rest = ()
        else:
            start = _join(start, prior)
            yield Piece(heading + start[0], start[1], key.category, closing)
            rest = (response,) if mode > 6 else ()
    if rest and rest[0] is second:
        said = _join(*rest)
        yield Piece(f"{said[0]} {_promise(entity, key)} {closing}", said[1], key.category)
    elif rest:
        text = wording.RESPONSE_CHUNK.format(
            topic=_topic_name(key),
            ent=entity.label,
            fy=fiscal_year(key.year),
            response=response[0],
            promise=_promise(entity, key),
        )
        yield Piece(text, response[1], key.category)
    if chance("advice", *key, percent=17):
        text = wording.ADVICE_CHUNK.format(
            topic=_topic_name(key),
            short=entity.short,
            fy=fiscal_year(key.year),
            advice=advice[0],
        )
        yield Piece(text, advice[1], key.category)


Said = tuple[str, frozenset[Stated]]


def _template(key: Key, many: int) -> int:
    return draw("template", *key, low=0, high=many - 1)


def _say(template: str, key: Key, entity: Entity) -> Said:
    """The sentence, and the fields of the finding that it states."""
    values = fact(key)
    fields = [name for name in _FIELD.findall(template) if name in values]
    text = template.format(
        ent=entity.label,
        short=entity.short,
        officer=entity.officer,
        fy=fiscal_year(key.year),
        **{name: shown(key, name) for name in fields},
    )
    return text[0].upper() + text[1:], frozenset(Stated(key, name) for name in fields)


def _join(*said: Said) -> Said:
    texts = [text for text, _ in said if text]
    return " ".join(texts), frozenset().union(*(states for _, states in said))


def _prior(entity: Entity, key: Key) -> Said:
    """A look back on last year's first figure, which makes it stand in two years' reports."""
    before = Key(key.entity, str(int(key.year) - 1), key.category)
    ranked = categories(entity)[key.category].figures[0].name
    if key.category == "drugs" or not chance("prior", *key, percent=22):
        return "", frozenset()
    if before.year not in YEARS or finding(before) is None:
        return "", frozenset()
    text = wording.PRIOR.format(name=_HEADLINES[ranked], prior=shown(before, ranked))
    return text, frozenset({Stated(before, ranked)})


_HEADLINES = {
    "amount": "amount",
    "untitled": "number of pieces of land without title",
    "inspected": "number of schools inspected",
    "broken": "number of broken facilities",
    "shortfall": "shortfall",
    "vacant": "number of vacancies",
    "missed": "backlog in kilometres",
    "contracts": "number of delayed contracts",
    "grounded": "number of grounded vehicles",
}


def _response(entity: Entity, key: Key) -> Said:
    said = _say(pick(wording.RESPONSES, "wording", *key), key, entity)
    if "recovered" in fact(key) and chance("recovered", *key, percent=70):
        return _join(said, _say(wording.RECOVERED, key, entity))
    return said


def _promise(entity: Entity, key: Key) -> str:
    return _say(pick(wording.PROMISES, "promise", *key), key, entity)[0]


def _advice(entity: Entity, key: Key) -> Said:
    return _say(pick(wording.ADVICES, "advise", *key), key, entity)


def _topic_name(key: Key) -> str:
    return wording.TITLES[key.category].lower()


# The consolidated report of a year.


def _consolidated(year: str) -> Document:
    pieces = [_opinions(year)]
    for category in LOCAL:
        key = Key("national", year, category)
        if local_findings(year, category):
            pieces.append(_overview(key))
    for category in wording.YEAR_TABLES[year]:
        pieces += _tables(Key("national", year, category), 8)
    pieces += _highlights(year)
    name = f"con-{year}"
    label = "the Government of Uganda (consolidated)"
    return Document(
        name,
        f"Consolidated report of the Auditor General, {fiscal_year(year)}",
        "Consolidated report",
        year,
        "consolidated",
        (),
        tuple(_with_noise(name, label, "Consolidated report", year, pieces, busy=True)),
    )


def _opinions(year: str) -> Piece:
    key = Key("national", year, "opinions")
    return Piece(*_plain(wording.OPINIONS, key), "opinions")


def _plain(template: str, key: Key) -> Said:
    values = fact(key)
    fields = [name for name in _FIELD.findall(template) if name in values]
    text = template.format(fy=fiscal_year(key.year), **{name: shown(key, name) for name in fields})
    return text, frozenset(Stated(key, name) for name in fields)


def _overview(key: Key) -> Piece:
    body = wording.OVERVIEWS[key.category]
    frame = pick(wording.OVERVIEW_FRAMES, "frame", *key)
    template = frame.replace("{heading}", wording.TITLES[key.category]).replace("{body}", body)
    text, states = _plain(template, key)
    if "{top}" in body:
        best = Key(str(fact(key)["top"]), key.year, key.category)
        ranked = LOCAL[key.category].figures[0].name
        states |= {Stated(best, ranked)}
    return Piece(text, states, key.category)


def _tables(key: Key, rows: int) -> Iterator[Piece]:
    """An annexed table, flattened, in pieces of so many rows."""
    columns, fields = wording.TABLES[key.category]
    number = draw("table", *key, low=3, high=41)
    found = sorted(local_findings(key.year, key.category), key=lambda name: ENTITIES[name].short)
    for start in range(0, len(found), rows):
        more = "" if start == 0 else " (continued)"
        title = f"Table {number}{more}: {wording.TITLES[key.category]}, {fiscal_year(key.year)}."
        lines = []
        states: set[Stated] = set()
        for place, name in enumerate(found[start : start + rows], start=start + 1):
            row = Key(name, key.year, key.category)
            cells = " ".join(f"{fact(row)[field]:,}" for field in fields)
            lines.append(f"{place} {ENTITIES[name].short} {cells}")
            states |= {Stated(row, field) for field in fields}
        note = f"Source: OAG analysis of the individual audit reports, {fiscal_year(key.year)}"
        text = f"{title} No. {columns} {' '.join(lines)} {note}"
        yield Piece(text, frozenset(states), key.category)


def _highlights(year: str) -> Iterator[Piece]:
    """Findings of single bodies that the consolidated report repeats."""
    for entity in ENTITIES.values():
        if entity.kind == "ministry":
            continue
        for category in LOCAL:
            key = Key(entity.key, year, category)
            if finding(key) is None or not chance("highlight", *key, percent=4):
                continue
            first_template = wording.LOCAL_WORDING[category][0]
            first = _say(first_template.first, key, entity)
            second = _say(first_template.second, key, entity)
            text = wording.HIGHLIGHT.format(
                heading=first_template.heading.rstrip("."),
                ent=entity.label,
                fy=fiscal_year(year),
                first=first[0],
                second=second[0],
            )
            yield Piece(text, first[1] | second[1], category, extra=((entity.kind, entity.name),))


# Thematic reports.


def _thematic(theme: str, year: str) -> Document:
    title = wording.THEME_TITLES[theme]
    name = f"theme-{theme}-{year}"
    pieces = []
    for place, subject in enumerate(TOPICS[theme]):
        key = Key(f"theme-{theme}", year, subject)
        frame = wording.THEME_FRAMES[(place + int(year)) % len(wording.THEME_FRAMES)]
        body = wording.THEME_TOPICS[theme][subject]
        template = frame.replace("{title}", title).replace("{body}", body)
        pieces.append(Piece(*_plain(template, key), theme))
    pieces += _illustrations(theme, year)
    return Document(
        name,
        f"{title}: thematic audit report, {fiscal_year(year)}",
        title,
        year,
        "thematic",
        (),
        tuple(_with_noise(name, title, title, year, pieces)),
    )


def _illustrations(theme: str, year: str) -> Iterator[Piece]:
    """Three bodies at a time as examples: figures that stand in their own reports too."""
    found = sorted(
        local_findings(year, theme),
        key=lambda name: draw("example", theme, year, name, low=0, high=999),
    )
    template = wording.LOCAL_WORDING[theme][0].first
    for number, start in enumerate((0, 3), start=1):
        said = [
            _say(template, Key(name, year, theme), ENTITIES[name])
            for name in found[start : start + 3]
        ]
        text, states = _join(*said)
        yield Piece(f"Illustration {number} ({wording.TITLES[theme]}). {text}", states, theme)


# What a chunker and a printer add.


def _with_noise(
    name: str, label: str, short: str, year: str, pieces: Sequence[Piece], busy: bool = False
) -> Iterator[Piece]:
    titles = list(dict.fromkeys(wording.TITLES[p.category] for p in pieces))
    if len(titles) > 2 and (busy or chance("contents", name, percent=42)):
        lines = " ".join(
            f"4.{place} {title} {'.' * 12} {place * 3 + 4}"
            for place, title in enumerate(titles, start=1)
        )
        yield Piece(f"{short}, {fiscal_year(year)}. TABLE OF CONTENTS {lines}", noise="contents")
    numbers = {letter: draw("debris", name, letter, low=11, high=998) for letter in "abcefgh"} | {
        "d": draw("debris", name, "d", low=0, high=9)
    }
    common: dict[str, Value] = {
        "label": label,
        "short": short,
        "year": year,
        "fy": fiscal_year(year),
        "pages": len(pieces) + 24,
    }
    for kind, options, percent in (
        ("boilerplate", wording.BOILERPLATE, 56),
        ("table_debris", wording.DEBRIS, 34),
        ("fragment", wording.FRAGMENTS, 33),
    ):
        for copy in range(len(options) if busy else 1):
            if not busy and not chance(kind, name, percent=percent):
                continue
            template = options[copy] if busy else pick(options, kind, "which", name)
            page = draw(kind, "page", name, str(copy), low=3, high=22)
            text = template.format(page=page, **common, **numbers)
            yield Piece(text, noise=kind)
    yield from pieces


def _chunks(document: Document) -> Iterator[AuditChunk]:
    """Number the pieces, cut closing sentences at chunk borders, add running headers."""
    carried = ""
    page = 4
    pieces = [_spread(document, place, piece) for place, piece in enumerate(document.pieces)]
    for place, piece in enumerate(pieces, start=1):
        name = f"{document.id}-{place:02d}"
        page += draw("pages", name, low=0, high=2)
        text, tail = piece.text, ""
        if piece.closing:
            followed = place < len(pieces)
            text, tail = _cut(name, text, piece.closing, followed)
        if carried:
            text, carried = f"{carried} {text}", ""
        carried = tail
        if not piece.noise and chance("header", name, percent=16):
            text = f"{document.short} {fiscal_year(document.year)} | Page {page} {text}"
        body = dict(piece.extra or document.body)
        metadata: dict[str, Value] = {
            "year": document.year,
            "source": document.source,
            **body,
            **({"category": piece.category} if piece.category else {}),
            "document": document.title,
            "page": page,
        }
        yield AuditChunk(name, text, metadata, document.id, piece.states, piece.noise)


def _spread(document: Document, place: int, piece: Piece) -> Piece:
    """A chunk too long for a cut keeps its closing sentence whole."""
    if piece.closing and len(piece.text) + len(piece.closing) < 330:
        return replace(piece, text=f"{piece.text} {piece.closing}", closing="")
    return piece


def _cut(name: str, text: str, closing: str, followed: bool) -> tuple[str, str]:
    """The text with its closing sentence, and what the next chunk begins with."""
    if not followed or not chance("cut", name, percent=55):
        return f"{text} {closing}", ""
    words = closing.split()
    at = draw("cut", "at", name, low=len(words) // 2, high=len(words) - 3)
    return f"{text} {' '.join(words[:at])}", " ".join(words[at:])


def corpus_lines(chunks: Sequence[AuditChunk]) -> bytes:
    """The bytes of ``corpus.jsonl``."""
    return _lines(
        {"id": chunk.id, "text": chunk.text, "metadata": dict(chunk.metadata)} for chunk in chunks
    )


def noise_lines(chunks: Sequence[AuditChunk]) -> bytes:
    """The bytes of ``noise.jsonl``."""
    return _lines({"id": chunk.id, "kind": chunk.noise} for chunk in chunks if chunk.noise)


def _lines(objects: Iterator[dict[str, object]]) -> bytes:
    return b"".join(json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in objects)


def main() -> None:
    """Write both files beside this module."""
    chunks = corpus()
    (HERE / "corpus.jsonl").write_bytes(corpus_lines(chunks))
    (HERE / "noise.jsonl").write_bytes(noise_lines(chunks))
    noise = sum(bool(chunk.noise) for chunk in chunks)
    many = len({chunk.document for chunk in chunks})
    sys.stdout.write(f"{len(chunks)} chunks of {many} documents, {noise} of them noise\n")


if __name__ == "__main__":
    main()
