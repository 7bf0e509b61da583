"""The dates of a scenario, put on the clock of its workload."""

from __future__ import annotations

from typing import Any

from walltime.core.dates import Date, read_date
from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.scenario.model import Scenario
from walltime.scenario.names import place_error
from walltime.scenario.values import Model


def place_dates(scenario: Scenario, workload: Workload) -> Scenario:
    """The scenario with every date as seconds after the workload's zero; raises InputError for one before it."""
    origin = workload.origin
    zone = scenario.timezone or origin.timezone

    def convert(value: Any, key: str) -> Any:
        if isinstance(value, Date):
            try:
                return value.since(origin.epoch, zone)
            except InputError as error:
                raise place_error(error, scenario, key) from None
        if isinstance(value, Model):
            return visit(value, key)
        if isinstance(value, tuple):
            items = tuple(convert(item, key if key == "cluster" else f"{key}.{n}") for n, item in enumerate(value))
            return value if all(new is old for new, old in zip(items, value, strict=True)) else items
        return value

    def visit(model: Model, key: str) -> Any:
        fields = {name: getattr(model, name) for name in type(model).model_fields}
        single = isinstance(model, Scenario) and len(model.clusters) == 1
        found = {
            name: convert(value, "cluster" if single and name == "clusters" else f"{key}.{name}".lstrip("."))
            for name, value in fields.items()
            if isinstance(value, Date | Model | tuple)
        }
        changed = {name: value for name, value in found.items() if value is not fields[name]}
        return model.model_copy(update=changed) if changed else model

    placed: Scenario = visit(_leave_out_past(scenario, origin.epoch, zone), "")
    return placed


def _leave_out_past(scenario: Scenario, epoch: float | None, zone: str | None) -> Scenario:
    """The scenario without failures at dates that are over at the workload's zero, and no more than the rest of one
    that lasts. Where it begins from a system as it stands, the same goes for reservations."""
    if epoch is None:
        return scenario

    def rest(one: Any, name: str) -> Any:
        date = getattr(one, name)
        if not isinstance(date, Date) or getattr(one, "every", None) is not None:
            return one
        begin = read_date(date.text, zone) - epoch
        if begin >= 0:
            return one
        left = begin + (one.length or 0.0)
        return one.model_copy(update={name: 0.0, "length": left}) if left > 0 else None

    def shorten(cluster: Any) -> Any:
        kinds = {"failures": "at"} | ({} if scenario.start is None else {"reservations": "start"})
        found = {
            kind: tuple(left for one in getattr(cluster, kind) if (left := rest(one, name)) is not None)
            for kind, name in kinds.items()
        }
        changed = {kind: rows for kind, rows in found.items() if rows != getattr(cluster, kind)}
        return cluster.model_copy(update=changed) if changed else cluster

    clusters = tuple(shorten(cluster) for cluster in scenario.clusters)
    same = all(new is old for new, old in zip(clusters, scenario.clusters, strict=True))
    return scenario if same else scenario.model_copy(update={"clusters": clusters})
