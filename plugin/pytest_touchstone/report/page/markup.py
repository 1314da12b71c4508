"""HTML as values: whatever is not :class:`Html` already is text, and is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from pytest_touchstone.report.display import printable

LONGEST = 2000
"""Columns of a text that stands in the page itself; the cases have the rest of it."""

_VOID = frozenset({"meta", "link", "br", "input"})


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Node = Html | str | int | None | Iterable["Node"]
Attribute = str | int | bool | None


def tag(name: str, /, *children: Node, **attributes: Attribute) -> Html:
    """An element.

    :param children: elements, texts (escaped, with control characters and bidirectional overrides
        made visible), or iterables of both; ``None`` is left out.
    :param attributes: ``aria_label`` is `aria-label`, ``class_`` is `class`; ``True`` is an
        attribute without a value, ``None`` and ``False`` leave it out.
    """
    opening = "".join([name, *(_attribute(key, value) for key, value in attributes.items())])
    if name in _VOID:
        return Html(f"<{opening}>")
    return Html(f"<{opening}>{markup(children)}</{name}>")


def markup(node: Node) -> Html:
    """Nodes as one piece of HTML."""
    if node is None:
        return Html("")
    if isinstance(node, Html):
        return node
    if isinstance(node, str | int):
        return Html(escape(printable(str(node), LONGEST)))
    return Html("".join(map(markup, node)))


def untrusted(text: str) -> Html:
    """A text whose direction must not touch what stands around it."""
    return tag("bdi", text)


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(printable(str(value), LONGEST))}"'
