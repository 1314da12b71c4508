"""Whether the judge can be trusted: against people, against what is known, against another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_touchstone.report.model import (
    AgreementEntry,
    Calibrated,
    Canaries,
    CanaryEntry,
    CoefficientEntry,
    MeanEntry,
    Report,
    SecondOpinion,
)
from pytest_touchstone.report.page.figure import (
    counts,
    figure,
    interval,
    row,
    section,
    table,
    whole,
)
from pytest_touchstone.report.page.markup import Html, Node, tag, untrusted
from pytest_touchstone.report.page.reading import case_link


def judging(report: Report, numbers: Mapping[str, int]) -> Html | None:
    """Judge against people, canaries, second opinions.

    :param numbers: case to its number in the page.
    """
    titles = {entry["measure"]: entry["title"] for entry in report["measures"]}
    findings = report["findings"]
    return section(
        "judge",
        "Can the judge be trusted?",
        _corrected(report),
        _agreement(findings["agreement"], titles),
        _canaries(report["snapshot"]["canaries"]),
        _opinions(findings["second_opinion"], titles, numbers),
    )


def _corrected(report: Report) -> Node:
    rows = [
        row(untrusted(entry["title"]), _correction(found))
        for entry in report["measures"]
        if (found := entry["calibrated"]) is not None
    ]
    header = ["Measure", "Corrected", "Judge", "People", "Labels", "λ", "Not counted", "How"]
    if not rows:
        return None
    return [
        tag("h3", "Corrected by people"),
        table("The judge's means, corrected by what people said", header, [tag("tbody", rows)]),
    ]


def _correction(found: Calibrated) -> list[Node]:
    return [
        [figure(found["estimate"], 2), " ", interval(found["ci"], 2)],
        _mean(found["judge"]),
        _mean(found["people"]),
        [whole(found["labels"]), " of ", whole(found["population"])],
        figure(found["slope"], 2),
        counts(found["left_out"]),
        untrusted(found["ci_method"]),
    ]


def _mean(entry: MeanEntry | None) -> Node:
    if entry is None:
        return figure(None, 2)
    return [figure(entry["estimate"], 2), " ", interval(entry["ci"], 2)]


def _agreement(entries: Sequence[AgreementEntry], titles: Mapping[str, str]) -> Node:
    if not entries:
        return None
    rows = [
        row(
            untrusted(titles[entry["measure"]]),
            [
                entry["level"],
                [
                    whole(entry["pairs"]),
                    tag(
                        "span",
                        " of ",
                        whole(entry["answers"]),
                        " answers, ",
                        whole(entry["clusters"]),
                        " clusters",
                        class_="quiet",
                    ),
                ],
                figure(entry["raw"], 2),
                figure(entry["difference"], 2, signed=True),
                [_coefficient(entry["kappa"]), _weights(entry["kappa_weights"])],
                _coefficient(entry["alpha"]),
                [
                    figure(entry["between_people"]["alpha"], 2),
                    tag(
                        "span",
                        " on ",
                        whole(entry["between_people"]["answers"]),
                        " answers",
                        class_="quiet",
                    ),
                ],
            ],
        )
        for entry in entries
    ]
    header = [
        "Measure",
        "Level",
        "Pairs",
        "Same value",
        "Judge − people",
        "Cohen's κ",
        "Krippendorff's α",
        "α among people",
    ]
    return [
        tag("h3", "Judge against people"),
        table("Agreement of judge and people", header, [tag("tbody", rows)]),
        [_confusion(entry, titles[entry["measure"]]) for entry in entries],
    ]


def _weights(weights: str | None) -> Html | None:
    return tag("span", f" ({weights} weights)", class_="quiet") if weights else None


def _coefficient(entry: CoefficientEntry | None) -> Node:
    if entry is None:
        return figure(None, 2)
    return [figure(entry["value"], 2), " ", interval(entry["ci"], 2)]


def _confusion(entry: AgreementEntry, title: str) -> Html | None:
    found = entry["confusion"]
    if found is None:
        return None
    rows = [
        row(value, [whole(number) for number in counts])
        for value, counts in zip(found["values"], found["counts"], strict=True)
    ]
    header = ["Judge", *(f"people: {value}" for value in found["values"])]
    caption = f"{title}: values of judge (rows) and people (columns)"
    return tag(
        "details",
        tag("summary", untrusted(title), ": who gave what"),
        table(caption, header, [tag("tbody", rows)]),
    )


def _canaries(found: Canaries | None) -> Node:
    if found is None:
        return None
    rows = [
        row(untrusted(entry["canary"]), [what, *_canary(entry)])
        for what in ("failed", "drifted", "unanswered")
        for entry in _listed(found, what)
    ]
    asked = tag(
        "p",
        untrusted(found["judge"]),
        " was asked ",
        whole(found["asked"]),
        f" questions whose verdict is known ({found['asked_at'][:16]}): ",
        whole(len(found["failed"])),
        " failed, ",
        whole(len(found["drifted"])),
        " drifted, ",
        whole(len(found["unanswered"])),
        " without verdict.",
    )
    header = ["Canary", "What", "Language", "Right", "Said", "Said before", "Why none"]
    caption = "Canaries that the judge did not answer as before, or not rightly"
    return [
        tag("h3", "Canaries"),
        asked,
        table(caption, header, [tag("tbody", rows)]) if rows else None,
    ]


def _listed(found: Canaries, what: str) -> Sequence[CanaryEntry]:
    return {
        "failed": found["failed"],
        "drifted": found["drifted"],
        "unanswered": found["unanswered"],
    }[what]


def _canary(entry: CanaryEntry) -> list[Node]:
    said = [entry["said"], entry["earlier"], entry["why"]]
    return [
        entry["lang"],
        " or ".join(entry["known"]),
        *(text and untrusted(text) for text in said),
    ]


def _opinions(
    entries: Sequence[SecondOpinion], titles: Mapping[str, str], numbers: Mapping[str, int]
) -> Node:
    if not entries:
        return None
    rows = [
        row(
            untrusted(titles[entry["measure"]]),
            [
                untrusted(entry["engine"]),
                whole(entry["n"]),
                figure(entry["mean"], 2),
                figure(entry["other_mean"], 2),
                figure(entry["difference"], 2),
                [
                    figure(entry["agreement"], 2),
                    tag("span", " of ", figure(entry["threshold"], 2), class_="quiet"),
                ],
                figure(entry["correlation"], 2),
                [whole(entry["far_apart"]), " by more than ", figure(entry["apart"], 2)],
                counts(entry["no_opinion"]),
            ],
        )
        for entry in entries
    ]
    header = [
        "Measure",
        "Engine",
        "n",
        "Mean here",
        "Mean there",
        "Mean distance",
        "Same side",
        "Spearman's ρ",
        "Far apart",
        "No opinion",
    ]
    return [
        tag("h3", "Second opinion"),
        table("The judge beside another engine", header, [tag("tbody", rows)]),
        [_most_apart(entry, titles[entry["measure"]], numbers) for entry in entries],
    ]


def _most_apart(entry: SecondOpinion, title: str, numbers: Mapping[str, int]) -> Html | None:
    if not entry["most_apart"]:
        return None
    items = [
        tag(
            "li",
            case_link(one["case"], numbers),
            " ",
            figure(one["value"], 2),
            " here: ",
            untrusted(one["why"]),
            " — ",
            figure(one["other"], 2),
            " there: ",
            untrusted(one["other_why"]),
        )
        for one in entry["most_apart"]
    ]
    return tag(
        "details",
        tag("summary", untrusted(title), ": where the two differ most"),
        tag("ul", items, class_="reading"),
    )
