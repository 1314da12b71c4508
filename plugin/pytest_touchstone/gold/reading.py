"""Reading a gold file: every fault in it at once; nothing runs on a faulty file.

One JSON object a line, UTF-8.  No file is opened here (see ``dataset``).
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from sys import intern
from typing import Any, NamedTuple

from pytest_touchstone.gold.cases import (
    CASE_TYPES,
    Case,
    GoldChunk,
    GoldError,
    GoldFault,
    GoldMessage,
    GoldSet,
)
from pytest_touchstone.nearest import hint, nearest


def parse_gold(data: bytes, *, file: str) -> GoldSet:
    """The gold questions in the bytes of a JSONL file.

    :param file: the file's name, for messages and for the report.
    :raises GoldError: with every fault of the file.
    """
    _refuse_what_is_no_jsonl(data, file)
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    faults: list[GoldFault] = []
    cases: list[Case] = []
    first_line: dict[str, int] = {}
    _check_line_ends(_Place(file, 1, faults), lines)
    for number, raw in enumerate(lines, start=1):
        at = _Place(file, number, faults)
        found = _read_object(at, raw)
        if found is None:
            continue
        name = found.get("id")
        if isinstance(name, str) and first_line.setdefault(name, number) != number:
            at.step("id").fault(f"{_shown(name)} is already the id of line {first_line[name]}")
        case = _read_case(at, found)
        if case is not None:
            cases.append(case)
    if faults:
        raise GoldError(sorted(faults, key=lambda fault: fault.line))
    return GoldSet(file, hashlib.sha256(data).hexdigest(), tuple(cases))


# From bytes to one JSON object a line.

_BOM = b"\xef\xbb\xbf"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")


def _refuse_what_is_no_jsonl(data: bytes, file: str) -> None:
    """Faults of the whole file that would show again as one fault in every line."""
    if data.startswith(_UTF16_BOMS):
        message = "the file is UTF-16; save it as UTF-8 without a byte-order mark"
    elif not data.removeprefix(_BOM).strip():
        message = "the file is empty; it needs one JSON object (a gold question) a line"
    else:
        return
    raise GoldError([GoldFault(file, 1, "", message)])


_Path = tuple[Any, str | int] | None
"""The steps to a place, the last one outermost: made of ten thousand cases, and read of few."""


class _Place(NamedTuple):
    """A place in the file, which takes note of what is wrong there."""

    file: str
    line: int
    faults: list[GoldFault]
    path: _Path = None

    @property
    def field(self) -> str:
        """As a person reads it."""
        steps: list[str | int] = []
        path = self.path
        while path is not None:
            path, step = path
            steps.append(step)
        return reduce(_join, reversed(steps), "")

    def fault(self, message: str) -> None:
        self.faults.append(GoldFault(self.file, self.line, self.field, message))

    def step(self, step: str | int) -> _Place:
        """The place of one key of an object, or of one item of a list."""
        return _Place(self.file, self.line, self.faults, (self.path, step))


def _join(parent: str, step: str | int) -> str:
    """A field's path: ``history[0].filters.year``; odd names in quotes, so that it is one line."""
    if isinstance(step, int):
        return f"{parent}[{step}]"
    if not step.isidentifier() or len(step) > _SHOWN:
        return f"{parent}[{_shown(step)}]"
    return f"{parent}.{step}" if parent else step


_SHOWN = 60  # characters of a value that a message repeats


