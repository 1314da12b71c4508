"""Makes ``changes.jsonl`` from the demonstrations: gold answers, their passages, one thing changed.

Each gold answer stands with the passages that it rests on and the chunks most like them, so that
the right figure of the wrong district is there to be confused with.  The changes are made by
substitution and know nothing of the judge.

    python -m evaluation.judge_fitting.make_changes
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_touchstone.tokens import tokens

ROOT = Path(__file__).parents[1]
SOURCES = (
    ("audit", ROOT / "demo/audit/corpus.jsonl", ROOT / "data/test_set_v2026-11-30.jsonl"),
    ("riksdag", ROOT / "demo/riksdag/corpus.jsonl", ROOT / "demo/riksdag/gold.jsonl"),
)
PASSAGES = 5
_UNITS = {
    "million": "billion",
    "billion": "million",
    " km": " miles",
    "days": "weeks",
    "hectares": "acres",
    "months": "days",
    "per cent": "percentage points",
    "miljarder": "miljoner",
    "miljoner": "miljarder",
    "procent": "procentenheter",
    "kilometer": "meter",
    "kronor": "dollar",
    "dagar": "veckor",
}
_NEGATIONS = (
    (r"\b(was|were|is|are|had|has)\b(?! not| no\b)", r"\1 not"),
    (r"\b(did|does|do|was|were|had) not\b", r"\1"),
    (r"\b(är|var|har|vill|ska|kan|får)\b(?! inte)", r"\1 inte"),
    (r"\b(vill|ska|är|har|kan) inte\b", r"\1"),
)


def main() -> None:
    """Write the file."""
    lines = [json.dumps(each, ensure_ascii=False) for source in SOURCES for each in items(*source)]
    Path(__file__).with_name("changes.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


def items(name: str, corpus: Path, gold: Path) -> Iterator[Mapping[str, Any]]:
    """One item for each gold answer that rests on passages."""
    chunks = {each["id"]: each for each in _read(corpus)}
    words = {key: frozenset(tokens(each["text"])) for key, each in chunks.items()}
    pools = _pools(chunks.values())
    for case in _read(gold):
        ids = [g if isinstance(g, str) else g["id"] for g in case.get("gold_chunks", ())]
        if not ids:
            continue
        found = [*ids, *_most_alike(ids, words)][: max(PASSAGES, len(ids))]
        answer = case["answer"]
        yield {
            "id": f"{name}-{case['id']}",
            "split": "dev" if _digest(case["id"]) % 2 else "heldout",
            "chunks": found,
            "answer": answer,
            "changes": [[kind, text] for kind, text in _changes(answer, case["id"], pools)],
        }


def _most_alike(ids: Sequence[str], words: Mapping[str, frozenset[str]]) -> list[str]:
    wanted = frozenset().union(*(words[key] for key in ids))

    def likeness(key: str) -> tuple[float, str]:
        return -len(words[key] & wanted) / len(words[key] | wanted), key

    return sorted((key for key in words if key not in ids), key=likeness)[:PASSAGES]


def _pools(chunks: Any) -> Mapping[str, list[str]]:
    """Names to exchange, by kind, from the metadata."""
    pools: dict[str, set[str]] = {"district": set(), "name": set()}
    for each in chunks:
        about = each["metadata"]
        pools["district"].update(v for v in (about.get("district"), about.get("city")) if v)
        speaker = about.get("speaker")
        pools["name"].update({speaker.split()[-1]} if speaker and " " in speaker else ())
        pools["name"].update(v for v in (about.get("party"), about.get("ministry")) if v)
    return {kind: sorted(pool) for kind, pool in pools.items()}


def _changes(
    answer: str, case_id: str, pools: Mapping[str, list[str]]
) -> Iterator[tuple[str, str]]:
    seed = _digest(case_id)
    number = re.search(r"(?<![\d/.,-])(?!(?:19|20)\d\d\b)\d[\d.,  ]*\d(?![\d/])", answer)
    if number:
        changed = _other_digits(number[0])
        yield "number", answer[: number.start()] + changed + answer[number.end() :]
    for old, new in _UNITS.items():
        if old in answer:
            yield "unit", answer.replace(old, new, 1)
            break
    year = re.search(r"\b20(\d\d)/(\d\d)\b", answer)
    plain = re.search(r"(?<![\d/.,-])20\d\d(?![\d/])", answer)
    if year:
        later = f"20{int(year[1]) + 2}/{int(year[2]) + 2}"
        yield "year", answer[: year.start()] + later + answer[year.end() :]
    elif plain:
        yield "year", answer[: plain.start()] + str(int(plain[0]) - 3) + answer[plain.end() :]
    for kind, pool in pools.items():
        held = next((name for name in pool if re.search(rf"\b{re.escape(name)}\b", answer)), None)
        others = [name for name in pool if name not in answer]
        if held and others:
            yield kind, answer.replace(held, others[seed % len(others)], 1)
    for pattern, replacement in _NEGATIONS:
        negated, count = re.subn(pattern, replacement, answer, count=1)
        if count:
            yield "negation", negated
            break


def _other_digits(number: str) -> str:
    digits = [c for c in number if c.isdigit()]
    turned = digits[::-1] if digits != digits[::-1] and digits[-1] != "0" else None
    turned = turned or [str((int(digits[0]) + 3) % 9 + 1), *digits[1:]]
    given = iter(turned)
    return "".join(next(given) if c.isdigit() else c for c in number)


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def _read(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


if __name__ == "__main__":
    main()
