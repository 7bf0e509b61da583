"""Programs in the engine: run times emerge, limits cancel, failures and preemption interrupt; worked out by hand."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
from jobs_on_nodes import STAR, job, simulate, times

from walltime.core.errors import InputError, UnsupportedError
from walltime.core.plugins import allow_plugins
from walltime.core.workload import Workload
from walltime.programs.profiles import write_out

SLEEP = write_out("idle", time=10)
WORK = write_out("compute-homogenous", compute_work=20e9)
TALK = write_out("communication-src-dst", src=[0], dst=[1], size=1000)
DISK = write_out("disk-write", size=100)


def test_run_times_emerge_from_what_jobs_do():
    rows = [job(SLEEP), job(WORK, 2), job(TALK, 2, 2), job(None, run_time=7)]
    result = simulate({"nodes": "4x4", "network": STAR}, *rows)
    assert times(result) == [(0, 10, "completed"), (0, 10, "completed"), (0, 10, "completed"), (0, 7, "completed")]


def test_the_run_time_of_the_trace_does_not_count_for_a_program():
    result = simulate({"nodes": "1x4"}, job(SLEEP, run_time=3), job(None, run_time=3))
    assert [end for _, end, _ in times(result)] == [10, 3]
    assert result.jobs["run_time"].to_list() == [10, 3]


def test_two_jobs_share_the_links_of_their_nodes():
    result = simulate({"nodes": "2x4", "network": STAR}, job(TALK, 2, 2), job(TALK, 2, 2, submit=5))
    assert [end for _, end, _ in times(result)] == [15, 20]


def test_faster_nodes_compute_faster():
    nodes = [{"count": 1, "cores": 2, "speed": 2.0}]
    assert times(simulate({"nodes": nodes}, job(WORK, 2))) == [(0, 5, "completed")]
    keys = {"model": {"name": "programs", "flops": 4e9, "speedup": {"amdahl": 1.0}}}
    assert times(simulate({"nodes": "1x4"}, job(WORK, 4), execution=keys)) == [(0, 5, "completed")]


def test_jobs_on_crowded_nodes_share_the_cores():
    nodes = {"count": 1, "cores": 2, "max_load": 2}
    result = simulate({"nodes": nodes}, job(WORK, 2), job(WORK, 2))
    assert [end for _, end, _ in times(result)] == [20, 20]


def test_the_limit_cancels_a_program():
    result = simulate({"nodes": "2x4", "network": STAR}, job(TALK, 2, 2, limit=8), job(TALK, 2, 2))
    assert times(result) == [(0, 8, "timeout"), (0, 14, "completed")]


def test_with_extend_a_program_runs_beyond_its_limit():
    result = simulate({"nodes": "1x4"}, job(SLEEP, limit=8), execution={"overrun": "extend"})
    assert times(result) == [(0, 10, "completed")]


def test_a_job_cancelled_while_it_runs_leaves_its_share_to_the_others():
    result = simulate({"nodes": "2x4", "network": STAR}, job(TALK, 2, 2, cancel=4), job(TALK, 2, 2, cancel=None))
    assert times(result) == [(0, 4, "cancelled"), (0, 12, "completed")]


@pytest.mark.parametrize(("mode", "ends"), [("requeue", [(5, 25), "completed"]), ("fail", [(0, 4), "failed"])])
def test_a_failure_of_a_node_interrupts_a_program(mode, ends):
    failure = {"nodes": ["n0"], "at": 4, "length": 1}
    cluster = {"nodes": "1x4", "failures": [failure], "interrupted": mode}
    result = simulate(cluster, job(write_out("compute-homogenous", compute_work=20e9)))
    [(start, end, state)] = times(result)
    allocations = result.allocations.sort("start").select("start", "end").rows()
    assert (allocations[-1], state) == tuple(ends)
    assert (start, end) == (0, ends[0][1])


PREEMPT = {"nodes": "1x4", "queues": {"low": {"priority": 1}, "high": {"priority": 2}}}


@pytest.mark.parametrize(
    ("mode", "spans"),
    [("suspend", [(0, 3), (5, 12)]), ("requeue", [(0, 3), (5, 15)]), ("kill", [(0, 3)])],
)
def test_preemption_interrupts_a_program(mode, spans):
    """Suspended, it goes on where it was; requeued, it begins again."""
    cluster = PREEMPT | {"scheduler": {"preempt": {"name": "queue", "mode": mode}}}
    rows = [
        job(write_out("compute-homogenous", compute_work=40e9), 4, queue="low"),
        job(write_out("idle", time=2), 4, submit=3, queue="high"),
    ]
    result = simulate(cluster, *rows)
    mine = result.allocations.filter(result.allocations["job_id"] == 1).sort("start")
    assert mine.select("start", "end").rows() == spans


def test_a_program_with_an_error_fails_its_job_and_the_rest_goes_on():
    result = simulate({"nodes": "2x4"}, job(DISK), job(SLEEP))
    assert times(result) == [(0, 0, "failed"), (0, 10, "completed")]
    told = result.record.facts["programs"]
    assert told["failed"] == 1
    assert told["first"] == [f"job 1, profile {DISK}: n0 has no disk"]


def test_a_program_with_an_error_ends_the_simulation_where_that_is_asked_for():
    model = {"model": {"name": "programs", "on_error": "stop"}}
    with pytest.raises(InputError, match=r"a program has failed at 0 s: job 1, .*n0 has no disk"):
        simulate({"nodes": "2x4"}, job(DISK), job(SLEEP), execution=model)


ENDLESS = """from walltime.programs import Profile


