"""A report as a page to hand over: one HTML file, made from the report alone."""

from pytest_touchstone.report.page.document import Assets, page_pieces

__all__ = ["Assets", "page_pieces"]
