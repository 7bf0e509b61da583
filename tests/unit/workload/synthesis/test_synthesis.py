"""Generated workloads: phases, pressure, fill, insertions, the same for the same seed."""

import datetime
import sys

import numpy as np
import pytest

import walltime
from walltime.core import plugins
from walltime.core.errors import InputError
from walltime.core.random import read_seed
from walltime.core.time import SECOND
from walltime.workload.formats import read, write
from walltime.workload.generate import generate
from walltime.workload.models import load_model
from walltime.workload.models.fit import fit
from walltime.workload.synthesis import SynthesisPlan, generate_workload, synthesize
from walltime.workload.synthesis.fill import fill_jobs
from walltime.workload.synthesis.insertion import AlarmTrigger, Insertion, PeriodicTrigger, RandomTrigger, Realarm
from walltime.workload.synthesis.insertion_file import load_insertions
from walltime.workload.synthesis.load_control import expected_time, hold, press, settle
from walltime.workload.synthesis.workflow_mix import Mix
from walltime.workload.workflow import Task, Workflow

DAY = 86_400.0


@pytest.fixture(scope="module")
def model():
    return fit(generate(6000, 256, 0.8, seed=9))


def make(model, **changes):
    return generate_workload(model, **{"cores": 256, "days": 14, "load": 0.8, "seed": 3} | changes)


def test_phases_are_kept(model, tmp_path):
    jobs = make(model, fill=24.0, drain=3600.0)
    phases = jobs.notes["phases"]
    assert list(phases) == ["fill", "stabilization", "experiment", "drain"]
    assert [end - begin for begin, end in phases.values()][1:] == [DAY, 14 * DAY, 3600]
    submit = jobs.column("submit") / SECOND
    for code, name in enumerate(jobs.label_names("phase")):
        begin, end = phases[name]
        inside = submit[jobs.column("phase") == code]
        assert len(inside)
        assert begin <= inside.min()
        assert inside.max() <= end
    write(jobs, tmp_path / "jobs.parquet")
    again = read(tmp_path / "jobs.parquet")
    assert again.to_polars().equals(jobs.to_polars())


def test_analysis_uses_the_experiment_alone(model):
    jobs = make(model, fill=4.0, days=7)
    result = walltime.simulate(jobs, cores=256, policy="easy")
    table = result.jobs
    waits = table.filter((table["phase"].cast(str) == "experiment") & table["wait"].is_not_null())["wait"]
    assert result.summary["mean_wait"] == pytest.approx(waits.mean())
    assert result.summary["means_over"] == "started jobs of the experiment phase"
    assert result.summary["started"] == table["start"].is_not_null().sum()
    begin, end = jobs.notes["phases"]["experiment"]
    assert begin <= result.summary["window"]["start"] < result.summary["window"]["end"] <= end


def test_same_seed_same_jobs_other_seed_same_statistics(model):
    one, again, other = make(model, days=150), make(model, days=150), make(model, days=150, seed=4)
    assert one.to_polars().equals(again.to_polars())
    assert not np.array_equal(one.column("run_time"), other.column("run_time"))
    found = walltime.compare_workloads(one, other)
    assert all(variable.ks < 0.08 for variable in found.variables), [(v.name, v.ks) for v in found.variables]


def test_without_a_load_the_model_has_its_own(model):
    jobs = make(model, load=None, days=40)
    assert len(jobs) / 41 == pytest.approx(model.rates.jobs_per_day, rel=0.02)
    assert (jobs.notes["added"], jobs.notes["dropped"]) == (0, 0)


def test_no_job_is_larger_than_the_machine(model):
    assert make(model, cores=8, days=3).column("cores").max() <= 8


