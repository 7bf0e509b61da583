"""simulate, load and Result, as a notebook uses them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

import walltime
from walltime.api import Result, describe_policy
from walltime.core.tables import ALLOCATIONS, JOBS, Record


@pytest.fixture
def jobs():
    """On 4 cores: job 2 blocks, job 3 fits beside job 1 until then."""
    return walltime.Workload.from_columns(
        submit=[0, 1, 2],
        run_time=[10, 5, 4],
        requested_time=[10, 8, None],
        cores=[3, 4, 1],
        user=["ann", "bo", "ann"],
        name=["first", "", "third"],
    )


def waits(result):
    return result.jobs["wait"].to_list()


def test_policies_by_name(jobs):
    assert waits(walltime.simulate(jobs, cores=4)) == [0.0, 9.0, 0.0]
    assert waits(walltime.simulate(jobs, cores=4, policy="easy")) == [0.0, 9.0, 0.0]
    assert waits(walltime.simulate(jobs, cores=4, policy="fcfs")) == [0.0, 9.0, 13.0]
    with pytest.raises(walltime.InputError, match="did you mean 'easy'"):
        walltime.simulate(jobs, cores=4, policy="esy")


def start_what_fits(p):
    for slot in p.waiting():
        if p.fits(slot):
            p.start(slot)


def test_a_policy_written_in_python(jobs):
    result = walltime.simulate(jobs, cores=4, policy=start_what_fits)
    assert waits(result) == [0.0, 9.0, 0.0]
    assert result.label == "start_what_fits"
    assert result.audit() == []


def test_labels_name_the_policy(jobs):
    assert walltime.simulate(jobs, cores=4, policy="fcfs").label == "fcfs"
    assert walltime.simulate(jobs, cores=4).label == "easy"
    assert walltime.simulate(jobs, cores=4, label="mine").label == "mine"
    parts = {"order": "fcfs", "backfill": "aggressive", "rhythm": "event"}
    result = walltime.simulate(jobs, cores=4, policy=parts)
    assert result.label == "fcfs+aggressive"
    assert describe_policy(result.scenario) == "fcfs+aggressive"


def test_every_form_of_input_gives_the_same_result(jobs, tmp_path):
    from walltime.workload.formats import write

    write(jobs, tmp_path / "jobs.parquet")
    (tmp_path / "s.yaml").write_text("workload: jobs.parquet\ncluster: {cores: 4}\n")
    mapping = {"workload": {"table": jobs}, "cluster": {"cores": 4}}
    results = [
        walltime.simulate(jobs, cores=4),
        walltime.simulate(mapping),
        walltime.simulate(tmp_path / "jobs.parquet", cores=4),
        walltime.simulate(str(tmp_path / "jobs.parquet"), cores=4),
        walltime.simulate(tmp_path / "s.yaml"),
        walltime.simulate(walltime.simulate(mapping).scenario),
        walltime.simulate(tmp_path / "s.yaml", cores=4, policy="easy", seed=0, overrun="kill"),
    ]
    assert len({result.digest for result in results}) == 1


def test_what_is_given_replaces_what_the_scenario_says(jobs):
    mapping = {"workload": {"table": jobs}, "cluster": {"nodes": "9x9"}, "seed": 3}
    kept = walltime.simulate(mapping)
    assert (kept.scenario.seed, kept.record.facts["clusters"]) == (3, {"cluster": 81})
    changed = walltime.simulate(
        mapping, cores=4, seed=5, overrun="extend", missing_request="max", until=6, cluster__scheduler__backfill="none"
    )
    assert (changed.scenario.seed, changed.record.facts["clusters"]) == (5, {"cluster": 4})
    assert (changed.scenario.execution.overrun, changed.scenario.until) == ("extend", 6.0)
    assert changed.jobs["state"].to_list() == ["running", "waiting", "waiting"]
    assert changed.jobs["requested_time"][2] == 10.0
    assert changed.label == "fcfs"


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"cores": 4, "nodes": "2x2"}, "not both"),
        ({}, "size"),
        ({"cores": 0}, "at least 1"),
        ({"cores": 4, "overrun": "maybe"}, "kill"),
        ({"cores": 4, "missing_request": "guess"}, "exact"),
        ({"cores": 4, "until": "soon"}, "duration"),
        ({"cores": 4, "colour": "red"}, "unknown key"),
        ({"cores": 4, "engine": "other"}, "engine"),
    ],
)
def test_wrong_input_is_told(jobs, given, match):
    with pytest.raises(walltime.InputError, match=match):
        walltime.simulate(jobs, **given)


def test_what_is_not_a_workload(tmp_path):
    with pytest.raises(walltime.InputError, match="takes a Workload"):
        walltime.simulate(17, cores=4)
    with pytest.raises(walltime.InputError):
        walltime.simulate(tmp_path / "none.swf", cores=4)


def test_figures_and_tables(jobs):
    result = walltime.simulate(jobs, cores=4)
    assert result.summary["mean_wait"] == 3.0
    assert result.by("user")["jobs"].to_list() == [2, 1]
    assert set(result.series["series"].unique()) >= {"used_cores", "waiting_jobs"}
    assert result.audit(promise=True) == []
    assert result.perfect_estimates == "perfect estimates for 1 of 3 jobs"
    assert "3 jobs, mean wait 3.0 s" in repr(result)
    assert "perfect estimates" in repr(result)
    assert result.allocations["job_id"].to_list() == [1, 3, 2]
    fcfs = walltime.simulate(jobs, cores=4, policy="fcfs")
    table = walltime.compare([fcfs, result])
    assert table.columns[:3] == ["metric", "fcfs", "easy"]


def test_another_observation_window(jobs):
    result = walltime.simulate(jobs, cores=4)
    seen = result.observe(warmup=0, cooldown=0)
    assert (seen.summary["window"]["start"], seen.summary["window"]["end"]) == (0.0, 2.0)
    assert seen.summary["utilization_window"] == 0.75
    assert (seen.digest, seen.label) == (result.digest, result.label)


def test_html_is_escaped(jobs):
    shown = walltime.simulate(jobs, cores=4, label="<b>&")._repr_html_()
    assert "&lt;b&gt;&amp;" in shown
    assert "<b>" not in shown


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_saved_and_loaded(jobs, tmp_path, format):
    result = walltime.simulate(jobs, cores=4)
    folder = result.save(tmp_path / "out", format=format)
    found = walltime.load(folder)
    assert found.digest == result.digest
    assert found.summary == json.loads(json.dumps(result.summary))
    assert (found.label, found.scenario.clusters) == ("easy", result.scenario.clusters)
    assert found.series.equals(result.series)
    assert found.audit(promise=True) == []
    assert walltime.audit(found) == []
    assert found.provenance["durations"].keys() >= {"wall", "cpu"}
    with pytest.raises(walltime.InputError, match="force"):
        result.save(tmp_path / "out")
    result.save(tmp_path / "out", force=True)


def test_a_saved_scenario_runs_again_wherever_the_folder_goes(jobs, tmp_path):
    result = walltime.simulate(jobs, cores=4, policy="fcfs", seed=7)
    folder = result.save(tmp_path / "out")
    moved = folder.rename(tmp_path / "moved")
    again = walltime.simulate(moved / "scenario.yaml")
    assert again.digest == result.digest
    assert again.summary == result.summary
    assert again.jobs["name"].to_list() == result.jobs["name"].to_list()


def test_only_provenance_differs_between_runs(jobs, tmp_path):
    for name in ("one", "two"):
        walltime.simulate(jobs, cores=4).save(tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    same = [name for name in files if name != "provenance.json"]
    assert "workload.parquet" in same
    for name in same:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_the_series_can_be_left_out(jobs, tmp_path):
    folder = walltime.simulate(jobs, cores=4, record={"series": False}).save(tmp_path / "out")
    assert not (folder / "series.parquet").exists()
    assert walltime.load(folder).series.height > 0  # made when asked for


def test_an_observer_is_told():
    size = 20_000
    many = walltime.Workload(
        {
            "submit": np.arange(size) * 1_000_000,
            "run_time": np.full(size, 900_000),
            "requested_time": np.full(size, 10**6),
        }
    )

    class Watch:
        calls: ClassVar[list[tuple[int, int, int]]] = []

        def progress(self, now_us, submitted, ended):
            self.calls.append((now_us, submitted, ended))

    result = walltime.simulate(many, cores=1, observer=Watch())
    assert result.summary["completed"] == size
    assert all(ended <= submitted <= size for _, submitted, ended in Watch.calls)


def test_a_result_made_by_hand():
    record = Record(pl.DataFrame(schema=JOBS), pl.DataFrame(schema=ALLOCATIONS), {"clusters": {"cluster": 4}})
    result = Result(None, record, "nothing")
    assert "mean wait –" in repr(result)
    assert result.perfect_estimates is None
    assert result.series.is_empty()
    with pytest.raises(walltime.InputError, match="without a scenario"):
        result.save("never")


def test_names_are_imported_when_used():
    code = (
        "import sys, walltime; heavy = {'polars', 'pydantic', 'numpy', 'yaml'} & set(sys.modules); "
        "assert not heavy, heavy; "
        "[getattr(walltime, name) for name in walltime.__all__]; "
        "assert set(dir(walltime)) >= set(walltime.__all__)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="nonsense"):
        walltime.nonsense  # noqa: B018
    assert isinstance(walltime.__version__, str)
