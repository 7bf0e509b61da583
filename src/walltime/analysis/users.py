"""What a closed loop has done for its users: waits alone say little where a slow system is asked for less.

- throughput: jobs completed, and core-hours of theirs, for each user and day from the first submission to the last end;
- sessions as the result has them: a user without a sign for longer than the gap has ended one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from walltime.core.tables import Record, is_label, ticks
from walltime.core.time import SECOND
from walltime.core.workload import Workload, sort_by_submission
from walltime.policy.users import GAVE_UP
from walltime.workload.users.sessions import Thresholds, infer_acts

_DAY = 86_400.0


def sum_up_users(record: Record) -> dict[str, Any] | None:
    """The figures of users who react; None where they do not."""
    told = record.facts.get("users")
    jobs = record.jobs.filter(pl.col("user").is_not_null())
    if told is None or not jobs.height:
        return None
    users = jobs["user"].n_unique()
    span = (int(ticks(record.jobs["end"]).max()) - int(ticks(record.jobs["submit"]).min())) / SECOND / _DAY
    done = jobs.filter(is_label(jobs["state"], "completed"))
    work = float((done["run_time"] * done["cores"]).sum() or 0.0) / 3600
    lengths, sizes = _find_sessions(jobs, float(told.get("session_gap", Thresholds.session_gap)))
    return {
        "users": users,
        "not_submitted": int(told.get("not_submitted", 0)),
        "abandoned": int(told.get("abandoned", 0)) + _count_given_up(record),
        "jobs_per_user_day": done.height / users / span if span > 0 else None,
        "core_hours_per_user_day": work / users / span if span > 0 else None,
        "sessions": len(lengths),
        "mean_session_length": float(np.mean(lengths)),
        "mean_session_jobs": float(np.mean(sizes)),
    }


def _count_given_up(record: Record) -> int:
    """Jobs whose users gave up waiting."""
    return int((record.facts.get("cancelled_reasons") or {}).get(GAVE_UP, 0))


def _find_sessions(jobs: pl.DataFrame, gap: float) -> tuple[np.ndarray, np.ndarray]:
    """The length of each session in seconds, from its first submission to its last, and its jobs."""
    names = jobs["user"]
    codes = (names.cast(pl.Categorical) if names.dtype == pl.String else names).to_physical().to_numpy()
    user = (np.cumsum(np.bincount(codes) > 0) - 1)[codes]
    columns = {
        "user": user.astype(np.int32),
        "submit": ticks(jobs["submit"]),
        "run_time": np.maximum(ticks(jobs["held_time"]), 0),
        "recorded_wait": np.maximum(ticks(jobs["wait"]), 0),
    }
    table = Workload(sort_by_submission(columns), {"user": [str(code) for code in range(int(user.max()) + 1)]})
    acts = infer_acts(table, Thresholds(session_gap=gap))
    last = np.maximum.reduceat(acts.last, acts.begins)
    sizes = np.add.reduceat(acts.sizes, acts.begins)
    return (last - acts.start[acts.begins]) / SECOND, sizes
