"""What the scores of a case rest on, in lines of text: claims, paragraphs, citations, turns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_touchstone.report.model import Json

_SEEN_ANYWAY = ({"ranks", "found_as", "returned"}, {"expected", "found"}, {"if_none_inferred"})
"""Keys of details that only say what stands beside passages and filters anyway."""
_FIRST = ("label", "verdict", "form", "claim", "point", "text")
"""What is told of an entry before all else: its verdict, and what that is about."""
_WORDS = {None: "none", True: "yes", False: "no"}


def evidence(details: Mapping[str, Json]) -> Iterator[tuple[str, list[str]]]:
    """A title and lines for each kind of evidence; that of several measures once.

    Nothing in it is safe to print yet.
    """
    told: dict[str, tuple[list[str], Json]] = {}
    for measure, detail in details.items():
        # A contradiction stands with all claims already.
        again = measure == "Contradictions" and "Faithfulness" in details
        if again or any(detail.keys() <= seen for seen in _SEEN_ANYWAY):
            continue
        text = json.dumps(detail, sort_keys=True)
        told.setdefault(text, ([], detail))[0].append(measure)
    for measures, detail in told.values():
        if lines := list(_lines(detail)):
            yield ", ".join(measures), lines


def _lines(detail: Json) -> Iterator[str]:
    plain = {}
    for name, value in detail.items():
        if isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
            for one in value:
                yield from _entry(one)
        elif isinstance(value, Mapping) and value:
            yield f"{name}: {_pairs(value)}"
        else:
            plain[name] = value
    if "rationale" in plain:
        yield from _entry(plain)
    elif plain:
        yield _pairs(plain)


def _entry(entry: Mapping[str, Any]) -> Iterator[str]:
    """One claim, paragraph, citation or turn: its verdict and text, and beneath what they rest on.

    What is not named here is told by its own name, so that nothing is left out.
    """
    rest = dict(entry)
    head = [_plain(rest.pop(name)) for name in _FIRST if rest.get(name) is not None]
    rationale = rest.pop("rationale", None)
    quotation, found = rest.pop("quotation", None), rest.pop("quotation_found", True)
    lists = {name: rest.pop(name) for name, value in entry.items() if _is_list(value)}
    about = _pairs({name: value for name, value in rest.items() if value is not None})
    yield "- " + ": ".join(head or [about])
    if head and about:
        yield f"    {about}"
    if quotation:
        missing = "" if found else " (does not stand in the text)"
        yield f"    “{quotation}”{missing}"
    if rationale:
        yield f"    {rationale}"
    for name, values in lists.items():
        for value in values:
            yield f"    {name}: {_pairs(value)}"


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and all(isinstance(one, Mapping) for one in value or ())


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_plain(value)}" for name, value in values.items())


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value) or "none"
    return json.dumps(value, ensure_ascii=False)
