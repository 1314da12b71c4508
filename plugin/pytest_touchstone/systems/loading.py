"""From names in settings or hook to systems that can be asked."""

from __future__ import annotations

import importlib
import inspect
import json
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pytest_touchstone.corpus.collection import Corpus
from pytest_touchstone.llm.chat import Completion
from pytest_touchstone.llm.prompts import Prompt, load_prompt
from pytest_touchstone.settings import Settings, SystemSettings, publishable
from pytest_touchstone.shipped import shipped
from pytest_touchstone.storable import json_data
from pytest_touchstone.systems.protocol import Loaded
from pytest_touchstone.systems.single_shot import InThread, SingleShot
from pytest_touchstone.systems.sources import source_digest
from pytest_touchstone.trace import Message
from pytest_touchstone.unusable import Unusable

Complete = Callable[[Sequence[Message]], Awaitable[Completion]]
"""One call to the generator, with the run's retries and limits.  Raises ``ChatError``."""

BUILT_IN: Mapping[str, Mapping[str, Any]] = {"baseline": {}, "history": {"history": True}}
"""Systems that every run can name without defining them: options of :class:`SingleShot`."""


class SystemNotFound(Unusable):
    """A name that no setting, hook or built-in defines, or that cannot be imported."""


@dataclass(frozen=True, slots=True)
class Resources:
    """What a system that is built for a run may use.

    :param corpus: the collection; ``None`` where the settings name none.
    :param complete: the generator, with the run's retries and limits; ``None`` where the
        settings name none (answers are then extracted from passages).
    :param in_thread: runs a blocking function off the event loop.
    """

    corpus: Corpus | None
    complete: Complete | None
    in_thread: InThread


def shipped_prompt(name: str) -> Prompt:
    """A prompt from ``evaluation/prompts/``."""
    return load_prompt(shipped(f"evaluation/prompts/{name}.md").read_text("utf-8"))


def load_systems(
    names: Sequence[str],
    settings: Settings,
    hooked: Mapping[str, object],
    resources: Resources,
) -> dict[str, Loaded]:
    """The systems of a run by name.

    :param hooked: what the hook ``pytest_touchstone_systems`` returned.
    :raises SystemNotFound: naming the system and what would define it.
    """
    return {name: _load(name, settings, hooked, resources) for name in names}


def _load(
    name: str, settings: Settings, hooked: Mapping[str, object], resources: Resources
) -> Loaded:
    options = settings.systems.get(name, SystemSettings())
    if name in hooked and (options.ask or options.build):
        raise SystemNotFound(
            f"system {name!r} is defined twice: by the hook pytest_touchstone_systems and by"
            f" the setting systems.{name}; remove one"
        )
    identity: dict[str, Any]
    if name in hooked:
        thing: object = hooked[name]
        identity = {"object": _path(thing)}
    elif options.ask:
        thing = _imported(name, options.ask)
        identity = {"ask": options.ask}
    elif options.build:
        thing = _built(name, options.build, resources, options.options)
        identity = {"build": options.build, "options": options.options}
    elif ":" in name:  # an import path names itself
        thing = _imported(name, name)
        identity = {"ask": name}
    elif name in BUILT_IN:
        built_in = {**BUILT_IN[name], **options.options}
        thing = _single_shot(name, resources, built_in)
        identity = {"build": _path(SingleShot), "options": built_in}
    else:
        known = sorted({*BUILT_IN, *settings.systems, *hooked})
        raise SystemNotFound(
            f"system {name!r} is not defined; known: {', '.join(known)}. Define it in the"
            f" settings (systems.{name}.ask or .build) or by the hook pytest_touchstone_systems, or"
            " name a function by its import path, `package.module:name`"
        )
    return _as_loaded(name, thing, identity, options)


