"""What a report was made of against what is here: for each thing whether it still holds.

Pure: :mod:`pytest_touchstone.reproducing.here` has looked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from pytest_touchstone.comparing.model import Difference
from pytest_touchstone.comparing.snapshots import snapshot_differences
from pytest_touchstone.comparing.words import values
from pytest_touchstone.measures.base import counted
from pytest_touchstone.report.model import Gold, PassageText, Report, Snapshot
from pytest_touchstone.reproducing.here import Here

Standing = Literal["holds", "differs", "unknown"]

_RATES = ("input", "cached_input", "output")
_SHORT = 12
"""Digits of a digest that a reader is shown."""
_LONGEST_VALUE = 80
_MOST = 0.5
_SOURCE = "source_sha256"
"""Of a system in a snapshot: the digest of its code."""
_ASKED = "scorer"
"""Says what it is when it is asked; the one that is named stands in the settings."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a report was made of.

    :param standing: whether it is here as it was then; where that cannot be told, ``said`` has
        the reason.
    :param differences: one line for each thing that differs, naming it with what it was and is.
    """

    name: str
    standing: Standing
    said: str = ""
    differences: Sequence[str] = ()


def checked(report: Report, here: Here, taken: Sequence[str] = ()) -> list[Item]:
    """Commit, dataset, settings and all else that a report's snapshot names.

    :param taken: what the run is told as the report has it, whatever the settings here say.
    """
    then = report["snapshot"]
    now = _snapshot(report, here)
    by_part: dict[str, list[str]] = {}
    for one in snapshot_differences(then, now, same_chunks=True):
        by_part.setdefault(one.part, []).append(_line(one))

    def told(part: str, holds: str, more: Sequence[str] = (), name: str | None = None) -> Item:
        if part not in here.known:
            return Item(name or part, "unknown", here.why_not)
        differences = (*by_part.get(part, ()), *more)
        if differences:
            return Item(name or part, "differs", "", differences)
        return Item(name or part, "holds", holds)

    settings = told("settings", "every key")
    if taken and settings.standing != "unknown":
        said = f"as in the report, not as in the settings here: {'; '.join(taken)}"
        settings = Item("settings", settings.standing, said, settings.differences)
    corpus = then["corpus"]
    points = "" if corpus is None else f", {counted(corpus['points'], 'point')}"
    chunks = list(_chunks(report, here, sure="corpus" in by_part))
    return [
        _commit(then, here),
        _dataset(report, here),
        _measures(report, here),
        settings,
        told("systems", _systems(then)),
        _models(then, here, told("models", _named(then))),
        told("prompts", ", ".join(then["prompts"])),
        told("corpus", f"{corpus['collection'] if corpus else 'none'}{points}", chunks),
        told("prices", ", ".join(then["prices"]) or "none were used"),
        told("packages", ", ".join(then["packages"])),
    ]


def after_a_run(items: Sequence[Item], report: Report, again: Report) -> list[Item]:
    """The same with the models that a new run has met: some say what they are when asked."""
    then = report["snapshot"]
    now = cast(Snapshot, {**then, "models": again["snapshot"]["models"]})
    if not (lines := [_line(one) for one in snapshot_differences(then, now)]):
        return list(items)
    met = Item("models", "differs", "", lines)
    return [met if item.name == met.name else item for item in items]


def _snapshot(report: Report, here: Here) -> Snapshot:
    """The report's snapshot with what is here in the place of what was then.

    What cannot be told stays as it was, and so does what is known after a run alone: what servers
    say of themselves, and on which day a price held.
    """
    then = report["snapshot"]
    known = {key: here.known[key] for key in here.known if key in then}
    if known.get("corpus") and then["corpus"] and not _same_chunks(report, here):
        held = {key: then["corpus"][key] for key in ("chunks", "sha256")}
        known["corpus"] = {**known["corpus"], **held}
    if "systems" in known:
        known["systems"] = dict(_comparable(then["systems"], known["systems"]))
    models = dict(then["models"])
    for role, model in known.get("models", {}).items():
        models[role] = {**models.get(role, {}), **model}
    prices = {
        model: {**then["prices"].get(model, {}), **{rate: price[rate] for rate in _RATES}}
        for model, price in known.get("prices", then["prices"]).items()
    }
    return cast(Snapshot, {**then, **known, "models": models, "prices": prices})


def _same_chunks(report: Report, here: Here) -> bool:
    """Whether the digest of chunks is over those that gold questions named in the run."""
    then = report["snapshot"]["dataset"]
    return then["sha256"] == here.known["dataset"]["sha256"] or _is_whole(report)


def _is_whole(report: Report) -> bool:
    """Whether a report holds every gold question of its file."""
    known = sum(report["snapshot"]["dataset"]["counts"].values())
    return len({case["case"] for case in report["cases"]}) == known


def _comparable(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The systems here, without digests of code that an older report does not have."""
    for name, system in now.items():
        bare = name in then and _SOURCE not in then[name]
        yield name, {k: v for k, v in system.items() if k != _SOURCE} if bare else system


def _line(one: Difference) -> str:
    before, after = values(one)
    if one.part == "systems" and one.key.endswith(f".{_SOURCE}"):
        name = one.key.removesuffix(f".{_SOURCE}")
        return f"{name}: its code changed ({_cut(before)} → {_cut(after)})"
    return f"{one.key or one.part}: {_cut(before)} → {_cut(after)}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def has_code(then: Snapshot) -> bool:
    """Whether a report holds a digest of the code of each of its systems."""
    return all(system.get(_SOURCE) for system in then["systems"].values())


