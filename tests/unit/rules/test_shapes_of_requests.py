"""Shapes of many requests at once are those of one after the other, and so are the reasons of what can never run."""

import numpy as np
import pytest

from walltime.cluster.nodes import Layout, NodeGroup
from walltime.cluster.requests import Stock, make_request, refusal
from walltime.core.workload import Workload
from walltime.kernel.hardware import Hardware
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.policies.place.best_fit import BestFit
from walltime.policy.place import as_place
from walltime.rules.requests import NUMBERS, RequestBook

GROUPS = (NodeGroup(count=2, cores=8, memory=100, gpus=2), NodeGroup(count=1, cores=16, memory=50))


def make_book(groups=GROUPS, sharing="shared"):
    layout = Layout(groups, sharing, {})
    amounts = np.stack([layout.amounts(name) for name in layout.resources()], axis=1)
    hardware = Hardware(amounts, as_place(BestFit()), layout.whole, layout.pace(), layout.switches(), [], 0)
    return RequestBook(layout, ResourceLedger(JobTable(), hardware, 0), [], [])


def make_jobs(columns, seed):
    draw = np.random.default_rng(seed)
    count = 300
    given = {
        "cores": draw.integers(1, 20, count),
        "nodes": draw.choice([-1, 1, 1, 1, 2, 3], count),
        "memory": draw.choice([-1, 0, 10, 40, 60, 120], count),
        "cores_per_node": draw.choice([-1, -1, 4], count),
        "memory_per_node": draw.choice([-1, -1, 20, 70], count),
        "memory_per_core": draw.choice([-1, -1, 0, 5], count),
        "gpus": draw.choice([0, 0, 1, 3], count),
        "exclusive": draw.choice([0, 0, 0, 1], count),
    }
    times = {"submit": np.zeros(count, np.int64), "run_time": np.ones(count, np.int64)}
    return Workload(times | {name: given[name] for name in columns})


@pytest.mark.parametrize("sharing", ["shared", "whole"])
@pytest.mark.parametrize(
    "columns",
    [
        ("cores", "nodes", "memory"),
        ("cores", "nodes"),
        ("cores", "memory"),
        ("cores", "nodes", "gpus"),
        ("cores", "nodes", "exclusive"),
        ("cores", "nodes", "memory", "cores_per_node"),
        ("cores", "nodes", "memory", "memory_per_core"),
        ("cores", "nodes", "memory", "memory_per_node", "gpus", "exclusive"),
    ],
)
def test_together_as_one_by_one(columns, sharing):
    book, jobs = make_book(sharing=sharing), make_jobs(columns, len(columns))
    shapes, reasons, why = book.shapes(jobs, np.arange(len(jobs)), -1)
    kinds, stock = set(), Stock.of(book.layout, np.ones(book.layout.count, bool))
    for row in range(len(jobs)):
        told = {name: int(jobs.column(name)[row]) for name in NUMBERS if jobs.has(name)}
        request = make_request(stock, **told)
        reason = refusal(stock, request)
        assert (reasons[why[row]] if why[row] >= 0 else None) == reason
        if reason is None:
            assert shapes[row] == book.ledger.intern(request, 0)
        kinds.add(reason is None)
    assert True in kinds


def test_jobs_that_name_their_nodes():
    """Two of four nodes by name, the third, and a name that no node has; the last is refused and adds no set."""
    book = make_book((NodeGroup(count=4, cores=2),))
    wanted = ["n[0-1]", "n2", "x", "n[0-1]"]
    jobs = Workload.from_columns(submit=[0] * 4, run_time=[1] * 4, cores=[2] * 4, constraint=wanted)
    shapes, reasons, why = book.shapes(jobs, np.arange(4), -1)
    assert shapes[0] == shapes[3] != shapes[1]
    assert shapes[2] == -1
    assert why.tolist() == [-1, -1, 0, -1]
    assert reasons == ["no node has the property x"]
    assert book.ledger.sets == 3
    assert book.ledger.pools[1].total == 2 * book.ledger.pools[2].total
