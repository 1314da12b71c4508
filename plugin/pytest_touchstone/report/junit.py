"""A report as JUnit XML, for whatever shows test results: cases and gates as test cases.

The elements are those that pytest's own file has: `failure` for what turns a run red, `error` for
a system that failed, `skipped` for what was not asked, properties for numbers.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple
from xml.etree import ElementTree as ET

from pytest_touchstone.report.display import printable
from pytest_touchstone.report.model import CaseEntry, GateEntry, Report

_LONGEST = 2000


class _Score(NamedTuple):
    case: str
    system: str
    repeat: int
    measure: str


# What XML 1.0 cannot hold at all, not even escaped.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(report: Report) -> str:
    """Test suites `gates` and one for each system; XML that says UTF-8."""
    root = ET.Element("testsuites", name="touchstone")
    if report["gates"]:
        _gates(ET.SubElement(root, "testsuite", name="gates"), report["gates"])
    by_system: dict[str, list[CaseEntry]] = defaultdict(list)
    for case in report["cases"]:
        by_system[case["system"]].append(case)
    low = _low(report)
    for system, cases in by_system.items():
        suite = ET.SubElement(root, "testsuite", name=_text(system))
        for case in cases:
            _case(suite, case, low)
        _tally(suite)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _low(report: Report) -> dict[_Score, str]:
    """Scores beyond a floor, with what is to be said of each."""
    found = {}
    for entry in report["findings"]["low"]:
        line = f"{entry['measure']} {entry['value']:g}, floor {entry['floor']:g}: {entry['why']}"
        place = _Score(entry["case"], entry["system"], entry["repeat"], entry["measure"])
        found[place] = printable(f"LOW {line}", _LONGEST)
    return found


def _gates(suite: ET.Element, entries: list[GateEntry]) -> None:
    for entry in entries:
        test = ET.SubElement(
            suite, "testcase", classname="gates", name=_text(entry["expression"]), time="0"
        )
        why = _text(entry["why"])
        if entry["outcome"] == "fail":
            ET.SubElement(test, "failure", message=why)
        elif entry["outcome"] != "pass":
            ET.SubElement(test, "skipped", message=f"{entry['outcome']}: {why}")
    _tally(suite)


def _case(suite: ET.Element, case: CaseEntry, low: Mapping[_Score, str]) -> None:
    repeat = f" #{case['repeat'] + 1}" if case["repeat"] else ""
    mode = "" if case["mode"] == "recorded" else f" ({case['mode']})"
    name = _text(f"{case['case']}{mode}{repeat}")
    test = ET.SubElement(
        suite,
        "testcase",
        classname=_text(f"{case['system']}.{case['gold']['type']}"),
        name=name,
        time="0",
    )
    properties = ET.SubElement(test, "properties")
    for measure, value in case["scores"].items():
        shown = case["reasons"].get(measure, "unscored") if value is None else repr(value)
        ET.SubElement(properties, "property", name=_text(measure), value=_text(shown))
    if case["error"] is not None:
        message = f"{case['error']['kind']}: {case['error']['message']}"
        ET.SubElement(test, "error", message=_text(message))
    places = (_Score(case["case"], case["system"], case["repeat"], name) for name in case["scores"])
    if lines := [low[place] for place in places if place in low]:
        ET.SubElement(test, "system-out").text = _legal("\n".join(lines))


def _tally(suite: ET.Element) -> None:
    tests = suite.findall("testcase")
    counts = {
        "tests": len(tests),
        "failures": len(suite.findall("testcase/failure")),
        "errors": len(suite.findall("testcase/error")),
        "skipped": len(suite.findall("testcase/skipped")),
    }
    for name, number in counts.items():
        suite.set(name, str(number))


def _text(text: str) -> str:
    return _legal(printable(text, _LONGEST))


def _legal(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", text)
