"""Warm-up, window and drain of an experiment, as phases of its jobs: figures are of the experiment alone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import SECOND, microseconds
from walltime.core.workload import Workload

PHASES = ("stabilization", "experiment", "drain")


def mark_phases(workload: Workload, phases: Mapping[str, float]) -> tuple[Workload, float | None]:
    """The jobs with their phases by submission, and when the run ends (seconds), if the phases say.

    `warmup` seconds from the first submission on are stabilization, then `window` seconds the experiment (without it,
    all that is left); what is submitted later is drain, and the run ends `drain` seconds after the window.
    """
    if not phases or not len(workload):
        return workload, None
    if workload.has("phase"):
        raise InputError("the workload has phases of its own; warmup, window and drain are for jobs without")
    submit = workload.column("submit")
    begin = int(submit[0]) + microseconds(phases.get("warmup", 0.0))
    window, drain = phases.get("window"), phases.get("drain")
    end = None if window is None else begin + microseconds(window)
    code = np.where(submit < begin, 0, 1 if end is None else np.where(submit < end, 1, 2)).astype(np.int32)
    if not np.any(code == 1):
        raise InputError("no job is submitted between the warm-up and the end of the window")
    until = None if end is None or drain is None else (end + microseconds(drain)) / SECOND
    labels = dict(workload.labels) | {"phase": list(PHASES)}
    return workload.replace(dict(workload.columns) | {"phase": code}, labels=labels), until
