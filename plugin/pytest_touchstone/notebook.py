"""A report as data frames, for notebooks."""

from __future__ import annotations

import importlib
from typing import Any

from pytest_touchstone.report.model import Report
from pytest_touchstone.report.tidy import COLUMNS, tables


def frames(report: Report) -> dict[str, Any]:
    """The report as tidy :class:`pandas.DataFrame`, by name.

    * ``scores``: a row per gold question, system, mode, repeat and measure; ``value`` is missing
      where unscored, and ``reason`` says why;
    * ``answers``: a row per gold question, system, mode and repeat;
    * ``measures``: a row per measure and system, with interval and difference to the baseline;
    * ``types``: a row per measure and type of question, of the system under test;
    * ``gates``: a row per gate;
    * ``passages``: a row per passage returned, with rank and whether it is gold.

    :param report: a report's JSON as it was read, e.g. ``json.loads(path.read_text("utf-8"))``.
    :raises ImportError: without pandas, which this package does not bring.
    """
    try:
        pandas = importlib.import_module("pandas")
    except ImportError as error:
        raise ImportError("data frames need pandas: pip install pandas") from error
    return {
        name: pandas.DataFrame(rows, columns=list(COLUMNS[name]))
        for name, rows in tables(report).items()
    }
