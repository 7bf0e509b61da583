"""Which Dask cluster `--dask` means, and what is told where there is none."""

from __future__ import annotations

import sys

import pytest
from typer.testing import CliRunner

from walltime.cli.app import app
from walltime.core.errors import InputError
from walltime.experiments.distributed.cluster import DaskCluster, make_job_cluster
from walltime.experiments.distributed.task import find_refusal
from walltime.experiments.planning import ExperimentPlan
from walltime.experiments.sweep import read_experiment
from walltime.experiments.tasks import Task

EXPERIMENT = """\
scenario:
  workload: {generate: {jobs: 30, cores: 8, load: 0.9}}
  cluster: {cores: 8}
grid: {policy: [fcfs, easy]}
repetitions: 2
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "e.yaml"
    path.write_text(EXPERIMENT, encoding="utf-8")
    return path


@pytest.mark.service
@pytest.mark.parametrize(("missing", "place"), [("distributed", "tcp://127.0.0.1:1"), ("dask_jobqueue", "slurm")])
def test_a_missing_extra_is_named_with_the_line_that_installs_it(file, tmp_path, monkeypatch, missing, place):
    if missing != "distributed":
        pytest.importorskip("distributed")
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(InputError, match=r"pip install 'walltime\[distributed\]'"):
        CliRunner().invoke(
            app, ["sweep", str(file), "--store", str(tmp_path / "s"), "--dask", place], catch_exceptions=False
        )
    assert not (tmp_path / "s").exists()


@pytest.mark.service
def test_a_kind_that_there_is_not_is_told_with_the_kinds():
    pytest.importorskip("distributed")
    with pytest.raises(InputError, match="local, slurm, pbs"):
        DaskCluster("lsf", None)


@pytest.mark.service
def test_a_scheduler_that_does_not_answer_is_told_before_a_store_is_made(file, tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("walltime.experiments.distributed.cluster.CONNECT", 0.5)
    arguments = ["sweep", str(file), "--store", str(tmp_path / "s"), "--dask", "tcp://127.0.0.1:1"]
    with pytest.raises(InputError, match="no Dask scheduler answers here"):
        CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert not (tmp_path / "s").exists()


def _first_task(experiment: str, **changed) -> Task:
    import yaml

    planned = next(ExperimentPlan(read_experiment({"name": "e", **yaml.safe_load(experiment)})).specifications())
    seed, digest = planned.runs[0]
    given = {"run": 1, "digest": digest, "fence": 1, "attempt": 1, "seed": seed}
    return Task(specification=planned.specification, **given | changed)


def test_a_worker_takes_a_task_that_is_the_same_run_there_and_refuses_another():
    assert find_refusal(_first_task(EXPERIMENT)) is None
    assert "not the runner's" in find_refusal(_first_task(EXPERIMENT, digest="0" * 64))


@pytest.mark.service
@pytest.mark.parametrize(
    ("kind", "lines"),
    [("slurm", ["#SBATCH --cpus-per-task=1", "#SBATCH --mem=2G"]), ("pbs", ["#PBS -l select=1:ncpus=1:mem=1908MB"])],
)
def test_a_job_is_one_worker_on_one_core_where_dask_is_told_nothing_else(kind, lines):
    pytest.importorskip("dask_jobqueue")
    cluster = make_job_cluster(kind)
    try:
        script = cluster.job_script()
    finally:
        cluster.close()
    for line in [*lines, "--nthreads 1", sys.executable]:
        assert line in script, script


@pytest.mark.service
def test_what_dask_is_told_of_jobs_holds(monkeypatch):
    dask = pytest.importorskip("dask")
    pytest.importorskip("dask_jobqueue")
    with dask.config.set({"jobqueue.slurm.cores": 4, "jobqueue.slurm.memory": "9 GiB", "jobqueue.slurm.account": "me"}):
        cluster = make_job_cluster("slurm")
        try:
            script = cluster.job_script()
        finally:
            cluster.close()
    for text in ("--cpus-per-task=4", "--mem=9G", "-A me", "--nworkers 4", "--nthreads 1"):
        assert text in script, script
