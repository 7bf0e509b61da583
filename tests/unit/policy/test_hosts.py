"""Policies that name nodes, see vectors, and are called back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import walltime
from walltime import Policy, Workload
from walltime.core.errors import InputError, PolicyError
from walltime.policy.hosts import Cancel, HostPolicy, Start

NODES = [
    {"count": 1, "cores": 4, "memory": 8, "name": "a"},
    {"count": 1, "cores": 4, "memory": 32, "gpus": 1, "name": "b"},
    {"count": 1, "cores": 8, "memory": 16, "name": "c"},
]


def jobs(**columns: Any) -> Workload:
    count = len(columns["cores"])
    given = {"submit": [0] * count, "run_time": [10] * count, "nodes": [1] * count}
    given["requested_time"] = columns.get("run_time", given["run_time"])
    return Workload.from_columns(**(given | columns))


def simulate(workload: Workload, nodes: Any = None, **scheduler: Any) -> walltime.Result:
    cluster = {"nodes": nodes or NODES, "scheduler": scheduler}
    return walltime.simulate({"workload": {"table": workload}, "cluster": cluster})


def where(result: walltime.Result) -> list[str]:
    return result.allocations.sort("job_id")["nodes"].to_list()


class OnTheLast(Policy):
    """Every job on the last node that has it free."""

    def schedule(self, p):
        self.seen = p.ledger.resources, p.ledger.nodes, p.ledger.free_vectors(), p.ledger.node_vectors()
        for slot in p.waiting():
            self.request = p.ledger.request(slot)
            for node in reversed(range(p.ledger.nodes)):
                if p.fits_on(slot, [node]):
                    p.start_on(slot, [node])
                    break


def test_a_policy_names_nodes():
    policy = OnTheLast()
    result = simulate(jobs(cores=[4, 4, 2], memory=[8, 8, 20]), backfill=policy)
    assert where(result) == ["2:4", "2:4", "1:2"]
    assert result.audit() == []


def test_a_policy_sees_every_resource():
    policy = OnTheLast()
    simulate(jobs(cores=[4], memory=[8], gpus=[1]), backfill=policy)
    resources, nodes, free, has = policy.seen
    assert resources == ("cores", "memory", "gpus")
    assert nodes == 3
    assert free.tolist() == has.tolist() == [[4, 8, 0], [4, 32, 1], [8, 16, 0]]
    assert policy.request.nodes == 1
    assert policy.request.each.tolist() == [4, 8, 1]
    assert policy.request.allowed.tolist() == [True, True, True]


def test_memory_that_is_not_told_is_infinite():
    policy = OnTheLast()
    simulate(jobs(cores=[1]), nodes=[{"count": 1, "cores": 2, "memory": 8}, {"count": 1, "cores": 2}], backfill=policy)
    assert policy.seen[2].tolist() == [[2, 8], [2, np.inf]]


@pytest.mark.parametrize(
    ("nodes", "message"),
    [([0], "started on node 0, but it does not fit there"), ([7], "there is no node 7"), (["a"], "no node 'a'")],
)
def test_nodes_that_do_not_serve_are_refused(nodes, message):
    def wrong(p):
        p.start_on(p.head(), nodes)

    with pytest.raises(PolicyError, match=message):
        simulate(jobs(cores=[4], memory=[16]), backfill=wrong)


def test_a_plain_number_of_cores_has_no_nodes_to_name():
    def wrong(p):
        assert p.ledger.nodes == 0
        assert p.ledger.resources == ("cores",)
        p.start_on(p.head(), [0])

    with pytest.raises(PolicyError, match="plain number of cores"):
        walltime.simulate(jobs(cores=[4]), cores=8, policy=wrong)


class LeastMemoryLeft:
    """Packs by memory; cores alone would say otherwise."""

    def pack(self, free, nodes, request, job):
        assert free.shape == nodes.shape == (3, 3)
        assert job.cores == request.cores
        left = free[:, 1] - request.each[1]
        return np.argsort(np.where(free[:, 0] > 0, left, np.inf), kind="stable")


def test_a_place_of_ones_own_is_given_vectors():
    result = simulate(jobs(cores=[1, 1, 1], memory=[4, 16, 8]), backfill="aggressive", place=LeastMemoryLeft())
    assert where(result) == ["0:1", "2:1", "1:1"]
    assert result.audit() == []


def test_a_place_without_a_method_is_refused():
    with pytest.raises(InputError, match="nor has it a method choose or pack"):
        simulate(jobs(cores=[1]), place=object())


class Diary(HostPolicy):
    """First fit by what nodes ask for, with notes."""

    every = 10

    def __init__(self):
        super().__init__()
        self.notes: list[Any] = []

    def host_added(self, host):
        self.notes.append(("added", host.name, host.has["cores"]))

    def requested(self, job):
        self.notes.append(("requested", job.job_id, job.each))
        return [Cancel(job)] if job.each["cores"] == 3 else None

    def finished(self, job, hosts):
        self.notes.append(("finished", job.job_id, [(host.name, host.free["cores"]) for host in hosts]))

    def viewed(self, hosts):
        self.notes.append(("viewed", [host.free["cores"] for host in hosts]))

    def host_asks(self, host):
        for job in self.waiting:
            if job.fits(host):
                return [Start(job, host)]
        return None


def test_callbacks():
    diary = Diary()
    workload = jobs(submit=[1, 1, 2, 31], cores=[4, 6, 3, 1], memory=[16, 4, 1, 1], run_time=[10, 25, 1, 1])
    result = simulate(workload, backfill=diary)
    assert result.jobs["start"].to_list() == [10, 10, None, 40]
    assert result.jobs["state"].to_list() == ["completed", "completed", "cancelled", "completed"]
    assert where(result) == ["1:4", "2:6", "0:1"]
    assert diary.notes == [
        ("added", "a0", 4),
        ("added", "b0", 4),
        ("added", "c0", 8),
        ("requested", 1, {"cores": 4, "memory": 16}),
        ("requested", 2, {"cores": 6, "memory": 4}),
        ("requested", 3, {"cores": 3, "memory": 1}),
        ("viewed", [4, 4, 8]),
        ("finished", 1, [("b0", 4)]),
        ("requested", 4, {"cores": 1, "memory": 1}),
        ("finished", 2, [("c0", 8)]),
        ("viewed", [4, 4, 8]),
    ]


def test_a_decision_has_a_type():
    class Wrong(HostPolicy):
        def requested(self, job):
            return [job]

    with pytest.raises(PolicyError, match="neither Start nor Cancel"):
        simulate(jobs(cores=[1]), backfill=Wrong())


def test_callbacks_on_a_plain_number_of_cores():
    class Any(HostPolicy):
        def host_asks(self, host):
            return [Start(job, host) for job in self.waiting[:1] if job.fits(host)]

    result = walltime.simulate(jobs(cores=[4, 4, 4], nodes=[None] * 3), cores=8, policy=Any())
    assert result.jobs["start"].to_list() == [0, 0, 10]
