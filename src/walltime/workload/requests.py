"""Jobs whose requested time is not recorded, and the three ways of giving them one."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from walltime.core.errors import InputError
from walltime.core.random import uniforms
from walltime.core.time import LATEST
from walltime.core.workload import MISSING, UNLIMITED, Workload

How = Literal["exact", "max", "model"]


def fill_requests(workload: Workload, how: How = "exact", seed: int = 0) -> tuple[Workload, int]:
    """The workload with a requested time for every job, and the number of jobs that were given one.

    `exact`: the run time, that is a perfect estimate; to be labelled as such. `max`: the largest request in the
    workload, or the largest run time where no job has a request. `model`: run time / accuracy, the accuracy drawn for
    each job (by its number) from the jobs that have a request; an InputError where there is none. A job without a limit
    has no request that another could be like.
    """
    if how not in get_args(How):
        raise InputError("unknown way to fill missing requests", value=how, choices=get_args(How))
    request, run = workload.column("requested_time"), workload.column("run_time")
    missing = request == MISSING
    count = int(np.count_nonzero(missing))
    if not count:
        return workload, 0
    endless = missing & (run == MISSING)
    if endless.any():
        job = int(workload.column("job_id")[int(np.argmax(endless))])
        raise InputError("a job without a run time needs a requested time; job", value=job)
    filled = request.copy()
    if how == "exact":
        filled[missing] = run[missing]
    elif how == "max":
        told = request[(request != MISSING) & (request < UNLIMITED)]
        filled[missing] = (told if len(told) else run).max()
    else:
        filled[missing] = _draw(workload, run[missing], missing, seed)
    return workload.replace(workload.columns | {"requested_time": filled}), count


def _draw(workload: Workload, run: np.ndarray, missing: np.ndarray, seed: int) -> np.ndarray:
    """Requests for the given run times, each at least its run time: nothing here makes a job fail that did not."""
    known = ~missing & (workload.column("run_time") > 0) & (workload.column("requested_time") < UNLIMITED)
    if not known.any():
        raise InputError(
            "missing requests cannot be modelled: no job of this workload has a requested time to learn from; "
            "use exact or max",
            value="model",
            file=workload.source or None,
        )
    ratio = workload.column("run_time")[known] / np.maximum(workload.column("requested_time")[known], 1)
    accuracy = np.sort(np.minimum(ratio, 1.0))
    draws = uniforms(seed, "missing_request", workload.column("job_id")[missing])
    picked = accuracy[(draws * len(accuracy)).astype(np.int64)]
    return np.asarray(np.clip(np.rint(run / picked), run, LATEST), np.int64)