class Endless(Profile):
    async def run(self, processes):
        while True:
            await processes[0].sleep(10)
"""


@pytest.fixture(scope="module")
def endless(tmp_path_factory):
    """Two profiles that never end, one in Python, and the file that names both."""
    folder = tmp_path_factory.mktemp("endless")
    (folder / "endless_profile.py").write_text(ENDLESS)
    (folder / "profiles.yaml").write_text(
        "code: {type: 'endless_profile:Endless'}\n"
        "steps:\n  type: sequence\n  args:\n    repeat: 1000000000\n    profiles:\n"
        "      - {type: idle, args: {time: 3}}\n      - {type: idle, args: {time: 7}}\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", list(sys.path))
        allow_plugins(folder)
        yield folder


def test_a_program_that_never_ends_is_told_by_job_profile_and_line(endless):
    model = {"name": "programs", "operations": 500}
    execution = {"model": model, "profiles": str(endless / "profiles.yaml"), "overrun": "extend"}
    result = simulate({"nodes": "3x4"}, job("code"), job("steps"), job(SLEEP), execution=execution)
    assert [state for _, _, state in times(result)] == ["failed", "failed", "completed"]
    said = dict(one.split(": ", 1) for one in result.record.facts["programs"]["first"])
    end = "500 operations, and no end; the model's `operations` allows more"
    assert said[f"{endless / 'endless_profile.py'}:7"] == f"job 1, profile code: {end}"
    assert said[f"{endless / 'profiles.yaml'}:7"] == f"job 2, profile steps: {end}"
    with pytest.raises(InputError, match=r"endless_profile\.py:7: job 1, profile code: 500 operations"):
        simulate({"nodes": "1x4"}, job("code"), execution=execution | {"model": model | {"on_error": "stop"}})


def test_a_program_that_its_limit_stops_is_told_with_where_it_stood(endless):
    execution = {"profiles": str(endless / "profiles.yaml")}
    rows = [job(name, limit=limit) for name, limit in (("code", 95), ("steps", 98), (SLEEP, 50), (WORK, 8))]
    facts = simulate({"nodes": "4x4"}, *rows, execution=execution).record.facts["programs"]
    assert (facts["failed"], facts["stopped"]) == (0, 3)
    assert sorted(facts["stopped_first"]) == sorted(
        [
            f"{endless / 'endless_profile.py'}:7: job 1, profile code",
            f"{endless / 'profiles.yaml'}:8: job 2, profile steps",
            f"job 4, profile {WORK}",
        ]
    )


@pytest.mark.parametrize("most", [0, -3, 1.5, True, "many"])
def test_a_number_of_operations_that_cannot_be_meant(most):
    model = {"model": {"name": "programs", "operations": most}}
    with pytest.raises(InputError, match="operations"):
        simulate({"nodes": "1x4"}, job(SLEEP), execution=model)


def test_what_jobs_wrote_goes_with_them():
    nodes = {"count": 1, "cores": 4, "disk": {"capacity": 150, "read": 10.0, "write": 10.0}}
    result = simulate({"nodes": nodes}, job(DISK), job(DISK, submit=1), job(DISK, submit=12))
    assert times(result) == [(0, 10, "completed"), (1, 1, "failed"), (12, 22, "completed")]


def test_a_component_outside_is_shared_by_all():
    cluster = {"nodes": "4x1", "network": STAR, "components": {"store": {"bandwidth": 50.0}}}
    profile = write_out("communication-external", processes=[0], component_name="store", input_size=100)
    result = simulate(cluster, *(job(profile) for _ in range(4)))
    assert [end for _, end, _ in times(result)] == [8] * 4


def test_profiles_of_a_file_are_named_by_jobs(tmp_path):
    (tmp_path / "profiles.yaml").write_text("nap: {type: idle, args: {time: 3}}\n", encoding="utf-8")
    keys = {"profiles": str(tmp_path / "profiles.yaml")}
    assert times(simulate({"nodes": "1x4"}, job("nap"), execution=keys)) == [(0, 3, "completed")]
    with pytest.raises(InputError, match="no profile of this name: 'nab'; did you mean 'nap'"):
        simulate({"nodes": "1x4"}, job("nab"), execution=keys)
    with pytest.raises(InputError, match=r"no (file of profiles tells what this is|profile of this name): 'nap'"):
        simulate({"nodes": "1x4"}, job("nap"))


@pytest.mark.parametrize(
    ("cluster", "execution", "key"),
    [
        ({"nodes": "2x4", "network": STAR}, {"model": "trace"}, "cluster.network"),
        ({"nodes": "2x4", "components": {"s": {"bandwidth": 1.0}}}, {"model": "trace"}, "cluster.components"),
        ({"nodes": {"count": 1, "cores": 4, "disk": {"read": 1.0, "write": 1.0}}}, {"model": "gang"}, "nodes.disk"),
        ({"nodes": "2x4"}, {"model": "trace", "profiles": "x.yaml"}, "execution.profiles"),
        ({"cores": 8}, {"model": "programs"}, "cluster.cores"),
    ],
)
def test_what_only_programs_use_is_refused_elsewhere(cluster, execution, key):
    with pytest.raises(UnsupportedError, match=key):
        simulate(cluster, job(None, run_time=1), execution=execution)


def test_the_slurm_engine_refuses_programs_by_name():
    from walltime.scenario import parse
    from walltime.slurm.translate.refusals import unsupported

    table = Workload.from_columns(submit=[0], run_time=[1], requested_time=[1], cores=[1])
    scenario = parse({"workload": {"table": table}, "cluster": {"nodes": "2x4", "network": STAR}, "engine": "slurm"})
    assert "cluster.network" in dict(unsupported(scenario))
    scenario = parse({"workload": {"table": table}, "cluster": {"nodes": "2x4"}, "execution": {"model": "programs"}})
    assert "execution.model" in dict(unsupported(scenario))


@pytest.mark.parametrize(
    ("network", "match"),
    [
        ({"type": "star"}, "star needs link"),
        ({"type": "star", "link": {"bandwidth": 0}}, "must be bytes a second, above 0"),
        ({"type": "star", "link": {"bandwidth": "fast"}}, "bandwidth"),
        ({"type": "shared", "link": {"bandwidth": 1}, "uplink": {"bandwidth": 1}}, "shared does not take uplink"),
        ({"type": "tree", "levels": [{"size": 1, "bandwidth": 1}]}, "a tree whose top has 2 switches"),
        ({"type": "ring", "link": {"bandwidth": 1}}, "type"),
        ({"type": "graph", "file": "nowhere.yaml"}, "nowhere.yaml"),
    ],
)
def test_networks_that_cannot_be_meant_are_refused(network, match):
    with pytest.raises(InputError, match=match):
        simulate({"nodes": "2x4", "network": network}, job(SLEEP))


def test_the_same_job_on_every_kind_of_network(tmp_path):
    """All four processes send 100 bytes to all others over links of 100 bytes a second."""
    (tmp_path / "ring.yaml").write_text(
        "links:\n"
        + "".join(f"  - {{from: n{i}, to: n{(i + 1) % 4}, bandwidth: 100, duplex: false}}\n" for i in range(4)),
        encoding="utf-8",
    )
    link = {"bandwidth": 100.0}
    networks = {
        "constant": ({"link": link}, 1),
        "shared": ({"link": link}, 12),
        "star": ({"link": link}, 3),
        "tree": ({"levels": [{"size": 2, "bandwidth": 100}, {"size": 2, "bandwidth": 100}]}, 4),
        "fat-tree": ({"downlink": link, "uplink": link, "l1_switch_count": 2, "l2_switch_count": 2}, 3),
        "graph": ({"file": str(tmp_path / "ring.yaml")}, 5),  # three of the four ways across pass its first link
    }
    profile = write_out("communication-homogenous", size=100)
    for kind, (keys, seconds) in networks.items():
        result = simulate({"nodes": "4x1", "network": {"type": kind} | keys}, job(profile, 4, 4))
        assert times(result) == [(0, seconds, "completed")], kind


@pytest.mark.parametrize("rhythm", ["instant", "event"])
def test_runs_are_the_same_every_time_and_legal(rhythm):
    rng = np.random.default_rng(5)
    kinds = [SLEEP, WORK, TALK, DISK, None]
    rows = []
    for _, kind in zip(range(150), itertools.cycle(kinds), strict=False):
        nodes = 2 if kind == TALK else int(rng.integers(1, 4))
        cores, submit = nodes * int(rng.integers(1, 4)), float(rng.integers(0, 600))
        limit, run_time = float(rng.choice([9, 30, 400])), float(rng.integers(1, 50))
        rows.append(job(kind, cores, nodes, submit, limit=limit, run_time=run_time))
    disk = {"capacity": 150, "read": 10.0, "write": 10.0, "operations": 2}
    cluster = {
        "nodes": [
            {"count": 4, "cores": 4, "disk": disk},
            {"count": 2, "cores": 8, "speed": 2.0, "name": "m", "disk": disk},
        ],
        "network": STAR,
        "failures": [{"between": {"mean": 300}, "repair": {"mean": 30}}],
        "scheduler": {"rhythm": rhythm},
    }
    first, second = (simulate(cluster, *rows, seed=3) for _ in range(2))
    assert first.digest == second.digest
    states = set(first.jobs["state"].cast(str).to_list())
    assert {"completed", "timeout", "failed"} <= states


BUSY = """from walltime.programs import Profile, gather, race, timeout


