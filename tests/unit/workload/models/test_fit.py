"""Fitting: what is counted, what is cleaned, and that a model gives back what it was made of."""

import json

import numpy as np
import pytest

from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.workload.calendar import hour_of_week
from walltime.workload.compare import compare_workloads
from walltime.workload.generate import generate
from walltime.workload.models import load_model
from walltime.workload.models.clean import clean
from walltime.workload.models.distribution import Histogram, stratified
from walltime.workload.models.empirical import FittedModel
from walltime.workload.models.file import read_model, write_model
from walltime.workload.models.fit import FitOptions, fit
from walltime.workload.synthesis import generate_workload
from walltime.workload.totals import with_totals

DAY = 86_400


def test_the_example_of_the_paper():
    """Fig. 3: 30 % of the values up to 10, 50 % in (10, 20], 20 % in (20, 30]; 0.91 gives 25."""
    values = np.array([5.0] * 3 + [15.0] * 5 + [25.0] * 2)
    histogram = Histogram.of(values, 10)
    assert histogram.pairs() == [[0, 3], [1, 5], [2, 2]]
    assert histogram.draw(np.array([0.0, 0.29, 0.3, 0.79, 0.8, 0.91])).tolist() == [5, 5, 15, 15, 25, 25]
    assert histogram.draw(np.array([0.3]), "low")[0] == 10
    assert histogram.draw(np.array([0.3]), "high")[0] == 20
    assert histogram.draw(np.array([0.55]), "uniform")[0] == pytest.approx(15)


def test_bins_hold_their_upper_edge():
    assert Histogram.of(np.array([0.0, 60.0, 60.1, 3600.0]), 60).pairs() == [[0, 2], [1, 1], [59, 1]]


def test_uniform_numbers_that_are_spread():
    draws = stratified(np.random.default_rng(1), 1000)
    assert np.sort((draws * 1000).astype(int)).tolist() == list(range(1000))


def small_log():
    return Workload.from_columns(
        submit=[0, 30, 60, 5000, 9000, 9001],
        run_time=[50, 60, 100, 400, 5, 900],
        requested_time=[100, 100, 100, 1000, None, 1000],
        cores=[4, 4, 4, 1, 2, 16],
        user=["a", "a", "a", "b", "b", None],
    )


def test_what_is_counted():
    model = fit(small_log())
    assert model.source.jobs == 6
    variables = model.variables
    assert variables["interarrival"].bins == [(0, 1), (29, 2)]  # 5000 - 60 and 4000 are longer than 30 minutes
    assert variables["cores"].bins == [(0, 1), (1, 1), (3, 3), (15, 1)]
    assert variables["requested_time"].bins == [(1, 3), (16, 2)]
    assert variables["accuracy"].bins == [(39, 1), (49, 1), (59, 1), (89, 1), (99, 1)]
    wide = fit(small_log(), FitOptions(cores_bin=8, longest_gap=5000)).variables
    assert wide["cores"].bins == [(0, 5), (1, 1)]
    assert sum(count for _, count in wide["interarrival"].bins) == 5


def test_a_habit_is_learned():
    """One user repeats one job in sessions of ten; another's jobs differ."""
    starts = np.arange(40) * 6 * 3600.0
    submit = np.concatenate([start + np.arange(10) * 7.0 for start in starts])
    log = Workload.from_columns(
        submit=submit,
        run_time=np.full(400, 90.0),
        requested_time=np.full(400, 120.0),
        cores=np.full(400, 6),
        memory=np.full(400, 1 << 30),
        gpus=np.full(400, 2),
        user=["a"] * 400,
        group=["g"] * 400,
        queue=["fast"] * 400,
    )
    model = fit(log)
    [user] = model.users
    [template] = user.templates
    assert user.sizes == [(10, 40)]
    assert (template.repeat, user.returns) == (1.0, 1.0)
    assert (template.cores, template.requested_time, template.memory, template.gpus) == (6, 120.0, 1 << 30, 2)
    assert set(template.outcome) == {0.75}
    assert model.gaps["same"].bins == [(7, 360)]
    jobs = generate_workload(model, cores=16, days=20, seed=1, stabilization=0.0)
    assert set(jobs.column("cores").tolist()) == {6}
    assert set((jobs.column("run_time") / jobs.column("requested_time")).tolist()) == {0.75}
    assert set(jobs.column("memory").tolist()) == {1 << 30}
    assert jobs.label_names("queue") == ["fast"]
    assert len(jobs) == pytest.approx(800, abs=20)


def test_memory_and_gpus_are_totals_however_they_are_asked_for():
    log = Workload.from_columns(
        submit=range(4), run_time=[9] * 4, cores=[4] * 4, nodes=[2, 2, None, 2], memory=[None, None, None, 7],
        memory_per_node=[100, None, None, 100], memory_per_core=[None, 10, 10, None],
        gpus_per_node=[3, None, None, None],
    )  # fmt: skip
    full = with_totals(log)
    assert full.column("memory").tolist() == [200, 40, 40, 7]
    assert full.column("gpus").tolist() == [6, 0, 0, 0]
    assert sorted(value for value in fit(log).pool.memory) == [7, 40, 200]