def _as_loaded(
    name: str, thing: object, identity: dict[str, Any], options: SystemSettings
) -> Loaded:
    if inspect.isclass(thing):
        raise SystemNotFound(
            f"system {name!r}: {_path(thing)} is a class; name an instance of it, or let"
            f" systems.{name}.build make one (it is then called with the run's resources)"
        )
    ask = getattr(thing, "ask", None) or thing
    if not callable(ask):
        raise SystemNotFound(
            f"system {name!r}: {_path(thing)} has no method `ask(messages, session)`"
        )
    retrieve = getattr(thing, "retrieve", None)
    for method, function in {"ask": ask, "retrieve": retrieve}.items():
        if function is not None and not _takes_two(function):
            raise SystemNotFound(
                f"system {name!r}: `{method}` of {_path(thing)} cannot be called as"
                f" `{method}(messages, session)`"
            )
    return Loaded(
        name=name,
        ask=ask,
        retrieve=retrieve,
        identity=_identity(name, thing, identity),
        timeout=options.timeout,
        concurrency=options.concurrency,
        source=source_digest(_modules(thing, identity)),
    )


def _modules(thing: object, identity: Mapping[str, Any]) -> set[str]:
    """Where the system is defined: the module that settings or hook name, and that of its type."""
    named = (identity.get(key) for key in ("ask", "build", "object"))
    paths = [_path(thing), *(path for path in named if path)]
    return {path.partition(":")[0] for path in paths}


def _takes_two(function: object) -> bool:
    if not callable(function):
        return False
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return False
    except ValueError:
        return True  # it does not tell
    return True


def _identity(name: str, thing: object, identity: dict[str, Any]) -> dict[str, Any]:
    """What the system's answers depend on, with what it says of itself, without secrets."""
    own = getattr(thing, "identity", None)
    if isinstance(own, Mapping):
        identity = identity | dict(own)
    try:
        data = json_data(json.loads(json.dumps(identity, default=str)))
    except (TypeError, ValueError, RecursionError) as error:
        raise SystemNotFound(f"system {name!r}: its identity is no JSON data: {error}") from None
    return cast(dict[str, Any], publishable(data))


def _single_shot(name: str, resources: Resources, options: Mapping[str, Any]) -> SingleShot:
    if resources.corpus is None:
        raise SystemNotFound(
            f"system {name!r} searches the collection, and the settings name none:"
            " set `corpus`, or take the system out of the run (`baseline: none`, --baseline none)"
        )
    resources.corpus.check_vectors()
    try:
        return SingleShot(
            resources.corpus,
            resources.complete,
            resources.in_thread,
            shipped_prompt("baseline_answer"),
            shipped_prompt("standalone_query"),
            **options,
        )
    except TypeError as error:
        raise SystemNotFound(f"systems.{name}.options: {error}") from None


def _built(name: str, target: str, resources: Resources, options: Mapping[str, Any]) -> object:
    factory = _imported(name, target)
    if not callable(factory):
        raise SystemNotFound(f"systems.{name}.build: {target} cannot be called")
    try:
        return factory(resources, **options)
    except Exception as error:
        raise SystemNotFound(
            f"systems.{name}.build: {target} raised {type(error).__name__}: {error}"
        ) from error


def _imported(name: str, target: str) -> object:
    module, _, attribute = target.partition(":")
    try:
        found: object = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:  # a module may raise anything while it is imported
        raise SystemNotFound(
            f"system {name!r}: {target} cannot be imported: {_why_not(error, module)}"
        ) from error
    return found


def _why_not(error: Exception, module: str) -> str:
    """What stands in the way of an import: where to look, or the line of the module that fails."""
    if isinstance(error, ModuleNotFoundError) and error.name == module.partition(".")[0]:
        return f"{error}; modules are looked for in {Path.cwd()} (start from the project's folder)"
    if isinstance(error, SyntaxError):
        return f"SyntaxError: {error}"
    if isinstance(error, ImportError | AttributeError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    last = next(frame for frame in reversed(frames) if not frame.filename.startswith("<"))
    name = last.filename.replace("\\", "/").rpartition("/")[2]
    return f"{type(error).__name__}: {error} ({name}:{last.lineno})"


def _path(thing: object) -> str:
    named = thing if inspect.isroutine(thing) or inspect.isclass(thing) else type(thing)
    return f"{named.__module__}:{getattr(named, '__qualname__', repr(named))}"
