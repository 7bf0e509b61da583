"""A sweep on a Dask cluster whose workers and scheduler are killed: each run is there exactly once, as if nothing had
happened."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import time

import pytest
from dask_processes import DaskProcesses
from injecting import Disturbed

from walltime.experiments.store import Store

pytest.importorskip("distributed", reason="no dask.distributed (make test-services installs it)")
pytestmark = pytest.mark.service
SEED = int(os.environ.get("FAULTS_SEED", "7"))


@pytest.fixture
def clusters(tmp_path_factory):
    """A function that starts a Dask cluster, which is ended with the test."""
    made: list[DaskProcesses] = []

    def make(**options) -> DaskProcesses:
        made.append(DaskProcesses(tmp_path_factory.mktemp("dask"), **options))
        return made[-1]

    yield make
    for one in made:
        one.end()


@pytest.fixture
def sweeps(tmp_path):
    """A function that makes a sweep on a Dask cluster, which is ended with the test."""
    made: list[Disturbed] = []

    def make(cluster: DaskProcesses, **options) -> Disturbed:
        made.append(Disturbed(tmp_path, SEED, cluster=cluster, **options))
        return made[-1]

    yield make
    for one in made:
        one.end()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What all results should be: those of processes of this machine."""
    calm = Disturbed(tmp_path_factory.mktemp("calm"), 0, repetitions=3)
    calm.settle()
    return calm.results()


def require_hiding(folder) -> None:
    tried = ["unshare", "-m", "mount", "-t", "tmpfs", "none", folder]
    if subprocess.run(tried, capture_output=True, check=False).returncode:
        pytest.skip("no right to hide a folder from a process here")


def wait_for_some(sweep: Disturbed, count: int = 1) -> None:
    while sweep.counts().get("done", 0) < count and sweep.live():
        time.sleep(0.05)


def test_workers_and_the_scheduler_are_killed_at_random_moments(clusters, sweeps, tmp_path_factory):
    cluster, chance = clusters(), random.Random(SEED)
    sweep = sweeps(cluster, repetitions=10)  # long enough to be disturbed
    sweep.start()
    wait_for_some(sweep)
    hit = []
    for fault in ("worker", "scheduler", "worker", "worker", "scheduler"):
        time.sleep(chance.uniform(0.1, 0.6))
        hit.append(bool(sweep.live()))
        cluster.kill_worker(chance) if fault == "worker" else cluster.kill_scheduler()
    sweep.settle()
    calm = Disturbed(tmp_path_factory.mktemp("calm"), 0, repetitions=10)
    calm.settle()
    assert sweep.results() == calm.results()
    assert hit[:3] == [True] * 3  # the sweep was going on
    assert sweep.said == [""]  # the runner that was there saw it to its end, and had nothing to complain of


def test_a_result_that_is_lost_while_it_is_fetched_is_made_again(clusters, sweeps, undisturbed, monkeypatch):
    """The future was finished when it was looked at, and is cancelled when its result is asked for."""
    from distributed import Client

    import walltime

    fetch, lost = Client.gather, []

    def lose_the_first(client, futures, **options):
        if not lost:
            lost.extend(futures)
            client.cancel(list(futures.values()))
        return fetch(client, futures, **options)

    monkeypatch.setattr(Client, "gather", lose_the_first)
    sweep = sweeps(clusters(), repetitions=3)
    with Store(sweep.place, results=sweep.folder / "results", create=True) as store:
        walltime.sweep(sweep.folder / "e.yaml", store, dask=sweep.cluster.address)
    assert lost
    assert sweep.results() == undisturbed


