"""The one registry of parts: from a kind and a name in a scenario to an object that an engine can call.

A name is a built-in one, one that an installed package registers as the entry point `kind.name` of the group
`walltime.parts`, or `module:attribute`. Nothing is imported before it is asked for, and the last kind only where the
person allowed it (`walltime.core.plugins`). What a name leads to is judged before anything of it is called.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from walltime.core.entry_points import installed
from walltime.core.errors import InputError
from walltime.core.plugins import check_function, import_target, require_allowed
from walltime.policy.signatures import parameters_of, summary_of
from walltime.scenario import Part, Scenario

KINDS: dict[str, str] = {
    "order": "which job is next",
    "backfill": "which jobs may overtake",
    "estimate": "how long it will take",
    "place": "where it runs",
    "preempt": "which jobs to preempt",
    "rhythm": "when to think",
    "broker": "which cluster",
    "execution": "how a started job unfolds",
    "users": "how people react",
    "optimise": "how a plan is improved",
    "objective": "what a plan is judged by",
    "operator": "how a plan is changed",
}
"""The kinds of parts, and the question that each answers."""

GROUP = "walltime.parts"
"""The entry points' group of third-party parts."""

_FUNCTIONS = {
    "backfill": "walltime.policy.api:FunctionPolicy",
    "order": "walltime.policy.functions:FunctionOrder",
    "estimate": "walltime.policy.functions:FunctionEstimate",
    "broker": "walltime.policy.functions:FunctionBroker",
    "objective": "walltime.policy.optimise:FunctionObjective",
}
"""What makes a part of a plain function, for the kinds where one will do."""

_CATALOGUE = "walltime.policies"  # by name, as any plug-in: this package must not import what builds upon it


_BASES = {
    "order": "walltime.policy.api:Order",
    "backfill": "walltime.policy.api:Policy",
    "estimate": "walltime.policy.api:Estimate",
    "rhythm": "walltime.policy.api:Rhythm",
    "broker": "walltime.policy.api:Broker",
    "preempt": "walltime.policy.preempt:Preempt",
    "place": "walltime.kernel.ledger.place:Place",
    "execution": "walltime.execution.model:Execution",
    "users": "walltime.policy.users:Reaction",
    "optimise": "walltime.policy.optimise:Optimiser",
    "objective": "walltime.policy.optimise:Objective",
    "operator": "walltime.policy.optimise:Operator",
}
"""What the parts of a kind extend; the kinds that are not here have no parts in this version."""

_METHODS = {"place": ("choose", "pack")}
"""The methods of which one does instead, for kinds whose parts need not extend anything."""

_HOOKS = {"order": ("key", "keys"), "estimate": ("estimate",), "broker": ("route",), "preempt": ("rank", "cost")}
_CHECKS = {
    "order": "walltime.policy.functions:CheckedOrder",
    "estimate": "walltime.policy.functions:CheckedEstimate",
    "broker": "walltime.policy.functions:CheckedBroker",
    "preempt": "walltime.policy.functions:CheckedPreempt",
}
_CALLED = {
    "backfill": {"schedule": 1},
    "order": {"key": 2, "keys": 4},
    "estimate": {"estimate": 2},
    "broker": {"route": 2},
    "preempt": {"rank": 2},
    "rhythm": {"due": 2, "schedule": 1, "next": 2},
    "users": {"submit": 1, "left": 1},
    "optimise": {"improve": 2},
    "operator": {"apply": 3},
}
"""The hooks that a part may write in Python, and with how many arguments they are called."""
_NEEDS_NONE = ("rhythm",)
_GIVEN = {"broker": 2}
"""How many arguments a function of the kind is called with, where it is not one."""


@dataclass(frozen=True)
class Entry:
    """A part that can be named: where it is, and what a person should know of it.

    `target` is `module:attribute`, imported when first used; empty for a mode of the engine, which has no class.
    """

    kind: str
    name: str
    target: str
    summary: str = ""
    reference: str = ""

    def load(self) -> Any:
        """The class, function or object behind the name; raises InputError where it cannot be imported."""
        return import_target(self.target, f"{self.kind} part {self.name!r}")

    def parameters(self) -> dict[str, inspect.Parameter]:
        """The parameters that a scenario may give, from the signature."""
        return parameters_of(self.load(), skip=self._skipped()) if self.target else {}

    def describe(self) -> str:
        """The summary, or the first line of the documentation."""
        if self.summary or not self.target:
            return self.summary
        return summary_of(self.load())

    def _skipped(self) -> int:
        thing = self.load()
        return _GIVEN.get(self.kind, 1) if inspect.isroutine(thing) else 0


@dataclass(frozen=True)
class Preset:
    """A whole scheduler under one name, for --policy."""

    name: str
    parts: Mapping[str, Any]
    summary: str
    reference: str = ""


