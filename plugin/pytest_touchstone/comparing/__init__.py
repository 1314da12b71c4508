"""Runs beside each other: what differs in what they were made of, in their scores, in their cases.

The first report is the yardstick; each of the others is compared with it.  What is compared is the
system under test of each.
"""

from pytest_touchstone.comparing.compare import compare
from pytest_touchstone.comparing.document import data
from pytest_touchstone.comparing.markdown import markdown
from pytest_touchstone.comparing.model import Comparison
from pytest_touchstone.comparing.page import page_html
from pytest_touchstone.comparing.text import text_lines

__all__ = ["Comparison", "compare", "data", "markdown", "page_html", "text_lines"]