def test_the_week_has_a_rhythm():
    log = generate(20_000, 256, 0.8, seed=3)
    hours = np.array(fit(log).rhythm.hours)
    counts = np.bincount(hour_of_week(log, log.column("submit")), minlength=168)
    assert np.corrcoef(hours, counts)[0, 1] > 0.97
    assert hours.mean() == pytest.approx(1, abs=1e-4)
    assert hours.reshape(7, 24)[:5].mean() > 1.5 * hours.reshape(7, 24)[5:].mean()


def test_cleaning_is_reported():
    log = generate(3000, 128, 0.7, seed=2)
    columns = dict(log.columns)
    week = (columns["submit"] // (7 * DAY * 1_000_000)) == 1
    user = columns["user"].copy()
    labels = dict(log.labels) | {"user": [*log.labels["user"], "flood"]}
    flood = log.select(np.flatnonzero(week))
    joined = {name: np.concatenate([columns[name], *[flood.columns[name]] * 12]) for name in columns}
    joined["user"][len(user) :] = len(labels["user"]) - 1
    joined["cores"][0] = 128
    dirty = log.replace(joined, labels=labels)
    kept, removals = clean(dirty)
    assert [removal.what for removal in removals] == ["system tests", "flurry"]
    assert (removals[1].user, "flood" in removals[1].detail) == ("flood", False)
    assert removals[1].jobs == 12 * len(flood)
    assert len(kept) == len(log) - 1
    model = fit(dirty)
    assert model.source.removed[1]["jobs"] == 12 * len(flood)
    assert "flood" not in model.model_dump_json()
    untouched, none = clean(dirty, flurry=0, system_tests=False)
    assert (len(untouched), none) == (len(dirty), [])


def test_the_file_is_small_and_read_back(tmp_path):
    log = generate(200_000, 1024, 0.9, seed=1)
    model = fit(log)
    path = tmp_path / "model.json"
    write_model(model, path)
    assert path.stat().st_size < 400_000
    assert read_model(path) == model
    assert json.loads(path.read_text())["walltime_model"] == 1
    assert max(map(len, path.read_text().splitlines())) < 60_000


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: "nonsense", "not a model file"),
        (lambda data: data | {"walltime_model": 9}, "another version"),
        (lambda data: data | {"extra": 1}, "extra"),
        (lambda data: data | {"rates": {"jobs_per_day": -1, "core_hours_per_day": 1}}, "rates.jobs_per_day"),
        (lambda data: data | {"pool": data["pool"] | {"cores": []}}, "differ in length"),
        (
            lambda data: data | {"pool": data["pool"] | {"queue": [7] * len(data["pool"]["jobs"])}},
            "a queue has a number",
        ),
        (lambda data: data | {"others": data["others"] | {"sizes": []}}, "do not belong together"),
    ],
)
def test_a_wrong_file_is_told(tmp_path, change, words):
    path = tmp_path / "model.json"
    write_model(fit(small_log()), path)
    data = change(json.loads(path.read_text()))
    path.write_text(json.dumps(data))
    with pytest.raises(InputError, match=words):
        load_model(path)


def test_too_little_to_fit():
    with pytest.raises(InputError, match="two jobs"):
        fit(Workload.from_columns(submit=[5, 5], run_time=[1, 1]))


@pytest.mark.parametrize("bins", [None, "uniform", "middle", "low", "high"])
def test_independent_variables_as_in_scsf(bins):
    log = generate(5000, 256, 0.8, seed=4)
    model = FittedModel(fit(log), "independent", bins)
    sample = model.draw(20_000, 100 * DAY, 256, 1, "x")
    for name, width in (("cores", 1), ("requested_time", 60e6)):
        assert np.abs(np.quantile(sample.columns[name], 0.5) - np.quantile(log.column(name), 0.5)) <= width
    assert abs(np.corrcoef(sample.columns["cores"], sample.columns["run_time"])[0, 1]) < 0.03


def test_bins_are_for_independent_variables():
    model = fit(small_log())
    with pytest.raises(InputError, match="independent"):
        FittedModel(model, bins="low")
    with pytest.raises(InputError, match="unknown way to draw"):
        FittedModel(model, "independent", "edge").draw(10, DAY, 16, 1, "x")
    with pytest.raises(InputError, match="unknown structure"):
        FittedModel(model, "random")


def test_a_round_trip_at_three_seeds():
    """Generated, fitted again, generated again: every variable stays within a stated distance."""
    log = generate(8000, 256, 0.8, seed=5)
    model = fit(log)
    bounds = {"interarrival": 0.03, "cores": 0.02, "requested_time": 0.02, "run_time": 0.03, "accuracy": 0.03,
              "core_hours": 0.03}  # fmt: skip
    for seed in (1, 2, 3):
        once = generate_workload(model, cores=256, days=240, seed=seed, stabilization=0.0)
        twice = generate_workload(fit(once), cores=256, days=240, seed=seed + 10, stabilization=0.0)
        for jobs in (once, twice):
            found = compare_workloads(log, jobs)
            for name, bound in bounds.items():
                assert found.variable(name).ks < bound, (seed, name, found.variable(name).ks)
            assert found.rhythm["hour of the day"] < 0.07
            assert found.labels["user"] < 0.05
