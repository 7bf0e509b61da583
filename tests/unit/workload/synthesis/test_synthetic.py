"""Distributions have their moments, and draws belong to their stream and entity alone."""

from __future__ import annotations

import numpy as np
import pytest

from walltime import api
from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.scenario import parse
from walltime.workload.distributions import Draws, parse_distribution
from walltime.workload.synthesis.mix import JobType, Modulated, parse_arrivals, synthesise

MANY = 400_000
KINDS = [
    ({"name": "deterministic", "value": 10}, 0.0),
    ({"name": "uniform", "low": 0, "high": 20}, 3**-0.5),
    ({"name": "exponential", "mean": 10}, 1.0),
    ({"name": "erlang", "mean": 10, "stages": 4}, 0.5),
    ({"name": "hyper-exponential", "mean": 10, "cv": 2}, 2.0),
    ({"name": "hyper-exponential", "means": [5, 15], "weights": [1, 1]}, 1.5**0.5),
    ({"name": "lognormal", "mean": 10, "cv": 0.8}, 0.8),
    ({"name": "lognormal", "median": 10 * np.exp(-0.125), "sigma": 0.5}, np.expm1(0.25) ** 0.5),
    ({"name": "weibull", "shape": 2, "mean": 10}, (4 / np.pi - 1) ** 0.5),
    ({"name": "gamma", "shape": 4, "mean": 10}, 0.5),
    ({"name": "gamma", "shape": 0.5, "scale": 20}, 2**0.5),
    ({"name": "pareto", "shape": 6, "mean": 10}, 24**-0.5),
    ({"name": "pareto", "shape": 6, "minimum": 10 * 5 / 6}, 24**-0.5),
    ({"name": "empirical", "values": [0, 20]}, 1.0),
    ({"name": "empirical", "values": [5, 25], "weights": [3, 1]}, 0.75**0.5),
]


@pytest.mark.parametrize(("description", "spread"), KINDS, ids=lambda value: str(value)[:48])
def test_a_distribution_has_its_mean_and_spread(description, spread):
    values = parse_distribution(description).draw(Draws(1, "moments", np.arange(MANY)))
    assert parse_distribution(description).mean == pytest.approx(10)
    assert values.mean() == pytest.approx(10, abs=5 * 10 * spread / MANY**0.5 + 1e-9)
    assert values.std() / 10 == pytest.approx(spread, rel=0.02, abs=1e-9)
    assert (values >= 0).all()


@pytest.mark.parametrize("description", [kind for kind, _ in KINDS], ids=lambda value: str(value)[:48])
def test_a_draw_depends_on_nothing_but_seed_name_and_entity(description):
    kind = parse_distribution(description)
    whole = kind.draw(Draws(1, "work", np.arange(50)))
    assert np.array_equal(kind.draw(Draws(1, "work", np.array([7, 49, 3]))), whole[[7, 49, 3]])
    if not kind.constant:
        assert not np.array_equal(kind.draw(Draws(2, "work", np.arange(50))), whole)
        assert not np.array_equal(kind.draw(Draws(1, "gap", np.arange(50))), whole)


def test_a_modulated_process_has_the_rates_of_its_states():
    process = Modulated((2.0, 0.0, 0.1), (50.0, 100.0, 50.0))
    times = process.times(3, 60_000)
    assert (np.diff(times) >= 0).all()
    assert times[-1] / len(times) == pytest.approx(process.mean, rel=0.05)
    gaps = np.diff(times)
    assert gaps.std() / gaps.mean() > 2  # far burstier than a Poisson process
    assert Modulated((0.5,), (10.0,)).times(3, 100) == pytest.approx(
        np.cumsum(
            parse_distribution({"name": "exponential", "mean": 2}).draw(Draws(3, "synthetic.gap", np.arange(100)))
        )
    )


def describe(**changes):
    given = {
        "jobs": 500,
        "arrivals": {"name": "exponential", "mean": 10},
        "batch": {"name": "empirical", "values": [1, 3]},
        "types": {
            "small": {"weight": 3, "work": {"name": "exponential", "mean": 10}, "queue": "fast"},
            "wide": {"tasks": {"name": "empirical", "values": [2, 4]}, "work": 5, "profile": "lock-step"},
        },
    }
    return {"workload": {"synthetic": given | changes}, "seed": 4, "cluster": {"cores": 8}}