def test_fill_jobs_are_small_and_end_one_after_another():
    fill = fill_jobs(4.0, 1000, 10.0)
    work = fill.work().sum() / SECOND / 3600 / 1000
    assert work == pytest.approx(4.0, rel=0.001)
    assert fill.columns["cores"].max() == 10
    assert np.all(np.diff(fill.columns["submit"]) == 10 * SECOND)
    ends = fill.columns["submit"][:100] + fill.columns["run_time"][:100]
    assert len(np.unique(ends)) >= 98
    assert len(fill_jobs(0.0, 1000, 10.0)) == 0
    whole = fill_jobs(4.0, 1000, 10.0, node=4)
    assert whole.columns["cores"].max() == 8
    assert whole.work().sum() / SECOND / 3600 / 1000 == pytest.approx(4.0, rel=0.001)


def test_the_band_adds_and_drops():
    expected = np.arange(1, 2001) * 600.0
    thin, thick = np.full(2000, 100 * 300.0), np.full(2000, 100 * 1200.0)
    for work in (thin, thick):
        held = hold(expected, work, np.full(5000, 30_000.0), 1.0, 100, 0.05)
        total = work[held.kept].sum() + 30_000 * len(held.added)
        assert total / (100 * expected[-1]) == pytest.approx(1.0, abs=0.08)
    assert len(hold(expected, thin, np.full(5000, 30_000.0), 1.0, 100, 0.05).added) > 0
    assert len(hold(expected, thick, np.full(5000, 30_000.0), 1.0, 100, 0.05).kept) < 1200


def pressures(jobs, cores):
    """For each instant of submission: P before it, P after it, both without the fill; and its time."""
    ordinary = jobs.column("phase") > 0
    begin = jobs.notes["phases"]["stabilization"][0]
    submit = jobs.column("submit")[ordinary] / SECOND - begin
    work = (jobs.column("cores") * jobs.column("run_time"))[ordinary] / SECOND
    times, first = np.unique(submit, return_index=True)
    after = np.add.accumulate(np.add.reduceat(work, first))
    before = np.concatenate([[0.0], after[:-1]])
    late = times > 0
    return (before / (times * cores))[late], (after / (times * cores))[late], times[late]


@pytest.mark.parametrize("band", [(1.0, 1.1), (1.0, 1.002), (0.9, 0.9), (1.3, 1.5)])
@pytest.mark.parametrize("name", ["lublin", "fitted"])
def test_the_pressure_after_each_instant(model, band, name):
    source = model if name == "fitted" else name
    jobs = generate_workload(source, cores=512, days=3, pressure=band, seed="pressure", fill=3.0, stabilization=DAY / 2)
    before, after, _ = pressures(jobs, 512)
    assert after.min() >= band[0]
    assert before.max() < band[1]
    assert jobs.notes["added"] > 0
    assert jobs.notes["dropped"] > 0
    assert jobs.notes["pressure"]["lowest"] >= band[0]


def test_the_rule_of_pressure_by_hand():
    times, work = np.array([0.0, 10.0, 20.0, 30.0, 100.0]), np.array([50.0, 20.0, 500.0, 1.0, 1.0])
    held = press(times, work, lambda count: 40.0 + np.arange(count + 3), 10, 1.0, 1.1)
    # 0: taken. 10: P = 50/100, taken, and 40 added make 110. 20: P = 110/200, taken: 610/200. 30: 610/300, dropped.
    # 100: P = 0.61, taken; 41 + 42 + ... until 1000.
    assert held.kept.tolist() == [0, 1, 2, 4]
    assert held.added_at.tolist() == [1] + [4] * 9
    assert held.added.tolist() == list(range(10))


