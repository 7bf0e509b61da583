"""Why a replay waits less or more than the log: what the log itself and the replay tell, each with its part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from walltime.analysis.resources import CORES, find_parts, find_uses
from walltime.core.tables import Record
from walltime.core.time import format_duration
from walltime.core.workload import Workload

NAMED = 3
LEAST = 60.0
"""Seconds by which a job must have waited longer in the log to be looked at."""
FULL = 0.98
"""A log that never uses more than this part of the machine, although jobs wait, did not have all of it."""
HOUR = 3600.0


@dataclass(frozen=True)
class LikelyReason:
    """A likely reason, in words; `kind` is its name for programs, `jobs` and `seconds` of waiting are behind it,
    `share` is its part of all waiting that the replay lacks or has too much, where that can be told."""

    kind: str
    text: str
    jobs: int = 0
    seconds: float = 0.0
    share: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return asdict(self)


def find_reasons(record: Record, workload: Workload, waits: pl.DataFrame, failed: int = 0) -> list[LikelyReason]:
    """The reasons that apply, the weightiest first; `failed` jobs of the log were ended by a failing node."""
    found = [
        *_find_held(waits),
        *_find_roomy(record, workload, waits),
        *_find_early(waits),
        *_find_limits(record, waits),
        *_find_rejected(record),
        *_find_size(record, workload, waits),
        *_find_failed(record, failed),
    ]
    return sorted(found, key=lambda one: -one.seconds)


def _lack(waits: pl.DataFrame) -> pl.Series:
    """By how much longer each job waited in the log, at least a minute; 0 for the others."""
    lack = waits["recorded"] - waits["replayed"]
    return pl.select(pl.when(lack > LEAST).then(lack).otherwise(0.0)).to_series()


def _find_held(waits: pl.DataFrame) -> Iterator[LikelyReason]:
    held = waits.filter(pl.col("held") > 0)
    if held.height:
        seconds = float(held["held"].sum())
        yield LikelyReason(
            "held",
            f"{held.height:,} jobs were held by their users, or waited for others, for {_hours(seconds)} before they "
            "were eligible; the replay holds them as long, and no wait since eligibility has it in it",
            held.height,
            seconds,
        )


def _find_roomy(record: Record, workload: Workload, waits: pl.DataFrame) -> Iterator[LikelyReason]:
    """Jobs that waited in the log although it had room for them: a limit, a hold, nodes that were down."""
    lack = _lack(waits)
    total = float(lack.sum())
    roomy = find_room(record, workload, waits) & (lack > 0).to_numpy()
    seconds = float(lack.filter(pl.Series(roomy)).sum())
    if not total or seconds < 0.05 * total:
        return
    told = [
        text
        for key in ("account", "user", "qos", "queue")
        if (text := _name_heaviest(waits.with_columns(lack.alias("lack")).filter(pl.Series(roomy)), key))
    ]
    yield LikelyReason(
        "limits",
        f"{int(roomy.sum()):,} jobs waited {_hours(seconds)} longer although the log had room for them when they "
        f"became eligible: a limit that the scenario does not know, a hold, or nodes that were down "
        f"({'; '.join(told)})",
        int(roomy.sum()),
        seconds,
        seconds / total,
    )


def _name_heaviest(waits: pl.DataFrame, key: str) -> str:
    """Whose waiting it is, most of all."""
    sums = waits.drop_nulls(key).group_by(key).agg(pl.col("lack").sum()).sort("lack", key, descending=[True, False])
    total = float(sums["lack"].sum())
    if not total:
        return ""
    heaviest = [f"{row[0]} {100 * row[1] / total:.0f} %" for row in sums.head(NAMED).rows()]
    return f"by {key} {', '.join(heaviest)}"


def find_room(record: Record, workload: Workload, waits: pl.DataFrame) -> np.ndarray:
    """Which jobs the log had room for when they became eligible: their cores and GPUs were free among the nodes of
    their queue, by what the log says of all jobs that may use those nodes."""
    log = _LogUse(workload)
    told = (record.facts.get("queues") or {}) if len(record.facts.get("clusters") or {}) == 1 else {}
    nodes = {name: text for own in told.values() for name, text in own.items()}
    uses = find_uses(record)
    names = waits["queue"].to_list()
    eligible = waits["submit"].to_numpy() + waits["held"].to_numpy()
    room = np.ones(waits.height, bool)
    for queue in dict.fromkeys(names):
        mine = np.array([name == queue for name in names])
        rivals = [name for name in nodes if _overlap(nodes[name], nodes[queue])] if queue in nodes else None
        for resource, column in (("cores", "cores"), ("gpus", "gpus")):
            if resource not in uses:
                continue
            parts = find_parts(record, queue if queue in nodes else None)
            total = sum(part.total(uses[resource]) for part in parts)
            used = log.at(eligible[mine], column, rivals)
            wanted = waits[column].to_numpy()[mine]
            room[mine] &= (wanted == 0) | (used + wanted <= total)
    return room


def _overlap(one: str | None, other: str | None) -> bool:
    """Whether two queues share a node; None is all nodes."""
    from walltime.analysis.resources import read_numbers

    if one is None or other is None:
        return True
    return bool(np.intersect1d(read_numbers(one), read_numbers(other)).size)


class _LogUse:
    """What was in use in the log itself: jobs from their recorded start for as long as they ran. Seconds."""

    def __init__(self, workload: Workload) -> None:
        wait, run = workload.column("recorded_wait"), workload.column("run_time")
        self.known = (wait >= 0) & (run > 0)
        self.start = (workload.column("submit") + wait) / 1e6
        self.end = self.start + run / 1e6
        self.amounts = {"cores": workload.column("cores"), "gpus": workload.column("gpus")}
        codes, names = workload.column("queue"), workload.label_names("queue")
        self.queue = [names[code] if code >= 0 else None for code in codes.tolist()]

    def at(self, moments: np.ndarray, column: str, queues: list[str] | None = None) -> np.ndarray:
        """How much was in use at each of the moments, by jobs of these queues (None: all); ends come before it."""
        mine = self.known if queues is None else self.known & np.array([name in queues for name in self.queue])
        amounts = np.maximum(self.amounts[column][mine], 0)
        begun = _sum_until(self.start[mine], amounts, moments, "left")
        over = _sum_until(self.end[mine], amounts, moments, "right")
        return np.asarray(begun - over)

    def peak(self, column: str) -> float:
        """The most that was ever in use at once."""
        starts = self.start[self.known]
        return float(np.max(self.at(starts + 1e-6, column), initial=0))


def _sum_until(times: np.ndarray, amounts: np.ndarray, moments: np.ndarray, side: Any) -> np.ndarray:
    order = np.argsort(times, kind="stable")
    sums = np.concatenate([[0], np.cumsum(amounts[order])])
    return np.asarray(sums[np.searchsorted(times[order], moments, side=side)])


def _find_early(waits: pl.DataFrame) -> Iterator[LikelyReason]:
    """A log begins on a machine that is in use, a replay on an empty one."""
    lack = _lack(waits)
    total = float(lack.sum())
    submit = waits["submit"].to_numpy()
    early = submit <= submit.min() + 0.1 * (submit.max() - submit.min())
    seconds = float(lack.filter(pl.Series(early)).sum())
    share = seconds / total if total else 0.0
    if share > 0.25:
        count = int((early & (lack > 0).to_numpy()).sum())
        text = (
            f"{100 * share:.0f} % of the waiting that the replay lacks is in the first tenth of the log: it begins on "
            "an empty machine, the log on one in use"
        )
        yield LikelyReason("start", text, count, seconds, share)


def _find_limits(record: Record, waits: pl.DataFrame) -> Iterator[LikelyReason]:
    """Limits that hold jobs in the replay, where it waits longer than the log."""
    excess = waits["replayed"] - waits["recorded"]
    more = float(excess.filter(excess > LEAST).sum())
    held = {whose: 3600 * hours for whose, hours in (record.facts.get("held") or {}).items() if hours > 0}
    if more and held and sum(held.values()) > 0.05 * more:
        ranked = sorted(held.items(), key=lambda item: -item[1])[:NAMED]
        told = ", ".join(f"{whose} {_hours(seconds)}" for whose, seconds in ranked)
        text = f"limits hold jobs in the replay ({told}); where it waits longer than the log they may be too strict"
        yield LikelyReason("strict", text, int((excess > LEAST).sum()), min(more, sum(held.values())))


def _find_rejected(record: Record) -> Iterator[LikelyReason]:
    jobs = record.jobs
    gone = jobs.filter((pl.col("state").cast(pl.String) == "rejected") & pl.col("recorded_wait").is_not_null())
    if gone.height:
        counts = record.facts.get("rejected_reasons") or {}
        reasons = "; ".join(f"{why}: {count:,}" for why, count in counts.items())
        rejected = sum(counts.values())
        among = "" if rejected == gone.height else f"of {rejected:,} rejected in all, "
        text = f"{gone.height:,} jobs that ran in the log are rejected in the replay ({among}{reasons})"
        yield LikelyReason("rejected", text, gone.height)


def _find_size(record: Record, workload: Workload, waits: pl.DataFrame) -> Iterator[LikelyReason]:
    """Whether the log uses more than there is, or never all of it although jobs wait."""
    log = _LogUse(workload)
    for resource, use in find_uses(record).items():
        if resource not in (CORES, "gpus"):
            continue
        there, peak = sum(use.total.values()), log.peak(resource)
        word = "GPUs" if resource == "gpus" else "cores"
        if peak > there:
            yield LikelyReason("larger", f"the log uses up to {peak:,.0f} {word}, the scenario has {there:,.0f}")
        elif resource == CORES and peak < FULL * there and float(_lack(waits).sum()) > 0:
            text = (
                f"the log never uses more than {peak:,.0f} of {there:,.0f} {word}, although jobs wait: nodes may have "
                "been down or kept free (`sacctmgr show event` tells, and `walltime site import` reads it)"
            )
            yield LikelyReason("down", text)


def _find_failed(record: Record, failed: int) -> Iterator[LikelyReason]:
    if failed and record.outages is None:
        text = (
            f"{failed:,} jobs of the log were ended by a failing node, and the scenario knows of no outage: "
            "`sacctmgr show event` tells them"
        )
        yield LikelyReason("failures", text, failed)


def _hours(seconds: float) -> str:
    return f"{seconds / HOUR:,.0f} h" if seconds >= 10 * HOUR else format_duration(seconds)
