"""Prompt files: YAML front matter (`name`, `version`), then a body with `{placeholders}`.

What fills a placeholder is untrusted text: a question, a passage, an earlier answer.  Each is set
between two marks that are derived from the text itself, so that no text can close its own block
and go on as an instruction.  The same data gives the same prompt, which keeps calls cacheable.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any

import yaml

from pytest_touchstone.unusable import Unusable

_PLACEHOLDER = re.compile(r"\{([a-z][a-z_]*)\}")
_FRONT_MATTER = re.compile(r"---\n(.*?)^---\n(.*)", re.DOTALL | re.MULTILINE)


class PromptError(Unusable):
    """A prompt file that cannot be used: what is wrong and what is expected."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt; ``sha256`` is that of the whole file and identifies it in a report."""

    name: str
    version: str
    body: str
    sha256: str

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

    :raises PromptError: where the front matter is missing or lacks `name` or `version`.
    """
    text = text.replace("\r\n", "\n")
    found = _FRONT_MATTER.match(text)
    if found is None:
        raise PromptError("prompt: must start with front matter between two lines `---`")
    try:
        front: Any = yaml.safe_load(found[1])
    except yaml.YAMLError as error:
        raise PromptError(f"prompt: front matter is not YAML: {error}") from None
    if not isinstance(front, dict) or front.keys() != {"name", "version"}:
        raise PromptError("prompt: front matter holds exactly `name` and `version`")
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Prompt(str(front["name"]), str(front["version"]), found[2].strip(), digest)


def _fenced(name: str, text: str) -> str:
    # The mark depends on the text, so a text that holds its own mark cannot be written.
    mark = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
    return f"[begin {name} {mark}]\n{text}\n[end {name} {mark}]"