def test_two_configurations_see_the_same_draws():
    """The same seed with other arrivals, another mix, more jobs: every variable that is not named is as it was."""
    base = parse(describe()).read_workload()
    faster = parse(describe(arrivals={"name": "exponential", "mean": 5})).read_workload()
    more = parse(describe(jobs=900)).read_workload()
    burst = parse(describe(arrivals={"name": "mmpp", "rates": [1, 0.01], "stays": [60, 600]})).read_workload()
    for other in (faster, more, burst):
        for name in ("run_time", "cores", "queue", "group", "profile"):
            assert np.array_equal(other.column(name)[:500], base.column(name)), name
    assert np.abs(faster.column("submit") - base.column("submit") / 2).max() <= 1
    assert np.array_equal(more.column("submit")[:500], base.column("submit"))
    other_mix = describe()
    other_mix["workload"]["synthetic"]["types"]["small"]["work"] = {"name": "exponential", "mean": 20}
    longer = parse(other_mix).read_workload()
    small = base.column("queue") >= 0
    assert np.abs(longer.column("run_time")[small] - 2 * base.column("run_time")[small]).max() <= 1
    assert np.array_equal(longer.column("run_time")[~small], base.column("run_time")[~small])


def test_two_clusters_and_policies_run_the_same_jobs():
    results = [api.simulate(describe(), policy=policy, cores=cores) for policy, cores in (("fcfs", 8), ("sjf", 16))]
    for name in ("job_id", "submit", "cores", "run_time", "queue", "group"):
        assert results[0].jobs[name].equals(results[1].jobs[name]), name


def test_arrivals_come_in_batches_within_the_span():
    kinds = [JobType("only", parse_distribution(1))]
    gaps, three = parse_arrivals(10), parse_distribution(3)
    jobs = synthesise(gaps, kinds, span=100, batch=three)
    assert (jobs.column("submit") / SECOND).tolist() == [t for t in range(10, 101, 10) for _ in range(3)]
    assert len(synthesise(gaps, kinds, jobs=100, batch=three)) == 100


def test_a_mix_has_its_weights_and_labels():
    jobs = parse(describe(jobs=20_000)).read_workload()
    small = jobs.column("group") == jobs.label_names("group").index("small")
    assert small.mean() == pytest.approx(0.75, abs=0.02)
    assert jobs.label_names("queue") == ["fast"]
    assert np.array_equal(jobs.column("queue") == 0, small)
    assert set(jobs.column("cores")[~small].tolist()) == {2, 4}
    assert jobs.label_names("profile") == ["lock-step"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"arrivals": {"name": "exponentail", "mean": 1}}, "exponential"),
        ({"arrivals": {"name": "exponential"}}, "takes mean"),
        ({"arrivals": {"name": "exponential", "mean": -3}}, "above zero"),
        ({"arrivals": 0}, "above zero"),
        ({"arrivals": {"name": "mmpp", "rates": [1]}}, "rates and stays"),
        ({"arrivals": {"name": "mmpp", "rates": [1, 2], "stays": [1]}}, "as many stays"),
        ({"arrivals": {"name": "mmpp", "rates": [0, 0], "stays": [1, 1]}}, "all zero"),
        ({"batch": {"name": "erlang", "mean": 2, "stages": 0}}, "stages"),
        ({"batch": {"name": "hyper-exponential", "mean": 2, "cv": 0.5}}, "at least 1"),
        ({"batch": {"name": "pareto", "mean": 2, "shape": 1}}, "no mean"),
        ({"batch": {"name": "empirical", "values": []}}, "list of numbers"),
        ({"batch": {"name": "empirical", "values": [1, 2], "weights": [1]}}, "one for each"),
        ({"batch": "many"}, r"not a number, nor [a-z ]*: 'many'$"),
        ({"jobs": None}, "either jobs or span"),
        ({"types": {}}, "at least one kind"),
        ({"types": {"a": {"work": 1, "weight": 0}}}, "weight above zero"),
        ({"types": {"a": {"work": 1, "weight": -1}}}, "0 or more"),
        ({"types": {"a": {"work": 1, "profile": "lockstep"}}}, "lock-step"),
        ({"types": {"a": {"work": 1, "profile": "lock-step step=0"}}}, "longer than zero"),
        ({"types": {"a": {"work": 1, "profile": "lock-step delay=-1"}}}, "not a duration"),
    ],
    ids=str,
)
def test_mistakes_are_told_by_name(changes, words):
    with pytest.raises(InputError, match=words):
        parse(describe(**changes))
