"""The dates of a scenario, put on the clock of its workload."""

from __future__ import annotations

from typing import Any

from walltime.core.dates import Date
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

    placed: Scenario = visit(scenario, "")
    return placed
