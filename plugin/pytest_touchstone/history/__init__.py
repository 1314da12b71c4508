"""The runs of a store one after another: each measure with what changed on the way."""

from pytest_touchstone.history.page import page_html
from pytest_touchstone.history.series import Point, RunFigures, Series, series_of
from pytest_touchstone.history.text import csv_text, data, text_lines

__all__ = [
    "Point",
    "RunFigures",
    "Series",
    "csv_text",
    "data",
    "page_html",
    "series_of",
    "text_lines",
]