@dataclass
class Registry:
    """Entries by kind and name, and presets by name; a name that is taken is an error."""

    entries: dict[tuple[str, str], Entry] = field(default_factory=dict)
    presets: dict[str, Preset] = field(default_factory=dict)

    def add(self, item: Entry | Preset) -> None:
        """Register an entry or a preset."""
        if isinstance(item, Preset):
            if item.name in self.presets:
                raise InputError("a preset of this name is registered already", value=item.name)
            self.presets[item.name] = item
            return
        if item.kind not in KINDS:
            raise InputError(f"{item.target or item.name}: unknown kind of part", value=item.kind, choices=KINDS)
        taken = self.entries.get((item.kind, item.name))
        if taken is not None:
            raise InputError(
                f"two parts want the same name, {taken.target or 'the engine'} and {item.target}",
                value=f"{item.kind}.{item.name}",
            )
        self.entries[item.kind, item.name] = item

    def names(self, kind: str) -> list[str]:
        """The registered names of a kind, in order of registration."""
        return [name for found, name in self.entries if found == kind]

    def find(self, kind: str, name: str) -> Entry:
        """The entry of a name, or of a `module:attribute`; an unknown one raises InputError with the choices."""
        if kind not in KINDS:
            raise InputError("unknown kind of part", value=kind, choices=KINDS)
        if (kind, name) in self.entries:
            return self.entries[kind, name]
        if ":" in name:
            return self._find_target(kind, name)
        choices = self.names(kind)
        what = f"unknown {kind} part" if choices else f"no {kind} part exists in this version (yours: module:attribute)"
        raise InputError(what, value=name, choices=choices)

    def _find_target(self, kind: str, target: str) -> Entry:
        """The entry of a `module:attribute`: a registered one, or one that the person allowed; else InputError."""
        for entry in self.entries.values():
            if (entry.kind, entry.target) == (kind, target):
                return entry
        require_allowed(target, f"{kind} part {target!r}")
        return Entry(kind, target, target)


@functools.cache
def registry() -> Registry:
    """The registry of this process: built-in parts and those of installed packages."""
    found = Registry()
    catalogue = importlib.import_module(_CATALOGUE)
    for item in (*catalogue.PARTS, *catalogue.PRESETS):
        found.add(item)
    for entry in _installed():
        found.add(entry)
    return found


def entries(kind: str | None = None) -> list[Entry]:
    """All registered parts, or those of one kind."""
    return [entry for entry in registry().entries.values() if kind in (None, entry.kind)]


def presets() -> list[Preset]:
    """All presets."""
    return list(registry().presets.values())


def preset(name: str) -> dict[str, Any]:
    """The scheduler's parts that a --policy name stands for; raises InputError with the choices.

    >>> preset("easy")
    {'order': 'fcfs', 'backfill': 'easy'}
    >>> preset("mine:Policy")
    {'order': 'fcfs', 'backfill': 'mine:Policy'}
    """
    known = registry().presets
    if name in known:
        return dict(known[name].parts)
    if ":" in name:
        return {"order": "fcfs", "backfill": name}
    raise InputError("unknown policy", value=name, choices=known)


def policy_settings(data: Mapping[str, Any], policy: str) -> list[tuple[str, Any]]:
    """The (dotted key, value) pairs by which a preset replaces its parts in every cluster of a scenario's data; the
    other parts stay. Raises InputError with the choices."""
    clusters = data.get("clusters")
    count = len(clusters) or 1 if isinstance(clusters, list | tuple) else 1
    prefixes = ["cluster"] if count == 1 else [f"clusters.{index}" for index in range(count)]
    return [(f"{prefix}.scheduler.{kind}", part) for prefix in prefixes for kind, part in preset(policy).items()]


def build(kind: str, part: Part, key: str = "") -> Any:
    """The object that a part names, made with its parameters; raises InputError naming what is accepted.

    A class is instantiated; a function is wrapped, for `order`, `estimate`, `backfill` and `broker`; an object is used
    as it is. A mode of the engine gives its name. `key` is the part's dotted key, for the message.
    """
    make = _maker(kind, part, key)
    label = _label(kind, part, key)
    try:
        return _checked(kind, make())
    except InputError as error:
        raise InputError(f"{label}: {error}") from None
    except OverflowError as error:
        raise InputError(f"{label}: a number is out of range") from error
    except (TypeError, ValueError) as error:
        raise InputError(f"{label}: {error}") from error


def _checked(kind: str, made: Any) -> Any:
    """The part; one that others wrote in Python with its answers looked at."""
    if type(made).__module__.startswith(f"{_CATALOGUE}."):
        return made
    if any(inspect.isfunction(getattr(type(made), hook, None)) for hook in _HOOKS.get(kind, ())):
        wrapper = import_target(_CHECKS[kind], kind)
        return made if type(made).__module__ == wrapper.__module__ else wrapper(made)
    return made


