"""What a person should read: lists of cases, each with the reason why it stands there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from pytest_touchstone.report.model import CaseEntry, Place, Report
from pytest_touchstone.report.page.data import CONTRADICTIONS, contradicting
from pytest_touchstone.report.page.figure import figure, row, section, table, whole
from pytest_touchstone.report.page.markup import Html, Node, tag, untrusted

_SHOWN = 10

P = TypeVar("P", bound=Place)


def reading_lists(report: Report, numbers: Mapping[str, int]) -> Html | None:
    """The lists that have something in them, the gravest first.

    :param numbers: case to its number in the page.
    """
    findings = report["findings"]
    under_test = report["snapshot"]["roles"]["system"]

    def told(place: Place, *about: Node) -> Html:
        system = place["system"]
        other = None if system == under_test else [" (", untrusted(system), ")"]
        return tag("li", case_link(place["case"], numbers), other, " ", about)

    lists: list[tuple[str, list[Html]]] = [
        (
            "System errors",
            [
                told(e, tag("b", untrusted(e["kind"])), " ", untrusted(e["message"]))
                for e in _own_first(findings["system_errors"], under_test)
            ],
        ),
        ("Contradictions", [_contradiction(case, numbers) for case in contradicting(report)]),
        (
            "Silent failures",
            [
                told(e, untrusted(e["why"]))
                for e in _own_first(findings["silent_failures"], under_test)
            ],
        ),
        (
            "Behaviour that is not what the system claims",
            [
                told(e, untrusted(e["why"]))
                for e in _own_first(findings["contradicted"], under_test)
            ],
        ),
        (
            "Supported, says the judge, but hardly covered by what is cited",
            [
                told(
                    e, figure(e["coverage"], 2), " ", untrusted(e["text"]), " ", _scale(e["scale"])
                )
                for e in findings["uncovered"]
            ],
        ),
        (
            "Citations of passages that are not there",
            [
                told(e, f"[{', '.join(map(str, e['numbers']))}] ", untrusted(e["text"]))
                for e in findings["unresolved"]
            ],
        ),
        (
            "Quotations of the judge that do not stand in the text",
            [
                told(e, untrusted(e["measure"]), ": ", tag("q", e["quotation"], dir="auto"))
                for e in findings["unfound_quotations"]
            ],
        ),
        (
            "Scores beyond a floor",
            [
                told(
                    e,
                    untrusted(e["measure"]),
                    " ",
                    figure(e["value"], 2),
                    " (floor ",
                    figure(e["floor"], 2),
                    "): ",
                    untrusted(e["why"]),
                )
                for e in findings["low"]
            ],
        ),
        (
            "Flaky: repeats disagree",
            [
                tag(
                    "li",
                    case_link(e["case"], numbers),
                    " ",
                    untrusted(e["measure"]),
                    ": ",
                    [[figure(value, 2), " "] for value in e["values"]],
                )
                for e in findings["flaky"]
            ],
        ),
    ]
    return section(
        "reading",
        "To read",
        [_list(title, items) for title, items in lists if items],
        _repeats(report),
        _faults(report),
    )


def case_link(case: str, numbers: Mapping[str, int]) -> Html:
    """A link to a case in the page."""
    number = numbers.get(case)
    name = tag("bdi", case, class_="id")
    return name if number is None else tag("a", name, href=f"#case-{number}")


def _own_first(entries: Iterable[P], under_test: str) -> list[P]:
    return sorted(entries, key=lambda entry: entry["system"] != under_test)


def _list(title: str, items: Sequence[Html]) -> list[Node]:
    rest = items[_SHOWN:]
    more = tag(
        "details",
        tag("summary", f"{len(rest)} more"),
        tag("ul", rest, class_="reading"),
    )
    return [
        tag("h3", title, " ", tag("span", whole(len(items)), class_="number")),
        tag("ul", items[:_SHOWN], class_="reading"),
        more if rest else None,
    ]


def _contradiction(case: CaseEntry, numbers: Mapping[str, int]) -> Html:
    value = case["scores"][CONTRADICTIONS]
    why = case["why"].get(CONTRADICTIONS, "")
    return tag("li", case_link(case["case"], numbers), " ", figure(value, 2), " ", untrusted(why))


def _scale(scale: str) -> Html | None:
    return tag("span", "(proxy)", class_="quiet") if scale == "proxy" else None


def _repeats(report: Report) -> Node:
    titles = {entry["measure"]: entry["title"] for entry in report["measures"]}
    rows = [
        row(
            untrusted(titles[entry["measure"]]),
            [
                whole(entry["questions"]),
                figure(entry["between"], 4),
                figure(entry["within"], 4),
                whole(entry["flaky"]),
            ],
        )
        for entry in report["findings"]["repeats"]
    ]
    if not rows:
        return None
    header = ["Measure", "Questions", "Between questions", "Within a question", "Flaky"]
    return [
        tag("h3", "Repeats"),
        table("Variance of scores between questions and within one", header, [tag("tbody", rows)]),
    ]


def _faults(report: Report) -> Node:
    rows = [
        row(untrusted(entry["system"]), [untrusted(entry["kind"]), whole(entry["count"])])
        for entry in report["findings"]["faults"]
    ]
    if not rows:
        return None
    return [
        tag("h3", "Faults by kind"),
        table(
            "How often a system failed in one way",
            ["System", "Kind", "Times"],
            [tag("tbody", rows)],
        ),
    ]