@pytest.mark.parametrize("error", [OSError("the connection is closed"), asyncio.CancelledError(), NameError("result")])
def test_errors_of_a_client_that_has_connected_again_are_lost_answers(
    clusters, sweeps, undisturbed, monkeypatch, error
):
    """The scheduler was away while the client asked, and is back when the error comes."""
    from distributed import Client

    import walltime

    met = []

    def stumble(name):
        ask = getattr(Client, name)

        def asked(client, *arguments, **options):
            if met.count(name) < 3:
                met.append(name)
                raise error
            return ask(client, *arguments, **options)

        monkeypatch.setattr(Client, name, asked)

    names = ("submit", "gather", "nthreads", "processing")
    for name in names:
        stumble(name)
    sweep = sweeps(clusters(), repetitions=3)
    with Store(sweep.place, results=sweep.folder / "results", create=True) as store:
        walltime.sweep(sweep.folder / "e.yaml", store, dask=sweep.cluster.address)
    assert {name for name in names if name in met} == set(names)
    assert sweep.results() == undisturbed


def test_an_error_that_comes_each_time_is_told(clusters, sweeps, monkeypatch):
    from distributed import Client

    import walltime

    def refuse(client, *arguments, **options):
        raise ZeroDivisionError("each time")

    monkeypatch.setattr(Client, "gather", refuse)
    sweep = sweeps(clusters(), repetitions=3)
    with (
        Store(sweep.place, results=sweep.folder / "results", create=True) as store,
        pytest.raises(ZeroDivisionError, match="each time"),
    ):
        walltime.sweep(sweep.folder / "e.yaml", store, dask=sweep.cluster.address)


SPEAKING = """
import logging
from walltime.experiments.distributed.cluster import DaskCluster
DaskCluster("tcp://127.0.0.1:1", 1)
from distributed.comm.core import CommClosedError
for name in ("distributed.batched", "distributed.client", "asyncio"):
    logging.getLogger(name).error("of %s", name, exc_info=CommClosedError())
logging.getLogger("asyncio").error("of another", exc_info=ValueError("own"))
"""


def test_dask_writes_nothing_of_lost_connections():
    """Whichever moment it finds out at: its own lines are kept back, those of others are not."""
    said = subprocess.run([sys.executable, "-c", SPEAKING], capture_output=True, text=True, check=True).stderr
    assert said.splitlines() == ["of another", "ValueError: own"]


def test_a_runner_that_is_killed_leaves_nothing_running(clusters, sweeps, undisturbed):
    cluster = clusters()
    sweep = sweeps(cluster, repetitions=3)
    sweep.start()
    wait_for_some(sweep)
    assert sweep.kill_runner()
    sweep.settle()
    assert sweep.results() == undisturbed


def test_two_runners_share_one_cluster_and_one_store(clusters, sweeps, undisturbed):
    sweep = sweeps(clusters(), repetitions=3)
    sweep.start()
    sweep.start()
    sweep.settle()
    assert sweep.results() == undisturbed


def test_results_travel_through_the_runner_where_workers_see_no_file_of_it(clusters, sweeps, undisturbed, tmp_path):
    require_hiding(tmp_path)
    sweep = sweeps(clusters(hidden=tmp_path), repetitions=3)
    sweep.settle()
    assert sweep.results() == undisturbed
    with sweep.store as store:
        assert len(list(store.results.folder.glob("??/*/by_size.parquet"))) == sweep.total


def test_a_worker_without_the_files_of_the_runner_refuses(clusters, tmp_path, monkeypatch):
    """The trace is on the runner's disk alone: no run is made of anything else, and the error says what is missing."""
    import walltime
    from walltime.experiments import runner

    monkeypatch.setattr(runner, "ATTEMPTS", 1)
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "trace.csv").write_text("job_id,submit,run_time,cores\n1,0,10,1\n", encoding="utf-8")
    require_hiding(hidden)
    cluster = clusters(size=1, hidden=hidden)
    experiment = {"name": "e", "scenario": {"workload": {"trace": str(hidden / "trace.csv")}, "cluster": {"cores": 8}}}
    progress = walltime.sweep(experiment, tmp_path / "store", dask=cluster.address)
    assert progress.counts["failed"] == 1
    with Store(tmp_path / "store") as store:
        row = store.table("e").to_dicts()[0]
    assert "no such file" in row["error"]