def _judge(kind: str, thing: Any, label: str) -> None:
    """Raise InputError unless a class makes parts of the kind, or an object is one; nothing of it is called."""
    if kind not in _BASES:
        raise InputError(f"{label}: no {kind} part can be made in this version")
    base = import_target(_BASES[kind], kind)
    is_class = inspect.isclass(thing)
    made = thing if is_class else type(thing)
    if issubclass(made, base):
        _check_hooks(kind, base, made, label)
        return
    if any(callable(getattr(made, method, None)) for method in _METHODS.get(kind, ())):
        return
    name = f"the class {made.__qualname__}" if is_class else f"a {made.__qualname__}"
    either = f", nor has it a method {' or '.join(_METHODS[kind])}" if kind in _METHODS else ""
    raise InputError(f"{label}: {name} is not a {base.__module__}.{base.__name__}, which {kind} takes{either}")


def _check_hooks(kind: str, base: type, found: type, label: str) -> None:
    """Raise InputError for a class that lacks the hook of its kind, or whose hook cannot be called as it will be."""
    hooks = _CALLED.get(kind, {})
    written = {hook: getattr(found, hook, None) for hook in hooks}
    written = {hook: method for hook, method in written.items() if method is not getattr(base, hook)}
    if hooks and not written and kind not in _NEEDS_NONE:
        raise InputError(f"{label}: {found.__name__} has no method {' or '.join(hooks)}, which {kind} needs")
    for hook, method in written.items():
        if not callable(method) or inspect.iscoroutinefunction(method) or inspect.isgeneratorfunction(method):
            raise InputError(f"{label}: {found.__name__}.{hook} is not a plain method")
        if inspect.isfunction(method):
            try:
                inspect.signature(method).bind(*[None] * (hooks[hook] + 1))
            except TypeError as error:
                what = f"{found.__name__}.{hook} is called with {hooks[hook]} arguments besides self: {error}"
                raise InputError(f"{label}: {what}") from None


def check(scenario: Scenario) -> None:
    """Raise InputError, with the file's line, for a part of the scenario that does not exist or refuses its parameters.

    Everything is made once and thrown away, so that a run does not find out after reading a long trace.
    """
    for key, kind, part in scenario.parts():
        if kind not in _BASES:
            continue  # an engine refuses these itself, with its reason
        try:
            build(kind, part, key)
        except InputError as error:
            where = scenario.place(key)
            raise InputError(error.what, value=error.value, choices=error.choices, **where) from error.__cause__


def _maker(kind: str, part: Part, key: str) -> Callable[[], Any]:
    """A call that makes the part: what its name leads to is judged already, its parameters fit the signature."""
    label = _label(kind, part, key)
    if part.instance is None:
        entry = registry().find(kind, part.name)
        if not entry.target:
            _bind(kind, part, key, {})
            return lambda: entry.name
        thing = entry.load()
    else:
        thing = part.instance
    if inspect.isroutine(thing):
        if kind not in _FUNCTIONS:
            raise InputError(f"{label} is a function; {kind} takes a class or an object")
        if part.instance is None:
            check_function(thing, entry.target, label)
        _bind(kind, part, key, parameters_of(thing, skip=_GIVEN.get(kind, 1)))
        return functools.partial(_wrap, kind, thing, part.parameters)
    _judge(kind, thing, label)
    if inspect.isclass(thing):
        _bind(kind, part, key, parameters_of(thing))
        return functools.partial(thing, **part.parameters)
    _bind(kind, part, key, {})
    return lambda: thing


def _wrap(kind: str, function: Callable[..., Any], parameters: Mapping[str, Any]) -> Any:
    """The function as a part, with its parameters bound."""
    wrapper = import_target(_FUNCTIONS[kind], kind)
    bound = functools.partial(function, **parameters)
    return wrapper(functools.update_wrapper(bound, function) if parameters else function)


def _bind(kind: str, part: Part, key: str, accepted: Mapping[str, inspect.Parameter]) -> None:
    """Refuse unknown parameters and missing ones."""
    label = _label(kind, part, key)
    anything = any(parameter.kind is parameter.VAR_KEYWORD for parameter in accepted.values())
    names = [name for name, parameter in accepted.items() if parameter.kind is not parameter.VAR_KEYWORD]
    for name in part.parameters:
        if name not in names and not anything:
            hint = "" if names else " (it takes none)"
            raise InputError(f"{label} has no such parameter{hint}", value=name, choices=names)
    missing = [
        name for name in names if accepted[name].default is inspect.Parameter.empty and name not in part.parameters
    ]
    if missing:
        raise InputError(f"{label} needs the parameter{'s' if len(missing) > 1 else ''} {', '.join(missing)}")


def _label(kind: str, part: Part, key: str) -> str:
    return f"{key}: {part.name}" if key else f"{kind} part {part.name!r}"


def _installed() -> Iterable[Entry]:
    for point in installed(GROUP).values():
        kind, dot, name = point.name.partition(".")
        if not dot or kind not in KINDS or not name:
            what = f"the package {point.package} registers a part that is not named kind.name"
            raise InputError(what, value=point.name, choices=KINDS)
        yield Entry(kind, name, point.target)
