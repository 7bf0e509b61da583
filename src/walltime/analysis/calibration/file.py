"""The figure of trust of a site, kept beside its scenario, so that every later answer can tell it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from walltime.core.errors import InputError
from walltime.core.reading import reader, reading
from walltime.core.time import format_duration

if TYPE_CHECKING:
    from walltime.core.tables import Record
    from walltime.scenario import Scenario

SUFFIX = ".calibration.json"
KIND = "walltime calibration"
KEPT = (
    *("log", "jobs", "trust", "trust_bounds", "trust_by_job"),
    *("mean_recorded", "mean_replayed", "p95_recorded", "p95_replayed"),
)
"""What a result repeats of a calibration."""
_UNNAMED = "cluster"
"""The name of a cluster that was given none, by which no site is known again."""


def place_of(scenario: str | Path) -> Path:
    """The file beside a scenario."""
    path = Path(scenario)
    return path.with_name(f"{path.stem}{SUFFIX}")


def write_calibration(path: Path, told: Mapping[str, Any]) -> Path:
    """Writes what `Calibration.as_data` tells, whole or not at all."""
    from walltime.core.files import write_whole

    text = json.dumps({"kind": KIND, **told}, indent=2, allow_nan=False, ensure_ascii=False)
    return write_whole(path, (text + "\n").encode())


@reader
def read_calibration(path: str | Path) -> dict[str, Any]:
    """The contents of such a file; raises InputError."""
    with reading(path) as file:
        told = file.json("is not valid JSON")
    again = "; `walltime calibrate` makes it again"
    if not isinstance(told, dict) or told.get("kind") != KIND:
        raise InputError(f"is not a calibration{again}", file=path)
    trust = told.get("trust")
    if isinstance(trust, bool) or not isinstance(trust, int | float) or not 0 <= trust <= 1:
        raise InputError(f"trust is not a number from 0 to 1{again}", value=trust, file=path)
    bounds = told.get("trust_bounds")
    if bounds is not None and not (
        isinstance(bounds, list) and len(bounds) == 2 and all(isinstance(one, int | float) for one in bounds)
    ):
        raise InputError(f"trust_bounds are not two numbers{again}", value=bounds, file=path)
    return told


def find_calibration(scenario: Scenario) -> dict[str, Any] | None:
    """The calibration of a scenario's site: the one beside its file, or another one there of a cluster of its name."""
    file = scenario.file
    near = file or scenario.workload.trace
    if near is None:
        return None
    if file is not None and place_of(file).is_file():
        return read_calibration(place_of(file))
    names = {cluster.name for cluster in scenario.clusters} - {_UNNAMED}
    for path in sorted(Path(near).parent.glob(f"*{SUFFIX}")) if names else ():
        told = read_calibration(path)
        if told.get("cluster") in names:
            return told
    return None


def find_trust(scenario: Scenario | str | Path) -> dict[str, Any] | None:
    """What a result repeats of its site's calibration, where there is one; raises InputError."""
    from walltime.scenario import load

    told = find_calibration(load(scenario) if isinstance(scenario, str | Path) else scenario)
    return None if told is None else {name: told.get(name) for name in KEPT}


def note_calibration(record: Record, scenario: Scenario) -> Record:
    """The record with what is kept of its site's calibration, where there is one."""
    told = find_trust(scenario)
    return record if told is None else replace(record, facts=record.facts | {"calibration": told})


def tell_calibration(facts: Mapping[str, Any]) -> str | None:
    """One sentence about how far answers of this site can be trusted; None where it was never calibrated."""
    told = facts.get("calibration")
    if not told:
        return None
    bounds = told.get("trust_bounds")
    within = f" ({100 * bounds[0]:.0f} to {100 * bounds[1]:.0f} %)" if bounds else ""
    replayed, recorded = (format_duration(told[name]) for name in ("mean_replayed", "mean_recorded"))
    return (
        f"Trust {100 * told['trust']:.0f} %{within}: a replay of {told['log']} has so much of its waiting in the same "
        f"place (mean wait {replayed}, in the log {recorded}; {told['jobs']:,} jobs)."
    )
