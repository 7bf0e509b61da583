"""Cells that differ in one axis, seed by seed, against numbers worked out by hand."""

from __future__ import annotations

import pytest
from small import done, registered

from walltime.core.errors import InputError
from walltime.experiments.comparison import compare_cells
from walltime.experiments.leases import Leases
from walltime.experiments.tasks import OWN, TaskOutcome

WAITS = {"fcfs": (10.0, 20.0, 60.0), "easy": (8.0, 17.0, 56.0)}


@pytest.fixture
def waits(open_store):
    """Three seeds of two policies on two machines; the larger has half of the waits, and lacks one run."""
    store, number = registered(open_store, seeds=3, grid={"policy": ["fcfs", "easy"], "cluster.cores": [8, 16]})
    place = {row["run"]: row for row in store.table("small").to_dicts()}
    leases = Leases(store)
    outcomes = []
    for task in leases.take(number, 100):
        row = place[task.digest]
        wait = WAITS[row["policy"]][task.seed] / (1 if row["cluster.cores"] == "8" else 2)
        lost = (row["policy"], row["cluster.cores"], task.seed) == ("easy", "16", 2)
        fine = TaskOutcome(task, figures={"mean_wait": wait}, result="0" * 64)
        outcomes.append(TaskOutcome(task, fault=OWN, error="lost") if lost else fine)
    leases.finish(outcomes)
    return store


def test_pairs_differ_in_one_axis_alone(waits):
    small, large = compare_cells(waits, "small", "policy")
    assert (small.shared, small.seeds) == ({"cluster.cores": "8"}, 3)
    assert {label: value.mean for label, value in small.values.items()} == {"fcfs": 30.0, "easy": 27.0}
    (verdict,) = small.verdicts
    assert (verdict.subject, verdict.baseline, verdict.difference.mean) == ("easy", "fcfs", -3.0)
    assert (verdict.basis, verdict.count, verdict.comparisons) == ("seeds", 3, 2)  # corrected over both machines
    assert verdict.difference.deviation == 1.0  # of -2, -3, -4: the spread of the seeds has cancelled out
    assert (large.shared, large.seeds) == ({"cluster.cores": "16"}, 2)  # the seed that easy lacks counts for neither
    assert {label: value.mean for label, value in large.values.items()} == {"fcfs": 7.5, "easy": 6.25}


def test_another_axis_and_another_baseline(waits):
    first, _ = compare_cells(waits, "small", "cluster.cores", baseline="16")
    assert first.shared == {"policy": "fcfs"}
    assert [(own.subject, own.difference.mean) for own in first.verdicts] == [("8", 15.0)]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"axis": "polcy"}, "did you mean 'policy'"),
        ({"axis": "policy", "figure": "mean_wiat"}, "did you mean 'mean_wait'"),
        ({"axis": "policy", "baseline": "esay"}, "did you mean 'easy'"),
    ],
)
def test_what_the_experiment_has_not_is_told(waits, keys, words):
    with pytest.raises(InputError, match=words):
        compare_cells(waits, "small", **keys)


def test_nothing_done_is_nothing_to_compare(open_store):
    store, number = registered(open_store, seeds=1, grid={"policy": ["fcfs", "easy"]})
    leases = Leases(store)
    leases.finish([done(task) for task in leases.take(number, 1)])
    (group,) = compare_cells(store, "small", "policy")
    assert (list(group.values), group.verdicts) == (["fcfs"], ())
