"""How true is a scenario to its site? A log is replayed and compared with the waits that it tells itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from walltime.analysis.calibration.agreement import KEYS, bound_trust, compare_groups, find_waits, measure_trust
from walltime.analysis.calibration.reasons import LikelyReason, find_reasons
from walltime.core.reading import reader, reading

if TYPE_CHECKING:
    import polars as pl

    from walltime.core.tables import Record
    from walltime.scenario import Scenario

_FAILED = re.compile(r"^[^|.\n]+\|(?:.*\|)?NODE_FAIL(?:\||$)", re.MULTILINE)


@dataclass(frozen=True)
class Calibration:
    """A replay beside its log. `waits` has a row for each job compared, `groups` a table for each key."""

    cluster: str
    log: str
    waits: pl.DataFrame
    groups: dict[str, pl.DataFrame]
    reasons: tuple[LikelyReason, ...]
    left_out: int
    """Jobs of the log that do not tell their wait, or never started in the replay."""

    @property
    def trust(self) -> float:
        """The part of all waiting that log and replay have in common, by queue, size class and hour."""
        return measure_trust(self.waits)

    @property
    def trust_bounds(self) -> tuple[float, float]:
        """Its 95 % interval, of other logs of the site."""
        return bound_trust(self.waits)

    @property
    def trust_by_job(self) -> float:
        """The same job by job."""
        return measure_trust(self.waits, ())

    def overall(self) -> dict[str, dict[str, float]]:
        """Mean, median and 95 % wait in the log (`recorded`) and in the replay (`replayed`), since eligibility, and
        since submission (`recorded_all`, `replayed_all`)."""
        return {
            name: {
                "mean": float(self.waits[name].mean()),  # type: ignore[arg-type]
                "median": float(self.waits[name].median()),  # type: ignore[arg-type]
                "p95": float(self.waits[name].quantile(0.95, "linear") or 0.0),
            }
            for name in ("recorded_all", "replayed_all", "recorded", "replayed")
        }

    def as_data(self) -> dict[str, Any]:
        """Everything but the single jobs, for JSON."""
        overall = self.overall()
        sides = {f"{name}_{side}": overall[side][name] for side in ("recorded", "replayed") for name in ("mean", "p95")}
        return {
            "cluster": self.cluster,
            "log": self.log,
            "jobs": self.waits.height,
            "left_out": self.left_out,
            "trust": self.trust,
            "trust_bounds": list(self.trust_bounds),
            "trust_by_job": self.trust_by_job,
            **sides,
            "waits": overall,
            "groups": {key: table.to_dicts() for key, table in self.groups.items()},
            "reasons": [reason.as_dict() for reason in self.reasons],
        }


def calibrate(
    scenario: Scenario | str | Path,
    log: str | Path | None = None,
    observe: Callable[[Any], Any] | None = None,
    **reading: Any,
) -> Calibration:
    """Replays a log, by default the scenario's own, and compares it with itself; raises InputError.

    `reading` says how the log is read: `format`, `timezone`, `columns`, `collections`, `host` as in a scenario's
    `workload`. `observe` makes an engine's observer of what is ready to run.
    """
    from walltime.pipeline import prepare

    prepared = prepare(_with_log(scenario, log, reading))
    return compare_replay(prepared.run(None if observe is None else observe(prepared)), prepared)


def compare_replay(record: Record, prepared: Any) -> Calibration:
    """The calibration that a replay comes to."""
    trace = prepared.scenario.workload.trace
    waits = find_waits(record, prepared.workload)
    groups = {key: compare_groups(waits, key) for key in KEYS if waits[key].count()}
    failed = 0 if trace is None else count_failed(trace)
    return Calibration(
        prepared.scenario.clusters[0].name,
        "the log" if trace is None else Path(trace).name,
        waits,
        groups,
        tuple(find_reasons(record, prepared.workload, waits, failed)),
        record.jobs.height - waits.height,
    )


def _with_log(scenario: Any, log: str | Path | None, reading: dict[str, Any]) -> Scenario:
    """The scenario with another log in the place of its own."""
    from walltime.scenario import load, parse

    settings: list[tuple[str, Any]] = [
        ("timezone" if name == "timezone" else f"workload.{name}", value) for name, value in reading.items() if value
    ]
    if log is not None:
        settings.insert(0, ("workload.trace", str(Path(log).absolute())))
    if isinstance(scenario, str | Path):
        return load(scenario, settings)
    if not settings:
        return scenario  # type: ignore[no-any-return]
    return parse({name: getattr(scenario, name) for name in scenario.model_fields_set}, settings).placed_as(scenario)


@reader
def count_failed(trace: str | Path) -> int:
    """Jobs of a log of sacct that a failing node ended; 0 for a log of another kind."""
    with reading(trace) as file:
        head = file.read(4096)
        if b"|" not in head or b"State" not in head:
            return 0
    with reading(trace) as file:
        return len(_FAILED.findall(file.text()))
