"""Whatever happens to a sweep, in the end each run is there exactly once, none half-written, and the results are those
of a sweep that nothing happened to. `make soak` does a thousand faults."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from injecting import Disturbed, children, fill

from walltime.experiments.store import Store


@pytest.fixture
def sweeps(tmp_path):
    """A function that makes a sweep in a folder of its own, which is ended with the test."""
    made: list[Disturbed] = []

    def make(seed: int = 1, folder: Path = tmp_path, **options) -> Disturbed:
        made.append(Disturbed(folder, seed, **options))
        return made[-1]

    yield make
    for one in made:
        one.end()


@pytest.fixture
def small_disk(tmp_path):
    """A disk of two megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("no right to mount a small disk here")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What all results should be."""
    calm = Disturbed(tmp_path_factory.mktemp("calm"), 0, repetitions=3)
    calm.settle()
    return calm.results()


def wait_for(condition) -> None:
    while not condition():
        time.sleep(0.02)


def wait_for_some(sweep: Disturbed, state: str = "done", count: int = 1) -> None:
    wait_for(lambda: sweep.counts().get(state, 0) >= count or not sweep.live())


@pytest.mark.parametrize("fault", ["kill_worker", "kill_runner", "interrupt_runner"])
def test_a_fault_in_the_middle_of_a_sweep(sweeps, undisturbed, fault):
    sweep = sweeps(repetitions=3)
    sweep.start()
    wait_for_some(sweep)
    assert getattr(sweep, fault)()
    sweep.settle()
    assert sweep.results() == undisturbed


def test_two_runners_share_one_store_also_with_a_clock_that_jumps(sweeps, undisturbed):
    sweep = sweeps(repetitions=3, workers=1)
    sweep.start()
    sweep.start(jumping=True)
    sweep.settle()
    assert sweep.results() == undisturbed
    with sweep.store as store:
        assert set(store.table("disturbed")["attempts"]) == {1}


def test_the_workers_of_a_runner_that_was_killed_end_with_it(sweeps):
    sweep = sweeps(repetitions=3)
    sweep.start()
    wait_for(lambda: len(children(sweep.runners[0].pid)) == 2 or not sweep.live())
    workers = children(sweep.runners[0].pid)
    assert sweep.kill_runner()
    wait_for(lambda: not any(_lives(pid) for pid in workers))


def test_ctrl_c_gives_everything_back_and_says_nothing(sweeps):
    sweep = sweeps(jobs=20_000, repetitions=3)
    sweep.start()
    wait_for_some(sweep, "running", 2)
    runner = sweep.runners[0]
    runner.send_signal(signal.SIGINT)
    _, err = runner.communicate()
    assert (runner.returncode, err) == (130, "")
    counts = sweep.counts()
    assert (counts["running"], counts["failed"]) == (0, 0)
    sweep.runners.clear()


def test_a_full_disk_is_told_and_nothing_is_lost(sweeps, small_disk):
    sweep = sweeps(folder=small_disk, repetitions=3)
    sweep.start()
    wait_for_some(sweep)
    filler = small_disk / "filler"
    fill(filler)
    runner = sweep.runners[0]
    _, err = runner.communicate()
    sweep.runners.clear()
    assert runner.returncode == 2
    assert "disk is full" in err or "No space left" in err
    filler.unlink()
    sweep.settle()


def test_a_damaged_file_is_found_and_made_again(sweeps, undisturbed):
    sweep = sweeps(repetitions=3)
    sweep.settle()
    assert sweep.damage_a_file()
    assert sweep.counts()["waiting"] == 1
    sweep.settle()
    assert sweep.results() == undisturbed


def test_some_faults_at_random_moments(sweeps, undisturbed):
    sweep = sweeps(seed=int(os.environ.get("FAULTS_SEED", "7")), repetitions=3)
    sweep.disturb(8)
    sweep.settle()
    assert sweep.results() == undisturbed


def test_a_server_that_is_stopped_in_the_middle_and_started_again(sweeps, undisturbed, postgres):
    sweep = sweeps(repetitions=3, workers=1, place=postgres.new_database())
    sweep.start()
    wait_for_some(sweep)
    postgres.stop()
    time.sleep(2)
    postgres.start()
    sweep.settle()
    assert sweep.results() == undisturbed
    assert sweep.said == [""]  # the runner that was there waited for the server


def test_a_runner_on_a_server_that_is_killed_and_two_at_once(sweeps, undisturbed, postgres):
    sweep = sweeps(repetitions=3, workers=1, place=postgres.new_database())
    sweep.start()
    sweep.start(jumping=True)
    wait_for_some(sweep)
    assert sweep.kill_runner()
    sweep.settle()
    assert sweep.results() == undisturbed


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_store_that_was_made_half_is_made_whole(tmp_path):
    """A runner killed while it makes the tables leaves a file without them."""
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "store.sqlite").touch()
    with Store(tmp_path / "store", create=True) as store:
        assert store.experiments() == []