def _shown(value: object) -> str:
    """A value as a message repeats it: one line, printable, short; a container by its kind."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return repr(value) if len(value) <= _SHOWN else f"{value[:_SHOWN]!r}..."
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _check_line_ends(at: _Place, lines: Sequence[bytes]) -> None:
    """One fault for all CRLFs: they come from one way of saving, not from many mistakes."""
    numbers = [number for number, raw in enumerate(lines, start=1) if raw.endswith(b"\r")]
    if numbers:
        many = f" (as do {len(numbers) - 1} more)" if len(numbers) > 1 else ""
        place = _Place(at.file, numbers[0], at.faults)
        place.fault(f"the line ends in CRLF{many}; save the file with LF line ends")


def _read_object(at: _Place, raw: bytes) -> dict[str, Any] | None:
    """The JSON object of a line, or ``None`` where there is none to look into."""
    if raw.startswith(_BOM):
        at.fault("the line starts with a byte-order mark; save the file without one")
        raw = raw.removeprefix(_BOM)
    if not raw.strip():
        at.fault("the line is blank; remove it")
        return None
    try:
        text = raw.removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        byte = raw[error.start]
        at.fault(f"not UTF-8: byte {error.start + 1} of the line is 0x{byte:02x}; save as UTF-8")
        return None
    repeated: _Repeated = {}
    try:
        value = json.loads(text, object_pairs_hook=_object_builder(repeated))
    except json.JSONDecodeError as error:
        at.fault(f"not JSON at column {error.colno}: {error.msg}")
        return None
    except ValueError:
        at.fault("not usable JSON: a number has thousands of digits")
        return None
    except RecursionError:
        at.fault("not usable JSON: objects or lists are nested too deeply")
        return None
    if not isinstance(value, dict):
        at.fault(f"must be a JSON object, one gold question a line, not {_shown(value)}")
        return None
    _check_values(at, value, repeated)
    return value


_Repeated = dict[int, tuple[dict[str, Any], list[str]]]
"""Identity of an object to the object (kept alive) and the keys that stand in it twice."""


def _object_builder(
    repeated: _Repeated,
) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    """A hook that builds objects and notes where a key stands twice."""

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) < len(pairs):
            counted = Counter(key for key, _ in pairs)
            keys = [key for key, times in counted.items() if times > 1]
            repeated[id(built)] = (built, keys)
        return built

    return build


def _check_values(at: _Place, value: dict[str, Any], repeated: _Repeated) -> None:
    """Faults that JSON allows but that no value of a gold question may have, at any depth."""
    for path, node in _walk(value):
        if isinstance(node, dict):
            for key, problem in _unusable_keys(node, repeated):
                at._replace(path=(path, key)).fault(problem)
        elif isinstance(node, str):
            if problem := _unusable_text(node):
                at._replace(path=path).fault(problem)
        elif isinstance(node, float) and not math.isfinite(node):
            at._replace(path=path).fault(
                "must be a finite number, not NaN or Infinity (1e999 is one)"
            )
    # Left over: objects that a repeated key pushed out of the tree, so that they have no path.
    for _, keys in repeated.values():
        for key in keys:
            at.step(key).fault("stands twice in its object; keep one")


def _unusable_keys(node: dict[str, Any], repeated: _Repeated) -> Iterator[tuple[str, str]]:
    for key in repeated.pop(id(node), (node, []))[1]:
        yield key, "stands twice in its object; keep one"
    for key in node:
        if problem := _unusable_text(key):
            yield key, f"its name {problem}"


def _unusable_text(text: str) -> str:
    """What is wrong with a text that UTF-8 or a database cannot hold; ``""`` if nothing is."""
    if "\0" in text:
        return "holds the NUL character, which not every database takes"
    if not text.isascii() and re.search("[\ud800-\udfff]", text):
        return "holds half of a surrogate pair (\\ud800 to \\udfff), which is no character"
    return ""


def _walk(value: object) -> Iterator[tuple[_Path, object]]:
    """Every node with its path, in document order; no recursion, as depth is the file's choice."""
    waiting: list[tuple[_Path, object]] = [(None, value)]
    while waiting:
        path, node = waiting.pop()
        yield path, node
        if isinstance(node, dict):
            waiting.extend(((path, key), child) for key, child in reversed(node.items()))
        elif isinstance(node, list):
            waiting.extend(((path, i), node[i]) for i in reversed(range(len(node))))


# From a JSON object to a case.  Every reader notes its faults and returns a stand-in where there
# is one; a case is built only from an object without faults.


