"""Prompt files: YAML front matter, then a body with `{placeholders}`.

The front matter holds `name` and `version`; where the reply is read by a program also `schema`,
a JSON Schema of the reply, and `params`, parameters of the call such as `temperature`.

What fills a placeholder is untrusted text: a question, a passage, an earlier answer.  Each is set
between two marks that are derived from the text itself, so that no text can close its own block
and go on as an instruction.  The same data gives the same prompt, which keeps calls cacheable.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from pytest_touchstone.storable import json_data
from pytest_touchstone.unusable import Unusable

_PLACEHOLDER = re.compile(r"\{([a-z][a-z_]*)\}")
_FRONT_MATTER = re.compile(r"---\n(.*?)^---\n(.*)", re.DOTALL | re.MULTILINE)


_REQUIRED = {"name", "version"}
_OPTIONAL = {"schema", "params"}


class PromptError(Unusable):
    """A prompt file that cannot be used: what is wrong and what is expected."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt; ``sha256`` is that of the whole file and identifies it in a report.

    :param schema: JSON Schema of the reply, where the reply is to be JSON.
    :param params: parameters of the call.
    """

    name: str
    version: str
    body: str
    sha256: str
    schema: Mapping[str, Any] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def placeholders(self) -> frozenset[str]:
        """The names that :meth:`fill` must be given."""
        return frozenset(_PLACEHOLDER.findall(self.body))

    def fill(self, **data: str) -> str:
        """The body with each placeholder replaced by its text, fenced off as data.

        :raises PromptError: where ``data`` and the placeholders differ.
        """
        if data.keys() != self.placeholders:
            expected = ", ".join(sorted(self.placeholders)) or "none"
            raise PromptError(
                f"prompt {self.name}: has the placeholders {expected};"
                f" given: {', '.join(sorted(data)) or 'none'}"
            )
        return _PLACEHOLDER.sub(lambda found: _fenced(found[1], data[found[1]]), self.body)


def load_prompt(text: str) -> Prompt:
    """A prompt from the text of its file.

    :raises PromptError: where the front matter is missing, lacks `name` or `version`, or holds
        something else than those, a `schema` and `params`.
    """
    text = text.replace("\r\n", "\n")
    found = _FRONT_MATTER.match(text)
    if found is None:
        raise PromptError("prompt: must start with front matter between two lines `---`")
    try:
        front: Any = yaml.safe_load(found[1])
    except yaml.YAMLError as error:
        raise PromptError(f"prompt: front matter is not YAML: {error}") from None
    if not isinstance(front, dict) or not _REQUIRED <= front.keys() <= _REQUIRED | _OPTIONAL:
        raise PromptError(
            "prompt: front matter holds `name` and `version`, and may hold `schema` and `params`"
        )
    digest = hashlib.sha256(text.encode()).hexdigest()
    schema, params = _object(front, "schema"), _object(front, "params")
    return Prompt(
        str(front["name"]), str(front["version"]), found[2].strip(), digest, schema, params or {}
    )


def _object(front: Mapping[str, Any], key: str) -> dict[str, Any] | None:
    if key not in front:
        return None
    if not isinstance(front[key], dict):
        raise PromptError(f"prompt {front['name']}: `{key}` is not a mapping")
    try:
        data: dict[str, Any] = json_data(front[key], key)
    except ValueError as error:
        raise PromptError(f"prompt {front['name']}: {error}") from None
    return data


def _fenced(name: str, text: str) -> str:
    # The mark depends on the text, so a text that holds its own mark cannot be written.
    mark = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
    return f"[begin {name} {mark}]\n{text}\n[end {name} {mark}]"