def test_what_is_inserted_changes_no_other_job(model):
    plan = {"load": None, "pressure": (1.0, 1.05), "fill": 2.0, "days": 3}
    flow = Workflow.of("two", [Task("a", cores=8, run_time=600), Task("b", cores=2, run_time=60, needs=("a",))])
    probe = Insertion(PeriodicTrigger(3600.0), [{"cores": 1, "run_time": 60, "user": "probe"}])
    base = make(model, **plan)
    for insertions in ((probe,), (Mix([flow], "multi", every=7200.0),), (probe, Mix([flow], "single", every=7200.0))):
        cell = make(model, **plan, insertions=insertions)
        assert len(cell) > len(base)
        kept = cell.select(cell.column("job_id") <= len(base))
        for name in ("job_id", "submit", "cores", "run_time", "requested_time", "user", "phase"):
            order = np.argsort(kept.column("job_id"))
            first = np.argsort(base.column("job_id"))
            assert kept.column(name)[order].tolist() == base.column(name)[first].tolist(), name
    share = make(model, **plan, insertions=(Mix([flow], "multi", share=0.2),))
    same = np.isin(share.column("job_id"), base.column("job_id"))
    assert 0 < np.count_nonzero(same) < len(base)
    by_id = dict(zip(base.column("job_id").tolist(), base.column("run_time").tolist(), strict=True))
    assert all(by_id[job] == run for job, run in zip(share.column("job_id")[same].tolist(),
                                                     share.column("run_time")[same].tolist(), strict=True))  # fmt: skip


def test_a_run_ends_with_the_drain(model):
    plan = {"load": None, "pressure": (1.0, 1.1), "fill": 6.0, "days": 1}
    jobs = make(model, **plan, drain=7200.0)
    end = jobs.notes["phases"]["drain"][1]
    assert end == jobs.notes["phases"]["experiment"][1] + 7200
    result = walltime.simulate(jobs, cores=256, policy="easy")
    assert result.scenario.until == end
    assert result.jobs["end"].max() <= end
    assert set(result.jobs["state"].cast(str)) > {"completed"}  # some are cut off
    assert result.audit() == []
    assert walltime.simulate(jobs, cores=256, policy="easy", until=end - 3600).scenario.until == end - 3600
    assert walltime.simulate(make(model, **plan), cores=256, policy="easy").scenario.until is None