def _read_case(at: _Place, data: dict[str, Any]) -> Case | None:
    before = len(at.faults)
    _check_names(at, data, tuple(_READERS), required=("id", "type", "question", "answer"))
    values = {
        name: read(at.step(name), data[name]) for name, read in _READERS.items() if name in data
    }
    if "behavior" in data and not data.get("filters"):
        at.step("behavior").fault(
            "is for filters that match nothing, so it needs non-empty `filters` beside it"
        )
    return None if len(at.faults) > before else Case(**values, line=at.line)


def _check_names(
    at: _Place, data: Mapping[str, Any], known: Sequence[str], required: Sequence[str]
) -> None:
    for name in data:
        if name not in known:
            at.step(name).fault(f"unknown field; {hint(name, known)}")
    for name in required:
        if name not in data:
            at.step(name).fault("is missing")


def _string(at: _Place, value: object) -> str:
    if isinstance(value, str):
        return value
    at.fault(f"must be a string, not {_shown(value)}")
    return ""


def _filled(at: _Place, value: object) -> str:
    """A string that is more than white space."""
    text = _string(at, value)
    if isinstance(value, str) and not text.strip():
        at.fault("must not be empty")
    return text


def _list(at: _Place, value: object, of: str) -> list[Any]:
    if isinstance(value, list):
        return value
    at.fault(f"must be a list of {of}, not {_shown(value)}")
    return []


def _strings(at: _Place, value: object) -> tuple[str, ...]:
    items = _list(at, value, "strings")
    return tuple(_filled(at.step(i), item) for i, item in enumerate(items))


def _one_of(*allowed: str) -> Callable[[_Place, object], str]:
    def read(at: _Place, value: object) -> str:
        if isinstance(value, str) and value in allowed:
            return value
        close = nearest(value, allowed) if isinstance(value, str) else None
        meant = f"; did you mean `{close}`?" if close else ""
        at.fault(f"must be {' or '.join(allowed)}, not {_shown(value)}{meant}")
        return ""

    return read


def _id(at: _Place, value: object) -> str:
    text = _string(at, value)
    odd = re.search("[^!-~]", text)
    if isinstance(value, str) and not text:
        at.fault("must not be empty")
    elif odd:
        character = odd.group()
        at.fault(
            f"holds {character!r} (U+{ord(character):04X}); an id is made of printable ASCII "
            "characters without white space"
        )
    return intern(text)  # it stands in many rows


_MESSAGE_FIELDS = ("role", "content", "filters")
_read_role = _one_of("user", "assistant")


def _history(at: _Place, value: object) -> tuple[GoldMessage, ...]:
    items = _list(at, value, "messages")
    messages = tuple(_message(at.step(i), item) for i, item in enumerate(items))
    previous: str = "assistant"
    for i, message in enumerate(messages):
        if message.role and message.role == previous:
            at.step(i).step("role").fault(
                f"must not be `{message.role}` here: roles alternate and start with `user`"
            )
        previous = message.role
    if messages and previous == "user":
        at.fault("must end with an `assistant` message; the final user message is `question`")
    return messages


def _message(at: _Place, value: object) -> GoldMessage:
    no_role: Any = ""
    if not isinstance(value, dict):
        at.fault(f"must be an object with `role` and `content`, not {_shown(value)}")
        return GoldMessage(no_role, "")
    _check_names(at, value, _MESSAGE_FIELDS, required=("role", "content"))
    role: Any = _read_role(at.step("role"), value["role"]) if "role" in value else no_role
    content = ""
    if "content" in value:
        read = _filled if role == "user" else _string  # what is asked live must ask something
        content = read(at.step("content"), value["content"])
    filters = None
    if "filters" in value:
        filters = _filters(at.step("filters"), value["filters"])
        if role == "assistant":
            at.step("filters").fault("only user messages carry filters")
    return GoldMessage(role, content, filters)


_INT64 = range(-(2**63), 2**63)  # what Qdrant and the databases hold as an integer