def _systems(then: Snapshot) -> str:
    names = ", ".join(then["systems"])
    return names if has_code(then) else f"{names}; the report does not say what their code was"


def _models(then: Snapshot, here: Here, told: Item) -> Item:
    """Models hold where all of them are known to."""
    if told.standing != "holds":
        return told
    known = here.known["models"]
    missing = [role for role, model in then["models"].items() if model.get("model")]
    missing = [role for role in missing if role not in known and role != _ASKED]
    if missing:
        return Item(told.name, "unknown", f"{', '.join(missing)}: {here.why_not}")
    if then["settings"].get(_ASKED) != here.known["settings"].get(_ASKED):
        return Item(told.name, "unknown", f"the settings name another {_ASKED}")
    return told


def _named(then: Snapshot) -> str:
    named = ((role, model.get("model")) for role, model in then["models"].items())
    return ", ".join(f"{role} {model}" for role, model in named if model) or "none"


def _commit(then: Snapshot, here: Here) -> Item:
    if "commit" not in here.known:
        return Item("commit", "unknown", here.why_not)
    sha, now = then["commit"], here.known["commit"]
    if sha != now:
        return Item("commit", "differs", "", [f"commit: {_sha(sha)} → {_sha(now)}"])
    if sha is None:
        return Item("commit", "unknown", "there was none, and there is none")
    moments = {"then": then["dirty"], "now": here.known["dirty"]}
    if dirty := [moment for moment, found in moments.items() if found]:
        when = " and ".join(dirty)
        return Item("commit", "unknown", f"{_sha(sha)}, with uncommitted changes {when}")
    return Item("commit", "holds", _sha(sha))


def _sha(commit: str | None) -> str:
    return "none" if commit is None else commit[:_SHORT]


def _dataset(report: Report, here: Here) -> Item:
    if here.questions is None:
        return Item("dataset", "unknown", here.why_not)
    then, now = report["snapshot"]["dataset"], here.known["dataset"]
    known = sum(then["counts"].values())
    if then["sha256"] == now["sha256"]:
        return Item("dataset", "holds", f"{now['path']}, {counted(known, 'gold question')}")
    held = {case["case"]: case["gold"] for case in report["cases"]}
    whole = _is_whole(report)
    lines = list(_questions(held, here.questions, whole=whole))
    if not lines:
        digests = f"{then['sha256'][:_SHORT]} → {now['sha256'][:_SHORT]}"
        what = "in none of the questions" if whole else "in no question that the report holds"
        lines = [f"sha256: {digests}, {what}"]
    return Item("dataset", "differs", now["path"], lines)


def _questions(held: Mapping[str, Gold], here: Mapping[str, Gold], *, whole: bool) -> Iterator[str]:
    """Gold questions that differ.

    :param whole: whether the report holds every question that there was.
    """
    for case, then in held.items():
        now = here.get(case)
        if now is None:
            yield f"{case}: removed"
        elif then != now:
            yield f"{case}: changed in {', '.join(_labels(then, now))}"
    if whole:
        yield from (f"{case}: added" for case in here if case not in held)


def _labels(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(then.keys() | now.keys()):
        if then.get(name) != now.get(name):
            before, after = values(Difference("dataset", name, then.get(name), now.get(name)))
            yield f"{name} ({_cut(before)} → {_cut(after)})"


def _measures(report: Report, here: Here) -> Item:
    if here.measures is None:
        return Item("measures", "unknown", here.why_not)
    names = [entry["measure"] for entry in report["measures"]]
    if gone := [f"{name}: no test here takes it" for name in names if name not in here.measures]:
        return Item("measures", "differs", "", gone)
    return Item("measures", "holds", f"{counted(len(names), 'measure')} that tests here take")


def _chunks(report: Report, here: Here, *, sure: bool) -> Iterator[str]:
    """The passages of the report that read otherwise in the collection.

    The snapshot's digest covers the chunks that gold questions name; of others the passages that
    systems found tell.  A system may put passages in words of its own, though: where most differ
    and the digest does not, that is what it is.

    :param sure: whether the collection is known to differ.
    """
    if here.chunks is None:
        return
    then = _passages(report)
    found = [name for name in sorted(then) if here.chunks.get(name) not in then[name].values()]
    if len(found) > _MOST * len(then) and not sure:
        return
    for name in found:
        now = here.chunks.get(name)
        if now is None:
            yield f"chunk {name}: is not there any more"
        else:
            before = next(iter(then[name].values()))
            keys = sorted(key for key in now if now[key] != before[key])  # type: ignore[literal-required]
            yield f"chunk {name}: changed in {', '.join(keys)}"


def _passages(report: Report) -> dict[str, dict[str, PassageText]]:
    """Each passage that a system found, by id, as often as it reads otherwise."""
    found: dict[str, dict[str, PassageText]] = {}
    for case in report["cases"]:
        turns = (case["passages"], *(turn["passages"] for turn in case["earlier_turns"]))
        for passage in (passage for turn in turns for passage in turn):
            text = report["passages"][passage["digest"]]
            found.setdefault(passage["id"], {})[passage["digest"]] = text
    return found