def test_a_start_date_moves_the_week(model):
    plain = make(model, days=21)
    dated = make(model, days=21, start="2024-03-07T12:00:00", fill=2.0)  # a Thursday
    zero = dated.origin.epoch
    begin = dated.notes["phases"]["experiment"][0]
    assert datetime.datetime.fromtimestamp(zero + begin, datetime.UTC).isoformat() == "2024-03-07T12:00:00+00:00"
    assert datetime.datetime.fromtimestamp(plain.origin.epoch, datetime.UTC).weekday() == 0

    def by_hour_of_week(jobs):
        ordinary = jobs.column("phase") > 0
        seconds = jobs.origin.epoch + jobs.column("submit")[ordinary] / SECOND
        hour = ((seconds // 3600 + 3 * 24) % 168).astype(int)  # 1970 began on a Thursday
        return np.bincount(hour // 6, minlength=28)

    assert np.corrcoef(by_hour_of_week(plain), by_hour_of_week(dated))[0, 1] > 0.6
    assert dated.notes["offered_load"]["experiment"] == pytest.approx(0.8, abs=0.02)


def test_a_seed_may_be_a_text(model):
    assert make(model, seed="edison").to_polars().equals(make(model, seed="edison").to_polars())
    assert not make(model, seed="edison").to_polars().equals(make(model, seed="hopper").to_polars())
    assert make(model, seed="12").to_polars().equals(make(model, seed=12).to_polars())
    assert read_seed("edison") == read_seed("edison") != read_seed("Edison")
    scenario = {"workload": {"generate": {"jobs": 20, "cores": 8}}, "cluster": {"cores": 8}, "seed": "edison"}
    assert walltime.simulate(scenario).scenario.seed == read_seed("edison")


def test_the_clock_of_the_rhythm_agrees_at_the_edges():
    hours = np.tile([0.1] * 12 + [1.9] * 12, 3)
    clock = expected_time(np.array([0.0, 43_200, DAY, 2 * DAY, 3 * DAY]), hours, [0.0, DAY, 3 * DAY])
    assert clock.tolist() == pytest.approx([0, 0.05 * DAY, DAY, 2 * DAY, 3 * DAY])


def test_settling_hits_the_target():
    random = np.random.default_rng(1)
    work = random.exponential(100.0, 1000)
    for target in (0.7 * work.sum(), 1.3 * work.sum()):
        drop, add = settle(work, target, random.exponential(100.0, 2000), np.random.default_rng(3))
        assert len(drop) == 0 or len(add) == 0
        if len(drop):
            assert np.delete(work, drop).sum() == pytest.approx(target, rel=0.006)
    drop, add = settle(np.array([100.0]), 60.0, np.array([25.0, 200.0, 35.0]), np.random.default_rng(1))
    assert (drop.tolist(), sorted(add.tolist())) == ([0], [0, 2])


def test_triggers():
    random = np.random.default_rng(1)
    assert list(PeriodicTrigger(10.0, first=5.0).times(100, 130, random)) == [105, 115, 125]
    assert list(AlarmTrigger([1.0, 7.0]).times(100, 130, random)) == [101, 107]
    assert list(Realarm(2.0, [5.0, 10.0]).times(0, 40, random)) == [2, 7, 17, 27, 37]
    stops = Realarm(1.0, lambda now, fired, random: None if fired == 3 else now)
    assert list(stops.times(0, 100, random)) == [1, 2, 4]
    times = list(RandomTrigger(10.0).times(0, 10_000, random))
    assert len(times) == pytest.approx(1000, abs=130)
    assert times == sorted(times)


def test_inserted_jobs(model):
    jobs = [{"cores": 3, "run_time": 60, "user": "probe"}, {"cores": 5, "run_time": "2m", "requested_time": 180}]
    turn = Insertion(PeriodicTrigger(3600.0), jobs, name="turn")
    choice = Insertion(PeriodicTrigger(60.0), jobs, "weighted", [3.0, 1.0], "choice")
    made = make(model, days=2, insertions=(turn,))
    mine = made.select(np.isin(made.column("cores"), [3, 5]) & (made.column("run_time") % (60 * SECOND) == 0))
    begin, end = made.notes["phases"]["experiment"]
    probes = mine.select(mine.column("user") == mine.label_names("user").index("probe"))
    assert made.notes["inserted"] == 48
    assert len(probes) == 24
    assert (probes.column("submit") / SECOND).tolist() == [begin + 7200.0 * i for i in range(24)]
    rows = choice.rows(0.0, 2 * DAY, 1)
    assert np.mean([row["cores"] == 3 for row in rows]) == pytest.approx(0.75, abs=0.03)
    assert rows == choice.rows(0.0, 2 * DAY, 1)
    assert end == begin + 2 * DAY


INSERTIONS = """
- name: probes
  trigger: {kind: periodic, every: 1h}
  jobs: [{cores: 2, run_time: 5m, requested_time: 10m, user: probe}]
- trigger: {kind: random, mean: 2h}
  choose: weighted
  jobs:
    - {cores: 4, run_time: 1h, weight: 0.4}
    - {weight: 0.6, together: [{cores: 1, run_time: 60}, {cores: 8, run_time: 60, delay: 90}]}
- trigger: my_trigger:at_noon
  jobs: [{cores: 1, run_time: 1}]
"""


def test_a_file_of_insertions(model, tmp_path, monkeypatch):
    (tmp_path / "insert.yaml").write_text(INSERTIONS)
    (tmp_path / "my_trigger.py").write_text("def at_noon(start, end, random):\n    return [start + 43200]\n")
    with pytest.raises(InputError, match="--plugins"):
        load_insertions(tmp_path / "insert.yaml")
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr(plugins, "_allowed", plugins._Allowed())
    plugins.allow_plugins(tmp_path)
    insertions = tuple(load_insertions(tmp_path / "insert.yaml"))
    assert [insertion.name for insertion in insertions] == ["probes", "inserted2", "inserted3"]
    made = make(model, days=1, insertions=insertions)
    assert made.notes["inserted"] >= 25
    noon = insertions[2].rows(DAY, 2 * DAY, 0)
    assert [row["submit"] for row in noon] == [1.5 * DAY]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- {trigger: {kind: periodic, evry: 1h}, jobs: [{cores: 1, run_time: 1}]}", "evry"),
        ("- {trigger: {kind: hourly}, jobs: [{cores: 1, run_time: 1}]}", "unknown trigger"),
        ("- {trigger: {kind: random, mean: 1h}, jobs: [{cores: 0, run_time: 1}]}", "needs cores"),
        ("- {trigger: {kind: random, mean: 1h}, jobs: [{cors: 1, run_time: 1}]}", "did you mean 'cores'"),
        ("- {trigger: no_such_module:x, jobs: [{cores: 1, run_time: 1}]}", "a file alone imports no code"),
        ("- {trigger: {kind: alarm}, jobs: [{cores: 1, run_time: 1}]}", "needs: 'at'"),
        ("trigger: random", "a list"),
        ("- [1", "not valid YAML"),
    ],
)
def test_wrong_insertions_are_told(tmp_path, text, words):
    (tmp_path / "insert.yaml").write_text(text)
    with pytest.raises(InputError, match=words):
        load_insertions(tmp_path / "insert.yaml")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cores": 0}, "cores"),
        ({"days": 0}, "days"),
        ({"load": -1}, "load"),
        ({"band": 0}, "band"),
        ({"fill": -1.0}, "fill"),
        ({"pressure": (1.0, 1.1)}, "either a load or a pressure"),
        ({"load": None, "pressure": (1.1, 1.0)}, "pressure must be"),
        ({"node_cores": 0}, "node_cores"),
        ({"start": "next week"}, "not a date"),
        ({"seed": "-4"}, "seed"),
        ({"estimates": "guess"}, "estimates"),
        ({"largest_estimate": 7200.0}, "for estimates tsafrir"),
        ({"lod": 0.9}, "did you mean 'load'"),
        ({"load": 100, "days": 36_600, "cores": 10**9}, "more than"),
        (
            {"insertions": (Insertion(PeriodicTrigger(3600.0), [{"cores": 999, "run_time": 1}]),)},
            "larger than the machine",
        ),
    ],
)
def test_wrong_plans_are_told(model, changes, words):
    with pytest.raises(InputError, match=words):
        make(model, **changes)


def test_published_models_get_requests():
    jobs = generate_workload("lublin", cores=128, days=5, load=0.7, seed=1)
    assert np.all(jobs.column("requested_time") >= jobs.column("run_time"))
    bare = generate_workload("lublin", cores=128, days=5, load=0.7, seed=1, estimates="none")
    assert not bare.has("requested_time")
    with pytest.raises(InputError, match="did you mean 'lublin'"):
        generate_workload("lubln", cores=128, days=5)


def test_a_model_of_ones_own():
    """Whoever has title, jobs_per_day, clock and draw is a model."""
    from walltime.workload.models.sample import Sample

    class Metronome:
        title = "a metronome"
        jobs_per_day = 1440.0

        def clock(self, days):
            return np.ones(days * 24)

        def draw(self, jobs, span, cores, seed, name):
            submit = np.rint(np.linspace(0, span, jobs, endpoint=False)).astype(np.int64) * SECOND
            return Sample({"submit": submit, "cores": np.ones(jobs, np.int64),
                           "run_time": np.full(jobs, 60 * SECOND)})  # fmt: skip

    jobs = synthesize(Metronome(), SynthesisPlan(cores=4, days=1, stabilization=0.0))
    assert len(jobs) == 1440
    assert load_model("lublin").title
