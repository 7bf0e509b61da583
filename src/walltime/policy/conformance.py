"""A conformance check for parts of your own: call `check_part` in your tests.

from walltime.policy.conformance import check_part

def test_my_policy_conforms():
    check_part("backfill", "my_package:MyPolicy", depth=3)
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from walltime.core.errors import InputError, WalltimeError
from walltime.core.plugins import allow
from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.core.workload import MISSING, Workload
from walltime.kernel.jobs import JobTable
from walltime.policy.registry import build
from walltime.scenario import Part

KINDS = ("order", "estimate", "backfill", "broker")
WORKLOADS = 12
_SETTINGS: dict[str, tuple[dict[str, Any], ...]] = {
    "order": ({"backfill": "none"}, {"backfill": "easy"}),
    "estimate": ({"backfill": "easy"}, {"backfill": {"name": "easy", "candidates": "sjf"}}),
    "backfill": ({"order": "fcfs"}, {"order": "sjf"}),
    "broker": ({"backfill": "easy"}, {"backfill": "conservative"}),
}


class ConformanceError(AssertionError):
    """The part does not do what a part of its kind has to; the message says what, and on which jobs."""


def check_part(kind: str, part: Any, **parameters: Any) -> None:
    """Raise ConformanceError unless the part behaves on small random workloads, full of ties and odd jobs.

    `part` is a name, `module:attribute`, a class, a function or an object. Checked: it can be made; it raises nothing;
    the schedule is legal; the same jobs give the same schedule again; every job starts once the others are gone; no
    decision depends on how long a job will really run, unless it is an estimate that says so (`oracle`); an order ranks
    a job the same wherever it stands in the arrays. An object is used over and over: to be the same each time it must
    not remember; a class is made again for each run.
    """
    if kind not in KINDS:
        raise InputError("no conformance check for this kind of part", value=kind, choices=KINDS)
    allow([part, parameters])
    named = _name(part, parameters)
    made = _make(kind, named)
    if kind == "order" and made.dynamic:
        _check_places(named.name, made)
    for number in range(WORKLOADS):
        workload, cores = _draw(number)
        for setting in _SETTINGS[kind]:
            for overrun in ("kill", "extend"):
                source, where = _compose(kind, named, workload, cores, setting)
                _check_run(f"{kind} {named.name}", source | {"execution": {"overrun": overrun}}, f"{where}, {overrun}")
    if kind != "estimate" or not made.oracle:
        for number in range(0, WORKLOADS, 3):
            _check_sight(f"{kind} {named.name}", *_compose(kind, named, *_draw(number), _SETTINGS[kind][0]))


def _compose(kind: str, part: Part, workload: Workload, cores: int, setting: dict[str, Any]) -> tuple[Any, str]:
    """The scenario in which a part is tried, and words for it; a broker has three clusters."""
    parts = setting if kind == "broker" else {kind: part, **setting}
    sizes = [max(cores // 2, 1), cores, cores] if kind == "broker" else [cores]
    clusters = [{"name": f"c{number}", "cores": size, "scheduler": parts} for number, size in enumerate(sizes)]
    where = f"{len(workload)} jobs on {' + '.join(map(str, sizes))} cores, {_describe(parts)}"
    return {"workload": workload, "clusters": clusters} | ({"broker": part} if kind == "broker" else {}), where


def _name(part: Any, parameters: dict[str, Any]) -> Part:
    found = Part.model_validate(part)
    return Part(name=found.name, parameters={**found.parameters, **parameters}, instance=found.instance)


def _make(kind: str, part: Part) -> Any:
    try:
        made = build(kind, part)
    except InputError as error:
        raise ConformanceError(f"it cannot be made: {error}") from error
    from walltime.policy.api import Broker, Estimate, Order, Policy

    base = {"order": Order, "estimate": Estimate, "backfill": Policy, "broker": Broker}[kind]
    if not isinstance(made, base):
        raise ConformanceError(f"{part.name}: not a walltime.policy.api.{base.__name__}, but {type(made).__qualname__}")
    return made


def _check_run(tried: str, scenario: dict[str, Any], where: str) -> None:
    """Simulate twice and look at what came out."""
    # By name, as a plug-in: what runs simulations builds upon this package.
    simulate = importlib.import_module("walltime.api").simulate
    results = []
    for _ in range(2):
        try:
            results.append(simulate(scenario))
        except WalltimeError as error:
            raise ConformanceError(f"{tried} broke a rule: {error} ({where})") from error
        except Exception as error:
            raise ConformanceError(f"{tried} raised {type(error).__name__}: {error} ({where})") from error
    first, second = results
    broken = first.audit()
    if broken:
        raise ConformanceError(f"{tried} made a schedule that is not legal: {broken[0]} ({where})")
    jobs = first.jobs
    starving = jobs.filter(jobs["state"] == "waiting")["job_id"].to_list()
    if starving:
        names = ", ".join(map(str, starving[:10]))
        raise ConformanceError(f"{tried} never starts job {names}, although nothing else is left ({where})")
    if first.digest != second.digest:
        raise ConformanceError(f"{tried} gave two schedules for the same jobs; does it draw or remember? ({where})")


def _check_sight(tried: str, scenario: dict[str, Any], where: str) -> None:
    """Change how long one job really runs: nothing may be decided differently before the change can be seen."""
    simulate = importlib.import_module("walltime.api").simulate
    workload: Workload = scenario["workload"]
    lengths, names = workload.columns["run_time"], workload.column("job_id")
    before = _starts(simulate(scenario))
    for row in range(0, len(workload), 3):
        changed = lengths.copy()
        changed[row] = SECOND if lengths[row] > 3 * SECOND else lengths[row] + 7 * SECOND
        after = _starts(simulate(scenario | {"workload": workload.replace({**workload.columns, "run_time": changed})}))
        start = before.get(names[row])
        seen = float("inf") if start is None else start + min(lengths[row], changed[row]) / SECOND
        moved = {item for item in before.items() ^ after.items() if item[1] < seen}
        if moved:
            job, time = min(moved, key=lambda item: item[1])
            raise ConformanceError(
                f"{tried} looks at actual run times: whether job {job} starts at {time:g} s depends on how long job "
                f"{names[row]} will run, which nothing shows before {seen:g} s ({where})"
            )


def _starts(result: Any) -> dict[Any, float]:
    """When each job started that did, by its name."""
    pairs = zip(result.jobs["job_id"].to_list(), result.jobs["start"].to_list(), strict=True)
    return {job: start for job, start in pairs if start is not None}


def _describe(parts: dict[str, Any]) -> str:
    return ", ".join(f"{kind} {part.name if isinstance(part, Part) else part}" for kind, part in parts.items())


def _check_places(tried: str, order: Any) -> None:
    """The key of a job must not depend on its place among the others: scores are wanted, not ranks."""
    jobs = JobTable()
    slots = np.array([jobs.add(second * SECOND, 1, (7 - second) * SECOND, 1 + second % 3) for second in range(7)])
    jobs.eligible[slots] = jobs.submit[slots]
    found = {}
    for name, given in (("forwards", slots), ("backwards", slots[::-1].copy())):
        keys = np.zeros(len(slots), np.int64)
        try:
            order.keys(jobs, given, 10 * SECOND, keys)
        except Exception as error:
            raise ConformanceError(f"order {tried} raised {type(error).__name__}: {error}") from error
        found[name] = dict(zip(given.tolist(), keys.tolist(), strict=True))
    if found["forwards"] != found["backwards"]:
        raise ConformanceError(
            f"order {tried} scores a job by its place in the arrays: give each a score of its own, not its rank"
        )


def _draw(number: int) -> tuple[Workload, int]:
    """Jobs with many ties, some without length, over-long, held, cancelled, urgent; and the size of the machine."""
    random = stream(number, "conformance")
    size, cores = 6 + 3 * number, int(random.choice([2, 4, 9]))
    run = random.integers(0, 9, size)
    submit = np.sort(random.integers(0, int(random.choice([1, 20, 60])), size))
    times = {
        "submit": submit,
        "run_time": run,
        "requested_time": np.where(random.random(size) < 0.7, run + random.integers(0, 9, size), 3),
        "deadline": np.where(random.random(size) < 0.5, random.integers(0, 90, size), MISSING),
    }
    if number % 3 == 2:
        times["begin"] = np.where(random.random(size) < 0.2, submit + random.integers(0, 9, size), MISSING)
        times["cancel"] = np.where(random.random(size) < 0.2, submit + random.integers(0, 30, size), MISSING)
    columns: dict[str, Any] = {
        "cores": random.integers(1, cores + 1, size),
        "priority": random.integers(0, 3, size),
        "user": random.integers(-1, 3, size).astype(np.int32),
    }
    columns |= {name: np.where(values < 0, MISSING, values * SECOND) for name, values in times.items()}
    return Workload(columns, {"user": ["ann", "bo", "cy"]}), cores


def registered() -> Iterator[tuple[str, str]]:
    """The (kind, name) of every registered part that can be checked without parameters."""
    from walltime.policy.registry import entries

    for entry in entries():
        required = [item for item in entry.parameters().values() if item.default is item.empty]
        if entry.kind in KINDS and not required:
            yield entry.kind, entry.name
