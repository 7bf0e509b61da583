"""Whatever the model, the seed and the wanted load: the offered load is within 2 points, the backlog within 15 %."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walltime.core.time import SECOND
from walltime.workload.fill import first_waiting
from walltime.workload.fit import fit
from walltime.workload.generate import generate
from walltime.workload.models import load_model
from walltime.workload.models.empirical import FittedModel
from walltime.workload.synthesis import Plan, synthesize

DAY = 86_400.0
MODELS = {
    "fitted": FittedModel(fit(generate(4000, 256, 0.8, seed=1))),
    "independent": FittedModel(fit(generate(4000, 256, 0.8, seed=1)), "independent"),
    "lublin": load_model("lublin"),
}


@settings(max_examples=25, deadline=None)
@given(
    name=st.sampled_from(sorted(MODELS)),
    load=st.floats(0.5, 1.0),
    seed=st.integers(0, 2**32),
    cores=st.sampled_from([128, 256, 1000]),
    days=st.sampled_from([7, 20, 31]),
)
def test_offered_load(name, load, seed, cores, days):
    jobs = synthesize(MODELS[name], Plan(cores=cores, days=days, load=load, seed=seed))
    work = jobs.column("cores") * (jobs.column("run_time") / SECOND)
    for code, length in ((1, DAY), (2, days * DAY)):
        inside = jobs.column("phase") == code
        offered = float(work[inside].sum()) / (cores * length)
        assert offered == pytest.approx(load, abs=0.02)
        assert offered == pytest.approx(jobs.notes["offered_load"][["", "stabilization", "experiment"][code]])


@settings(max_examples=15, deadline=None)
@given(
    name=st.sampled_from(sorted(MODELS)),
    wanted=st.sampled_from([2.0, 4.0, 8.0, 24.0]),
    load=st.floats(0.8, 1.0),
    seed=st.integers(0, 2**32),
)
def test_backlog_under_fcfs_at_the_end_of_the_stabilization(name, wanted, load, seed):
    cores = 512
    jobs = synthesize(MODELS[name], Plan(cores=cores, days=2, load=load, seed=seed, backlog=wanted))
    moment = jobs.notes["phases"]["stabilization"][1]
    submit = jobs.column("submit") / SECOND
    early = submit <= moment
    run, request = jobs.column("run_time"), jobs.column("requested_time")
    used = (np.where(request > 0, np.minimum(run, request), run) / SECOND)[early]
    width = jobs.column("cores")[early]
    first = first_waiting(submit[early], width, used, cores, moment)
    waiting = float(np.dot(width[first:], used[first:])) / cores / 3600
    assert waiting == pytest.approx(wanted, rel=0.15)