class Busy(Profile):
    async def run(self, processes):
        for turn in range(processes[0].restored or 0, 12):
            await gather(*(p.compute(1e9 * (1 + (p.rank + turn) % 3)) for p in processes))
            others = processes[1:] + processes[:1]
            place, _ = await race(*(p.transfer(100 * (2 + p.rank), q) for p, q in zip(processes, others)))
            try:
                await timeout(processes[0].write(60), 3 + place)
            except TimeoutError:
                await processes[-1].sleep(1)
            processes[0].checkpoint(turn + 1)
"""


def test_coroutines_are_the_same_every_time_when_they_are_interrupted(tmp_path, monkeypatch):
    """With failures and preemption from checkpoints, races and timeouts."""
    (tmp_path / "busy_profile.py").write_text(BUSY)
    (tmp_path / "profiles.yaml").write_text("busy: {type: 'busy_profile:Busy'}\n")
    monkeypatch.setattr(sys, "path", list(sys.path))
    allow_plugins(tmp_path)
    rows = [job("busy", 4 * (1 + i % 3), 1 + i % 3, 11 * i, queue="low" if i % 4 else "high") for i in range(40)]
    cluster = {
        "nodes": {"count": 6, "cores": 4, "disk": {"capacity": 1_000_000, "read": 30.0, "write": 30.0}},
        "network": STAR,
        "queues": {"low": {"priority": 1}, "high": {"priority": 2}},
        "failures": [{"between": {"mean": 400}, "repair": {"mean": 30}}],
        "interrupted": "checkpoint",
        "scheduler": {"preempt": {"name": "queue", "mode": "checkpoint"}},
    }
    execution = {"profiles": str(tmp_path / "profiles.yaml")}
    first, second = (simulate(cluster, *rows, seed=3, execution=execution) for _ in range(2))
    assert first.digest == second.digest
    outcomes = set(first.allocations["outcome"].cast(str).to_list())
    assert {"completed", "preempted", "requeued"} <= outcomes
