"""A comparison as a page: one HTML file that works offline, in the look of a report's page.

All text is untrusted and escaped.  There is no script in it, and its policy lets none run.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_touchstone.comparing import case_words, words
from pytest_touchstone.comparing.model import (
    Against,
    Comparison,
    Difference,
    MeasureDelta,
    MeasureMove,
    Move,
    Run,
    Said,
)
from pytest_touchstone.comparing.strip import reach_of, strip
from pytest_touchstone.report.page.document import Assets, document
from pytest_touchstone.report.page.figure import (
    disclosure,
    figure,
    interval,
    row,
    section,
    table,
    whole,
)
from pytest_touchstone.report.page.markup import Html, Node, tag, untrusted

_ANSWER = 6000
"""Characters of an answer that are shown; the reports have the rest."""
_WHY = 600
_SHORT = {
    "made": "Made of",
    "scores": "Scores",
    "one-sided": "Lost or gained",
    "better": "To the better",
    "worse": "To the worse",
}


def page_html(found: Comparison, style: str) -> str:
    """The comparison as a page.

    :param style: the style sheet of a report's page.
    """
    links, parts = [], []
    for one in found.others:
        several = len(found.others) > 1
        about = f"{one.run.letter} against {found.yardstick.letter}: " if several else ""
        for name, title, inner in _against(one, found.yardstick):
            key = f"{name}-{one.run.letter.lower()}"
            short = f"{one.run.letter}: {_SHORT[name]}" if several else _SHORT[name]
            links.append(tag("li", tag("a", short, href=f"#{key}")))
            parts.append(section(key, about + title, inner))
    runs = [found.yardstick, *(one.run for one in found.others)]
    body = tag(
        "body",
        tag("a", "Skip to what differs", href="#made-b", class_="skip"),
        tag(
            "header",
            tag("h1", words.title(found)),
            [
                tag("p", untrusted(words.verdict(one, found.yardstick)), class_="verdict")
                for one in found.others
            ],
            tag("ul", [tag("li", untrusted(words.run_line(run))) for run in runs], class_="quiet"),
            class_="top",
        ),
        tag("nav", tag("ul", links), aria_label="Parts of this page"),
        tag("main", parts),
    )
    return document(f"{words.title(found)}: comparison of runs", body, Assets(style, ()))


def _against(found: Against, yardstick: Run) -> Iterator[tuple[str, str, Node]]:
    yield "made", "What they were made of", _snapshot(found, yardstick)
    yield "scores", "Scores", _scores(found, yardstick)
    if found.one_sided:
        yield "one-sided", words.one_sided_title(found), _one_sided(found, yardstick)
    for direction, moves in (("better", found.moves.better), ("worse", found.moves.worse)):
        if moves:
            title = words.moved_title(found, direction)
            told = [_move(move, yardstick, found.run) for move in moves]
            yield direction, title, [told, tag("p", f"{words.MOVED}.", class_="quiet")]


def _one_sided(found: Against, yardstick: Run) -> Html:
    items = []
    for one in found.one_sided:
        why = tag("span", " ", untrusted(_cut(one.why)), class_="quiet") if one.why else None
        items.append(tag("li", untrusted(words.one_sided(one, yardstick, found.run)), why))
    return tag("ul", items)


def _snapshot(found: Against, yardstick: Run) -> Node:
    said = tag("p", untrusted(words.summary(found.snapshot)))
    if not found.snapshot:
        return said
    header = ["Differs", yardstick.letter, found.run.letter]
    rows = [_difference(one) for one in found.snapshot]
    return [said, table("What the two runs were made of", header, [tag("tbody", rows)])]


def _difference(one: Difference) -> Html:
    before, after = words.values(one)
    return row(untrusted(words.where(one)), [untrusted(before), untrusted(after)])


def _scores(found: Against, yardstick: Run) -> Node:
    remarks = tag("ul", [tag("li", untrusted(line)) for line in words.remarks(found, yardstick)])
    if not found.measures:
        return remarks
    level = f"Δ ({100 * found.confidence:g}% CI)"
    drawn = tag("span", "Δ drawn", class_="unseen")
    header: list[Node] = [
        "Measure",
        yardstick.letter,
        found.run.letter,
        level,
        drawn,
        "p",
        "Holm",
        "Detects",
    ]
    header += ["Pairs", "Better", "Worse", "Same output"]
    reach = reach_of(found.measures)
    rows = [_score(one, reach, yardstick, found.run) for one in found.measures]
    return [
        remarks,
        table("Differences over the questions asked alike", header, [tag("tbody", rows)]),
        tag(
            "p",
            f"{words.LEGEND}. Detects: the true difference that such a set of questions would show"
            " in 80% of cases. Same output: of the cases that moved, those in which the system did"
            " the same (answer, passages, filters, behaviour).",
            class_="quiet",
        ),
        disclosure(
            "How the intervals were made",
            tag("ul", [tag("li", untrusted(line)) for line in words.methods(found.measures)]),
        ),
    ]


def _score(one: MeasureDelta, reach: float, yardstick: Run, other: Run) -> Html:
    digits, delta = one.digits, one.delta
    kind = "undecided" if one.instrument else one.standing
    word = "read by different instruments" if one.instrument else one.standing
    lower = None if one.higher_is_better else tag("span", " ↓", title="lower is better")
    beside = words.pairs(one, yardstick, other).partition(" ")[2]
    return row(
        [untrusted(one.title), lower],
        [
            figure(one.yardstick, digits),
            figure(one.other, digits),
            [
                tag("span", words.sign(one), class_=f"standing {kind}", aria_hidden="true"),
                tag("span", word, class_="unseen"),
                " ",
                figure(delta["estimate"], digits, signed=True),
                " ",
                interval(delta["ci"], digits, signed=True),
            ],
            tag("span", strip(one, reach), class_=f"standing {kind}"),
            figure(delta["p_value"], 4),
            figure(delta["p_adjusted"], 4),
            figure(delta["detectable"], digits),
            [whole(delta["pairs"]), tag("span", f" {beside}", class_="quiet") if beside else None],
            whole(one.better),
            whole(one.worse),
            "–" if one.same_output is None else whole(one.same_output),
        ],
    )


def _move(move: Move, yardstick: Run, other: Run) -> Html:
    head = tag(
        "span",
        tag("span", untrusted(move.case), class_="id"),
        untrusted(move.type),
        tag("span", figure(move.move, 2, signed=True), class_="score"),
        class_="case-head",
    )
    header = ["Measure", yardstick.letter, other.letter, f"Why ({yardstick.letter})"]
    rows = [_measure(one) for one in move.measures]
    caption = f"Scores of {move.case} that moved"
    return tag(
        "details",
        tag("summary", head, tag("span", untrusted(move.question), class_="question")),
        tag(
            "div",
            [tag("p", line, class_="quiet") for line in case_words.about(move, yardstick, other)],
            tag(
                "div",
                _said(move.yardstick, yardstick, "play"),
                _said(move.other, other, "play own"),
                class_="beside",
            ),
            table(caption, [*header, f"Why ({other.letter})"], [tag("tbody", rows)], class_="fine"),
            class_="inside",
        ),
        class_="case",
        open=True,
    )


def _said(side: Said, run: Run, class_: str) -> Html:
    text = case_words.said(side)
    shown = text[:_ANSWER]
    lines = [[tag("bdi", line), Html("\n")] for line in shown.splitlines()]
    rest = f"… {len(text) - len(shown):,} more characters in the report"
    return tag(
        "section",
        tag("h4", f"{run.letter} ", tag("span", untrusted(run.system), class_="quiet")),
        tag("div", lines, class_="text answer"),
        tag("p", rest, class_="quiet") if len(shown) < len(text) else None,
        class_=class_,
        aria_label=f"What {run.letter} said",
    )


def _measure(one: MeasureMove) -> Html:
    mark = f"{words.OTHER_INSTRUMENT} " if one.other_instrument else None
    return row(
        [mark, untrusted(one.title)],
        [
            figure(one.yardstick, one.digits),
            figure(one.other, one.digits),
            untrusted(_cut(one.yardstick_why)),
            untrusted(_cut(one.other_why)),
        ],
    )


def _cut(why: str) -> str:
    return why if len(why) <= _WHY else f"{why[:_WHY]}…"
