"""Every picture by its name: what it shows, and the function that turns results into it."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from walltime.core.entry_points import Point, installed
from walltime.core.errors import InputError

if TYPE_CHECKING:
    from walltime.analysis.charts.chart import Chart
    from walltime.analysis.charts.quantities import Shown


GROUP = "walltime.pictures"
"""The entry points' group of packages that have pictures of their own."""
MOST_GROUPS = 100
MOST_JOBS = 1_000_000


@dataclass(frozen=True)
class Kind:
    """A kind of picture: its name, `module:function` in this package, and whether it takes several results.

    One of the `system` shows the machine and its queue with every job in it; the others are about jobs, and show those
    of the experiment alone where jobs have phases. One of an installed package is found by its entry `point`.
    """

    name: str
    where: str
    several: bool = True
    system: bool = False
    point: Point | None = None

    def load(self) -> Any:
        """The function that makes it; its first parameter are the results, the others its options."""
        if self.point is not None:
            return self.point.load()
        module, _, function = self.where.partition(":")
        return getattr(importlib.import_module(f"{__name__}.{module}"), function)

    @property
    def about(self) -> str:
        """The first sentence of the function's documentation."""
        return (inspect.getdoc(self.load()) or "").split("\n\n")[0].replace("\n", " ").rstrip(".")

    @property
    def options(self) -> dict[str, Any]:
        """The options by name, with their defaults."""
        parameters = list(inspect.signature(self.load()).parameters.values())[1:]
        return {parameter.name: parameter.default for parameter in parameters}


KINDS = {
    kind.name: kind
    for kind in (
        Kind("schedule", "gantt:schedule", system=True),
        Kind("schedule-diff", "gantt:schedule_diff", system=True),
        Kind("nodes", "gantt:nodes", several=False, system=True),
        Kind("node-load", "gantt:node_load", system=True),
        Kind("utilization", "overtime:utilization", system=True),
        Kind("cores", "overtime:cores", system=True),
        Kind("jobs", "overtime:jobs", system=True),
        Kind("queue", "overtime:queue", system=True),
        Kind("load", "overtime:load", system=True),
        Kind("free", "overtime:free", system=True),
        Kind("gaps", "gaps:gaps", system=True),
        Kind("difference", "overtime:difference", system=True),
        Kind("resources", "overtime:resources", system=True),
        Kind("cumulative-wait", "waits:cumulative_wait"),
        Kind("median-wait", "waits:median_wait"),
        Kind("waits", "waits:waits"),
        Kind("usage", "overtime:usage", several=False, system=True),
        Kind("fairshare", "overtime:fairshare", several=False, system=True),
        Kind("shares", "overtime:shares", several=False, system=True),
        Kind("loads", "overtime:loads", several=False, system=True),
        Kind("failures", "gantt:failures", several=False, system=True),
        Kind("cdf", "spread:cdf"),
        Kind("histogram", "spread:histogram"),
        Kind("boxes", "spread:boxes"),
        Kind("scatter", "relation:scatter"),
        Kind("details", "relation:details"),
        Kind("slowdown-map", "relation:slowdown_map"),
        Kind("recorded", "relation:recorded"),
        Kind("workflows", "workflows:workflows"),
        Kind("predictions", "relation:predictions"),
        Kind("users", "people:users"),
        Kind("fairness", "people:fairness"),
        Kind("winners", "people:winners"),
        Kind("arrivals", "people:arrivals", several=False),
        Kind("compare", "rivals:compare"),
        Kind("change", "rivals:change"),
    )
}


def kinds() -> dict[str, Kind]:
    """Our own kinds, and those of installed packages; raises InputError for a name that is taken."""
    foreign = installed(GROUP)
    if taken := next((name for name in foreign if name in KINDS), None):
        raise InputError(f"the package {foreign[taken].package} wants the name of a picture that exists", value=taken)
    return KINDS | {name: Kind(name, point.target, point=point) for name, point in foreign.items()}


def make_chart(kind: str, results: Sequence[Shown], **options: Any) -> Chart:
    """The picture of that kind of one result or several; raises InputError for what it or they do not have."""
    found = find_kind(kind)
    if not results:
        raise InputError(f"the plot {found.name} needs a result")
    known = found.options
    for name in options:
        if name not in known:
            what = f"the plot {found.name} has no such option"
            raise InputError(what if known else f"{what}; it has none", value=name, choices=known)
    _check_most(found, options.get("most"))
    for result in results:
        if not result.record.jobs.height:
            raise InputError(f"{result.label}: the result has no jobs, so there is nothing to draw")
    from walltime.analysis.charts.chart import Chart, align
    from walltime.analysis.charts.phases import NOTE, show_experiment

    shown = list(results) if found.system or options.get("by") == "phase" else show_experiment(results)
    chart = found.load()(shown, **options)
    if found.point is not None and not isinstance(chart, Chart):
        what = f"the package {found.point.package}: {found.where} gave no Chart"
        raise InputError(what, value=type(chart).__name__)
    if any(one is not result for one, result in zip(shown, results, strict=True)):
        chart = replace(chart, notes=(*chart.notes, NOTE))
    return align(chart)


def _check_most(kind: Kind, most: Any) -> None:
    """More rows than a picture is high cannot be told apart; jobs are another matter."""
    limit = MOST_JOBS if kind.where.startswith("gantt:") else MOST_GROUPS
    if most is not None and not (isinstance(most, int) and 1 <= most <= limit):
        raise InputError(f"the plot {kind.name} shows 1 to {limit:,}", value=most)


def find_kind(name: str) -> Kind:
    """The kind of that name, also with underscores; raises InputError with the choices."""
    known = KINDS if name.replace("_", "-") in KINDS else kinds()
    kind = known.get(name.replace("_", "-"))
    if kind is None:
        raise InputError("unknown kind of plot", value=name, choices=known)
    return kind
