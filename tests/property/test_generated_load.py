"""Whatever the model, the seed and the wanted load: the offered load is within 2 points, the pressure in its band."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walltime.core.time import SECOND
from walltime.workload.generate import generate
from walltime.workload.models import load_model
from walltime.workload.models.empirical import FittedModel
from walltime.workload.models.fit import fit
from walltime.workload.synthesis import SynthesisPlan, synthesize

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
    jobs = synthesize(MODELS[name], SynthesisPlan(cores=cores, days=days, load=load, seed=seed))
    work = jobs.column("cores") * (jobs.column("run_time") / SECOND)
    for code, length in ((1, DAY), (2, days * DAY)):
        inside = jobs.column("phase") == code
        offered = float(work[inside].sum()) / (cores * length)
        assert offered == pytest.approx(load, abs=0.02)
        assert offered == pytest.approx(jobs.notes["offered_load"][["", "stabilization", "experiment"][code]])


@settings(max_examples=15, deadline=None)
@given(
    name=st.sampled_from(sorted(MODELS)),
    low=st.floats(0.5, 1.2),
    width=st.floats(0.0, 0.2),
    seed=st.integers(0, 2**32),
    fill=st.sampled_from([0.0, 4.0]),
)
def test_pressure_after_each_instant(name, low, width, seed, fill):
    cores = 256
    jobs = synthesize(
        MODELS[name], SynthesisPlan(cores=cores, days=2, pressure=(low, low + width), seed=seed, fill=fill)
    )
    begin = jobs.notes["phases"]["stabilization"][0]
    total, taken, checked = 0.0, {}, 0
    for phase, submit, width_, run in zip(
        *(jobs.column(column).tolist() for column in ("phase", "submit", "cores", "run_time")), strict=True
    ):
        if phase > 0:
            taken.setdefault(submit / SECOND - begin, []).append(width_ * run / SECOND)
    for time, amounts in taken.items():
        assert time <= 0 or total < (low + width) * time * cores
        total += sum(amounts)
        assert total >= low * time * cores * (1 - 1e-12)
        checked += 1
    assert checked
