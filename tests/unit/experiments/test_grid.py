"""Axes, labels, ranges, combinations, exclusions: the cells are those that a person would write down."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import make, plan_of, write

from walltime.core.errors import InputError
from walltime.experiments.grid import Range, write_label


def labels(experiment):
    return [cell.labels for cell in experiment.cells()]


def test_the_last_axis_changes_fastest():
    experiment = make(grid={"policy": ["fcfs", "easy"], "cluster.cores": [8, 16]})
    assert labels(experiment) == [
        {"policy": "fcfs", "cluster.cores": "8"},
        {"policy": "fcfs", "cluster.cores": "16"},
        {"policy": "easy", "cluster.cores": "8"},
        {"policy": "easy", "cluster.cores": "16"},
    ]


def test_without_a_grid_there_is_one_cell():
    assert labels(make()) == [{}]


def test_exclusions_leave_out_cells_that_match_all_of_their_axes():
    experiment = make(
        grid={"policy": ["fcfs", "easy", "sjf"], "cluster.cores": [8, 16]},
        exclude=[{"policy": ["fcfs", "sjf"], "cluster.cores": 16}, {"policy": "easy"}],
    )
    assert labels(experiment) == [
        {"policy": "fcfs", "cluster.cores": "8"},
        {"policy": "sjf", "cluster.cores": "8"},
    ]


@pytest.mark.parametrize(
    ("given_range", "numbers"),
    [
        ({"start": 0.1, "stop": 0.5, "step": 0.1}, [0.1, 0.2, 0.3, 0.4, 0.5]),
        ({"start": 4, "stop": 64, "factor": 2}, [4, 8, 16, 32, 64]),
        ({"start": 10, "stop": 1, "step": -4}, [10, 6, 2]),
        ({"start": 8, "stop": 1, "factor": 0.5}, [8, 4, 2, 1]),
        ({"start": 0, "stop": 1, "count": 5}, [0, 0.25, 0.5, 0.75, 1]),
        ({"start": 3, "stop": 3, "count": 1}, [3]),
    ],
)
def test_ranges_are_exact_and_include_their_ends(given_range, numbers):
    found = Range(**given_range).numbers()
    assert found == numbers
    assert [type(value) for value in found] == [type(value) for value in numbers]


@given(st.integers(-100, 100), st.integers(1, 50), st.integers(1, 40))
def test_a_range_by_steps_is_the_range_of_python(start, step, count):
    stop = start + step * (count - 1)
    assert Range(start=start, stop=stop, step=step).numbers() == list(range(start, stop + 1, step))


def test_combinations_set_several_keys_at_once(tmp_path):
    plan = plan_of(
        write(
            tmp_path,
            "grid:\n"
            "  machine:\n"
            "    combinations:\n"
            "      small: {cluster.cores: 8}\n"
            "      large: {cluster.cores: 32, workload.generate.cores: 32}\n",
        )
    )
    small, large = (plan.make_scenario(cell.levels) for cell in plan.cells)
    assert (small.clusters[0].cores, small.workload.generate.cores) == (8, 8)
    assert (large.clusters[0].cores, large.workload.generate.cores) == (32, 32)


def test_a_policy_sets_its_parts_in_every_cluster():
    from walltime.experiments.planning import ExperimentPlan

    clusters = [{"name": "a", "cores": 8}, {"name": "b", "cores": 8, "scheduler": {"order": "sjf"}}]
    scenario = {"workload": {"generate": {"jobs": 5, "cores": 8}}, "clusters": clusters, "broker": "first"}
    plan = ExperimentPlan(make(scenario=scenario, grid={"policy": ["fcfs", "conservative"]}))
    found = plan.make_scenario(plan.cells[1].levels)
    assert [own.scheduler.backfill.name for own in found.clusters] == ["conservative", "conservative"]


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (0.9, "0.9"),
        (2.0, "2"),
        (True, "true"),
        (None, "none"),
        ("easy", "easy"),
        ({"name": "depth", "depth": 4}, "depth depth=4"),
        ([1, 2], "[1,2]"),
    ],
)
def test_labels_of_values_without_one(value, label):
    assert write_label(value) == label


def test_two_values_with_one_label_are_told():
    with pytest.raises(InputError, match="one label"):
        list(make(grid={"cluster.cores": [8, 8.0]}).cells())
