"""What was inferred of a log's users, in figures, and how sure it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.workload.calendar import hour_of_week
from walltime.workload.users.sessions import Acts, Thresholds, infer_acts, measure_lift

_QUANTILES = {"p5": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95}


def describe_users(jobs: Workload, thresholds: Thresholds) -> tuple[Acts, dict[str, Any]]:
    """The acts of a log, and the facts about them, ready for JSON; times in seconds."""
    acts = infer_acts(jobs, thresholds)
    people = acts.user >= 0
    reacts = (acts.after >= 0) & (acts.think <= thresholds.session_gap * SECOND)
    begins = acts.begins[acts.user[acts.begins] >= 0]
    later = begins[(acts.before[begins] >= 0) | (acts.after[begins] >= 0)]
    length = np.maximum.reduceat(acts.last, acts.begins) - acts.start[acts.begins] if len(acts) else acts.last
    of_people = acts.user[acts.begins] >= 0
    per_session = np.diff(np.append(acts.begins, len(acts)))
    facts = {
        "source": jobs.source,
        "jobs": len(jobs),
        "users": len(np.unique(acts.user[people])),
        "without_user": int(np.count_nonzero(jobs.column("user") < 0)),
        "thresholds": {
            "session_gap": thresholds.session_gap,
            "campaign": thresholds.campaign,
            "overlap": thresholds.overlap,
            "waits": thresholds.waits,
        },
        "batches": int(np.count_nonzero(people)),
        "sessions": len(begins),
        "after_completion": int(np.count_nonzero(acts.after[people] >= 0)),
        "after_arrival": int(np.count_nonzero((acts.before[people] >= 0) & (acts.after[people] < 0))),
        "think_time": _quantiles(acts.think[reacts] / SECOND),
        "break": _quantiles(acts.idle[later] / SECOND),
        "session_length": _quantiles(length[of_people] / SECOND),
        "jobs_per_batch": _quantiles(acts.sizes[people]),
        "batches_per_session": _quantiles(per_session[of_people]),
        "batches_by_hour_of_week": np.bincount(hour_of_week(jobs, acts.start[people]), minlength=168).tolist(),
        "sure": _judge(acts, jobs, thresholds),
    }
    return acts, facts


def _judge(acts: Acts, jobs: Workload, thresholds: Thresholds) -> dict[str, Any]:
    """How sure the inference is.

    `unknown_ends`: jobs of which the log has no end. `sessions_by_gap`: how many sessions there would be with half and
    with twice the gap; `undecided`: of the pauses between batches, the share that lies between. `prompt`: how often
    users submit within the gap after an end of theirs; `by_chance`: how often a day or a week later at the same hour,
    when it can be no answer to that end.
    """
    gap = thresholds.session_gap
    follows = (acts.before >= 0) | (acts.after >= 0)
    idle = acts.idle[follows] / SECOND
    counts = {}
    for factor in (0.5, 1.0, 2.0):
        other = infer_acts(jobs, replace(thresholds, session_gap=gap * factor))
        counts[f"{gap * factor:g}"] = int(np.count_nonzero(other.user[other.begins] >= 0))
    near = (idle > gap / 2) & (idle <= gap * 2)
    prompt, chance = measure_lift(acts, gap, thresholds.campaign)
    return {
        "unknown_ends": acts.unknown,
        "sessions_by_gap": counts,
        "undecided": float(near.mean()) if len(near) else None,
        "prompt": prompt,
        "by_chance": chance,
    }


def _quantiles(values: np.ndarray) -> dict[str, float] | None:
    if not len(values):
        return None
    found = np.quantile(values, list(_QUANTILES.values()))
    return dict(zip(_QUANTILES, map(float, found), strict=True)) | {"mean": float(np.mean(values))}
