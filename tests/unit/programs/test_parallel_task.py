"""Tasks whose computations and transfers progress together: by hand, alone and beside others."""

import pytest
from machine import Runner, make_platform, run

from walltime.cluster.network import Constant, Link, Star
from walltime.cluster.storage import Component
from walltime.core.errors import InputError
from walltime.programs.profiles import read_profiles
from walltime.programs.steps import External, ParallelTask, SourceTarget

TWO = ((0, 1), (1, 1))
FILE = """{"nb_res": 2, "jobs": [], "profiles": {
  "twice": {"type": "SequentialCompositionProfile", "repeat": 2, "seq": ["task", "wait"]},
  "task": {"type": "parallel", "cpu": [1e9, 0], "com": [0, 300, 0, 0]},
  "wait": {"type": "delay", "delay": 2.5},
  "each": {"type": "ParallelTaskHomogeneousProfile", "cpu": 2e9, "com": 100},
  "total": {"type": "parallel_homogeneous_total", "cpu": 2e9, "com": 800},
  "returns": {"type": "DelayProfile", "delay": 1, "ret": 3}
}}"""


@pytest.mark.parametrize(
    ("task", "seconds"),
    [
        (ParallelTask([1e9, 4e9]), 4),  # the slowest computation
        (ParallelTask([1e9, 0], [[0, 300], [0, 0]]), 3),  # the link, at 100 bytes a second
        (ParallelTask([5e9, 0], [[0, 300], [0, 0]]), 5),  # the processor
        (ParallelTask(matrix=[[0, 300], [200, 0]]), 3),  # both directions at once
        (ParallelTask(2e9, size=100), 2),
        (ParallelTask(2e9, size=800, total=True), 4),  # 1e9 on each, 400 bytes each way
        (ParallelTask(), 0),
        (ParallelTask([0, 0], [[0, 0], [0, 0]]), 0),
    ],
)
def test_it_takes_as_long_as_the_resource_that_it_uses_most(task, seconds):
    assert run(task, TWO) == pytest.approx(seconds)


def test_latency_comes_first_and_a_route_without_contention_bounds_it():
    network = Constant(2, Link(50.0, 0.5))
    assert run(ParallelTask([1e9, 0], [[0, 100], [0, 0]]), TWO, make_platform(2, network=network)) == pytest.approx(2.5)


def test_on_its_busiest_link_it_has_the_share_of_a_transfer():
    runner = Runner(make_platform(2, network=Star(2, Link(100.0))))
    runner.add("task", ParallelTask([1e9, 0], [[0, 300], [0, 0]]), TWO)
    runner.add("flow", SourceTarget([0], [1], 200), TWO)
    runner.run()
    assert runner.ends["flow"] == pytest.approx(4)  # half of the link
    assert runner.ends["task"] == pytest.approx(5)  # 200 of 300 bytes by then, and all of the link after


def test_a_computation_that_is_slower_than_the_link_leaves_the_rest_of_it_to_others():
    runner = Runner(make_platform(2, network=Star(2, Link(100.0))))
    runner.add("task", ParallelTask([10e9, 0], [[0, 100], [0, 0]]), TWO)  # 10 bytes a second
    runner.add("flow", SourceTarget([0], [1], 180), TWO)
    runner.run()
    assert (runner.ends["task"], runner.ends["flow"]) == (pytest.approx(10), pytest.approx(2))


def test_it_goes_on_where_it_was_after_a_pause():
    runner = Runner(make_platform(2, network=Star(2, Link(100.0))))
    program = runner.add("task", ParallelTask([1e9, 0], [[0, 300], [0, 0]]), TWO)
    runner.run(1)
    program.pause()
    runner.run(5)
    program.go_on()
    runner.run()
    assert runner.ends["task"] == pytest.approx(7)


def test_profiles_of_batsim_may_name_what_stands_after_them(tmp_path):
    (tmp_path / "w.json").write_text(FILE, encoding="utf-8")
    profiles = read_profiles(tmp_path / "w.json")
    expected = {"twice": 11, "task": 3, "wait": 2.5, "each": 2, "total": 4}
    assert {name: run(profiles.find(name), TWO) for name in expected} == pytest.approx(expected)


def test_a_program_that_returns_a_code_has_failed_with_its_line(tmp_path):
    (tmp_path / "w.json").write_text(FILE, encoding="utf-8")
    runner = Runner()
    runner.add(7, read_profiles(tmp_path / "w.json").find("returns"))
    runner.run()
    assert runner.ends == {7: 1.0}
    assert "w.json:7: job 7" in runner.errors[7]
    assert "the program returned 3" in runner.errors[7]


def test_a_sequence_that_is_part_of_itself_is_told_with_its_line(tmp_path):
    text = FILE.replace('["task", "wait"]', '["wait", "twice"]')
    (tmp_path / "w.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="part of itself") as caught:
        read_profiles(tmp_path / "w.json")
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (ParallelTask([1e9]), "work for 1 processes, the job has 2"),
        (ParallelTask(matrix=[[0]]), "a matrix for 1 processes, the job has 2"),
        (External(None, "store", 5.0), "there is no component 'store'"),
    ],
)
def test_a_task_for_another_number_of_processes_fails_its_program(task, words):
    runner = Runner()
    runner.add(1, task, TWO)
    runner.run()
    assert words in runner.errors[1]


def test_all_processes_share_what_goes_outside_in_total():
    store = Component("store", Link(10.0))

    def outside(**options):
        platform = make_platform(network=Star(4, Link(100.0), outside=[store.link]), components=[store])
        return run(External(None, "store", 40.0, **options), TWO, platform)

    assert outside() == pytest.approx(8)  # 40 bytes each, of 10 a second
    assert outside(total=True) == pytest.approx(4)
