"""What a person should read: lists of cases, each with the reason why it stands there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from pytest_touchstone.report.model import (
    CaseEntry,
    FlakyFinding,
    LowFinding,
    Place,
    Report,
    UncoveredFinding,
)
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

    def told(title: str, entries: Iterable[P], about: Callable[[P], Node]) -> Node:
        own, others = [], []
        for entry in entries:
            link = case_link(entry["case"], numbers)
            if entry["system"] == under_test:
                own.append(tag("li", link, " ", about(entry)))
            else:
                beside = [" (", untrusted(entry["system"]), ") "]
                others.append(tag("li", link, beside, about(entry)))
        return _list(title, own, others)

    return section(
        "reading",
        "To read",
        told(
            "System errors",
            findings["system_errors"],
            lambda e: [
                tag("b", untrusted(e["kind"])),
                f" ({e['mode']}, turn {e['turn'] + 1}) ",
                untrusted(e["message"]),
            ],
        ),
        told("Contradictions", contradicting(report), _contradiction),
        told("Silent failures", findings["silent_failures"], lambda e: untrusted(e["why"])),
        told(
            "Behaviour that is not what the system claims",
            findings["contradicted"],
            lambda e: untrusted(e["why"]),
        ),
        told(
            "Supported, says the judge, but hardly covered by what is cited",
            findings["uncovered"],
            _uncovered,
        ),
        told(
            "Citations of passages that are not there",
            findings["unresolved"],
            lambda e: [f"[{', '.join(map(str, e['numbers']))}] ", untrusted(e["text"])],
        ),
        told(
            "Quotations of the judge that do not stand in the text",
            findings["unfound_quotations"],
            lambda e: [untrusted(e["measure"]), ": ", tag("q", e["quotation"], dir="auto")],
        ),
        told("Scores beyond a floor", findings["low"], _low),
        _flaky(findings["flaky"], numbers),
        _repeats(report),
        _faults(report, numbers),
    )


def case_link(case: str, numbers: Mapping[str, int]) -> Html:
    """A link to a case in the page."""
    number = numbers.get(case)
    name = tag("bdi", case, class_="id")
    return name if number is None else tag("a", name, href=f"#case-{number}")


def _list(title: str, own: Sequence[Html], others: Sequence[Html] = ()) -> Node:
    """A list with its heading: some of it at once, the rest and that of other systems beneath."""
    if not own and not others:
        return None
    rest = own[_SHOWN:]
    return [
        tag("h3", title, " ", tag("span", whole(len(own)), class_="number")),
        tag("ul", own[:_SHOWN], class_="reading") if own else None,
        _beneath(f"{len(rest)} more", rest),
        _beneath(f"{len(others)} of other systems", others),
    ]


def _beneath(summary: str, items: Sequence[Html]) -> Html | None:
    if not items:
        return None
    return tag("details", tag("summary", summary), tag("ul", items, class_="reading"))


def _contradiction(case: CaseEntry) -> Node:
    value = case["scores"][CONTRADICTIONS]
    return [figure(value, 2), " ", untrusted(case["why"].get(CONTRADICTIONS, ""))]


def _uncovered(entry: UncoveredFinding) -> Node:
    proxy = tag("span", " (proxy)", class_="quiet") if entry["scale"] == "proxy" else None
    return [figure(entry["coverage"], 2), " ", untrusted(entry["text"]), proxy]


def _low(entry: LowFinding) -> Node:
    value, floor = figure(entry["value"], 2), figure(entry["floor"], 2)
    about = untrusted(entry["why"])
    return [untrusted(entry["measure"]), " ", value, " (floor ", floor, "): ", about]


def _flaky(entries: Sequence[FlakyFinding], numbers: Mapping[str, int]) -> Node:
    items = [
        tag(
            "li",
            case_link(entry["case"], numbers),
            " ",
            untrusted(entry["measure"]),
            ": ",
            [[figure(value, 2), " "] for value in entry["values"]],
        )
        for entry in entries
    ]
    return _list("Flaky: repeats disagree", items)


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


def _faults(report: Report, numbers: Mapping[str, int]) -> Node:
    rows = [
        row(
            entry["source"],
            [
                untrusted(entry["system"]),
                untrusted(entry["kind"]),
                whole(entry["count"]),
                case_link(entry["case"], numbers),
                untrusted(entry["message"]),
            ],
        )
        for entry in report["findings"]["faults"]
    ]
    if not rows:
        return None
    header = ["Source", "System", "Kind", "Times", "First case", "Message"]
    return [
        tag("h3", "Faults by kind"),
        table("How often something failed in one way", header, [tag("tbody", rows)]),
    ]