def _filters(at: _Place, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        at.fault(
            f"must be an object of field names to values, not {_shown(value)}; leave it out where "
            "filters are not labelled"
        )
        return {}
    for name, wanted in value.items():
        here = at.step(name)
        if not name.strip():
            here.fault("a filter needs the name of a field")
        if not isinstance(wanted, list):
            _filter_value(here, wanted)
            continue
        if not wanted:
            here.fault("must hold at least one alternative; leave the field out if none is meant")
        for i, alternative in enumerate(wanted):
            _filter_value(here.step(i), alternative)
    return value


def _filter_value(at: _Place, value: object) -> None:
    if not isinstance(value, str | int | float):  # bool is an int
        at.fault(
            "must be a string, a number, true or false, or a non-empty list of these, "
            f"not {_shown(value)}"
        )
    elif isinstance(value, int) and value not in _INT64:
        at.fault(f"must be an integer of at most 64 bits, not {_shown(value)}")


_read_behavior = _one_of("relaxed", "asked_follow_up", "admitted")


def _behavior(at: _Place, value: object) -> tuple[str, ...]:
    items = _list(at, value, "behaviours")
    if value == []:
        at.fault("must name at least one acceptable behaviour; leave it out if none is labelled")
    accepted: list[str] = []
    for i, item in enumerate(items):
        if item == "failed_silently":
            at.step(i).fault("`failed_silently` is never acceptable; remove it")
        elif item == "failed":
            # The older label means admitted or failed_silently, and the latter never counts.
            accepted.append("admitted")
        else:
            accepted.append(_read_behavior(at.step(i), item))
    return tuple(dict.fromkeys(accepted))


_CHUNK_FIELDS = ("id", "grade", "equivalents")
_MAX_GRADE = 1_000_000  # far above any scale in use; keeps sums of gains exact


def _gold_chunks(at: _Place, value: object) -> tuple[GoldChunk, ...]:
    items = _list(at, value, "chunk ids or objects")
    owner: dict[str, _Place] = {}
    return tuple(_gold_chunk(at.step(i), item, owner) for i, item in enumerate(items))


def _gold_chunk(at: _Place, value: object, owner: dict[str, _Place]) -> GoldChunk:
    """One gold chunk; ``owner`` maps every chunk id met so far to the place it stands in."""
    if isinstance(value, str):
        return GoldChunk(_chunk_id(at, value, owner))
    if not isinstance(value, dict):
        at.fault(f"must be a chunk id or an object with `id`, not {_shown(value)}")
        return GoldChunk("")
    _check_names(at, value, _CHUNK_FIELDS, required=("id",))
    name = _chunk_id(at.step("id"), value["id"], owner) if "id" in value else ""
    grade = _grade(at.step("grade"), value["grade"]) if "grade" in value else 1
    here = at.step("equivalents")
    equivalents = _list(here, value.get("equivalents", []), "chunk ids")
    ids = tuple(_chunk_id(here.step(i), other, owner) for i, other in enumerate(equivalents))
    return GoldChunk(name, grade, ids)


def _chunk_id(at: _Place, value: object, owner: dict[str, _Place]) -> str:
    name = _filled(at, value)
    if name and (first := owner.setdefault(name, at)) is not at:
        at.fault(f"{_shown(name)} stands in {first.field} already; a chunk is one find only")
    return intern(name)  # it stands in many rows


def _grade(at: _Place, value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_GRADE:
        return value
    at.fault(f"must be a whole number from 0 to {_MAX_GRADE}, not {_shown(value)}")
    return 0


_READERS: Mapping[str, Callable[[_Place, object], Any]] = {
    "id": _id,
    "type": _one_of(*CASE_TYPES),
    "question": _filled,
    "history": _history,
    "answer": _string,
    "key_points": _strings,
    "gold_chunks": _gold_chunks,
    "filters": _filters,
    "behavior": _behavior,
    "cluster": _filled,
    "split": _one_of("dev", "test"),
    "lang": _filled,
    "tags": _strings,
    "source": _filled,
    "annotator": _filled,
    "reviewer": _filled,
}
