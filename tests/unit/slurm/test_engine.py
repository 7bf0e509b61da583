"""The engine on small workloads: what the real controller decides, and what the engine makes of it."""

import contextlib
import os
import pathlib
import re
import signal
import socket
import tempfile

import pytest

from walltime import Workload, simulate
from walltime.core.errors import InputError, UnsupportedError
from walltime.scenario import parse
from walltime.site.nodes import Node
from walltime.slurm import engine, simulation
from walltime.slurm.controller import Controller, ControllerError, Setting
from walltime.slurm.paused import Frozen
from walltime.slurm.protocol import link
from walltime.slurm.site import Site
from walltime.slurm.translate.refusals import unsupported
from walltime.slurm.translate.scenario import translate
from walltime.slurm.translate.writing import write_conf
from walltime.workload.synthesis.workflow_mix import Mix, add_workflows
from walltime.workload.workflow import Task, Workflow

pytestmark = pytest.mark.usefixtures("slurm")


def burst(**more):
    """Jobs that come in one second, and some that end in one."""
    size = 24
    columns = {
        "submit": [0] * 8 + [60] * 8 + [200 + 40 * i for i in range(8)],
        "run_time": [100, 100, 100, 300, 300, 30, 600, 1000] * 3,
        "requested_time": [120, 240, 120, 600, 300, 60, 300, 1200] * 3,
        "cores": [4, 8, 1, 16, 2, 4, 1, 8] * 3,
        "user": ["ann", "bo", "cy"] * 8,
    }
    assert all(len(values) == size for values in columns.values())
    return Workload.from_columns(**columns | more)


def run(workload, **settings):
    return simulate(workload, engine="slurm", **settings)


@pytest.mark.parametrize("sharing", ["shared", "whole"])
def test_a_legal_schedule_the_same_every_time(sharing, slurm):
    first = run(burst(), nodes="4x8", cluster__sharing=sharing)
    assert first.audit() == []
    assert set(first.jobs["state"]) == {"completed", "timeout"}  # the seventh of eight asks for half of what it needs
    assert first.jobs["backfilled"].any()
    assert run(burst(), nodes="4x8", cluster__sharing=sharing).digest == first.digest
    assert first.record.facts["engine"] == f"slurm {slurm.product}"


@pytest.mark.parametrize("column", ["begin", "dependencies"])
@pytest.mark.parametrize(("order", "expected"), [("fcfs", [9, 2, 3, 1]), ("submission", [9, 1, 2, 3])])
def test_what_comes_first_of_jobs_that_are_eligible_only_later(order, expected, column):
    late = {"begin": [None, 700, None, None], "dependencies": ["", "after:9+10", "", ""]}
    jobs = Workload.from_columns(
        job_id=[9, 1, 2, 3],
        submit=[0, 10, 20, 30],
        run_time=[900, 300, 300, 300],
        requested_time=[900, 300, 300, 300],
        **{column: late[column]},
    )
    for name in ("native", "slurm"):
        done = simulate(jobs, engine=name, cores=1, policy={"order": order, "backfill": "none"})
        assert done.audit() == []
        assert done.jobs.sort("start")["job_id"].to_list() == expected, name


def test_a_pool_of_cores_is_one_node():
    result = run(burst(), cores=32)
    assert result.audit() == []
    assert result.record.facts["clusters"] == {"cluster": 32}


def test_limits_cancellations_begins_and_dependencies():
    jobs = Workload.from_columns(
        submit=[0, 0, 0, 0, 0],
        run_time=[50, 500, 20, 20, 400],
        requested_time=[60, 120, 60, 60, 600],
        cores=[1, 1, 1, 1, 1],
        begin=[None, None, 300, None, None],
        cancel=[None, None, None, None, 100],
        dependencies=["", "", "", "afterany:2", ""],
    )
    result = run(jobs, nodes="4x8")
    table = result.jobs
    assert table["state"].to_list() == ["completed", "timeout", "completed", "completed", "cancelled"]
    assert 120 <= table["run_time"][1] <= 220  # limits are looked at every half minute
    assert 300 <= table["start"][2] <= 361  # the whole queue is looked at every minute (sched_interval)
    assert table["start"][3] >= table["end"][1]
    assert table["end"][4] == pytest.approx(100, abs=1)
    assert result.audit() == []


def test_an_array_is_submitted_as_one_and_runs_as_many():
    jobs = Workload.from_columns(
        submit=[0] * 5 + [10],
        run_time=[100, 200, 300, 100, 100, 50],
        requested_time=[600] * 6,
        cores=[8] * 6,
        name=["a_1", "a_2", "a_7", "a_8", "b", "after"],
        cancel=[None, None, None, 20, None, None],
        dependencies=["", "", "", "", "", "afterany:3"],
    )
    started = engine.start(translate(parse({"workload": {"table": jobs}, "cluster": {"nodes": "2x8"}})), jobs)
    with started.controller:
        started.simulation.run()
    assert [job.handle for job in started.jobs[:5]] == ["1_1", "1_2", "1_7", "1_8", "2"]
    assert [job.state for job in started.jobs] == ["completed"] * 3 + ["cancelled", "completed", "completed"]
    held = [job.attempts[0].end - job.attempts[0].start for job in started.jobs if job.attempts]
    extra = engine.LAUNCH + engine.COMPLETION  # nodes are held while a job is launched, and until its end is told
    assert held == [1_000_000 * run + extra for run in (100, 200, 300, 100, 50)]
    assert started.jobs[5].attempts[0].start >= started.jobs[2].end


def test_launching_and_telling_the_end_take_their_time():
    """The job holds its nodes meanwhile, and its run time is its script's."""
    jobs = Workload.from_columns(submit=[0, 0], run_time=[100, 50], requested_time=[600, 600], cores=[32, 32])
    first, second = (
        run(jobs, nodes="4x8", slurm={"launch": launch, "completion": completion})
        for launch, completion in ((0, 0), ("150s", 7.5))
    )
    for result, extra in ((first, 0), (second, 157.5)):
        assert result.jobs["held_time"].to_list() == [100 + extra, 50 + extra]
        assert result.jobs["run_time"].to_list() == [100, 50]
        assert result.jobs["end"][0] <= result.jobs["start"][1]
        assert not result.audit()
    with pytest.raises(InputError, match="launch"):
        run(jobs, nodes="4x8", slurm={"launch": -1})


def test_an_epilog_keeps_the_nodes(each):
    """Of a job that ended and of one that was ended; on the node of another job nothing waits for it."""
    jobs = Workload.from_columns(
        submit=[0, 5, 5, 10],
        run_time=[100, 1000, 50, 50],
        requested_time=[600, 600, 600, 600],
        cores=[16, 16, 16, 16],
        nodes=[2, 2, 2, 2],
        cancel=[None, 300, None, None],
    )
    plain, kept = (
        run(jobs, nodes="4x8", slurm={"release": each.dialect.release, "epilog": epilog}) for epilog in (0, 40)
    )
    for result, epilog in ((plain, 0), (kept, 40)):
        assert not result.audit()
        assert result.jobs["state"].to_list() == ["completed", "cancelled", "completed", "completed"]
        start, end = result.jobs["start"], result.jobs["end"]
        assert epilog <= start[2] - end[0] < epilog + 35  # the first one's nodes; the second one's stay taken
        assert epilog <= start[3] - end[2] < epilog + 35


def test_a_job_that_no_machine_holds_is_rejected_with_its_reason():
    jobs = Workload.from_columns(submit=[0, 0], run_time=[5, 5], requested_time=[60, 60], cores=[64, 1])
    result = run(jobs, nodes="4x8")
    assert result.jobs["state"].to_list() == ["rejected", "completed"]
    assert list(result.record.facts["rejected_reasons"].values()) == [1]


def test_who_waits_for_ever_is_told_why(monkeypatch, slurm):
    monkeypatch.setattr(simulation, "PATIENCE", 600 * 1_000_000)
    jobs = Workload.from_columns(submit=[0, 0], run_time=[5, 5], requested_time=[60, 60], cores=[64, 1])
    result = run(jobs, nodes="4x8", slurm={"settings": {"EnforcePartLimits": "NO"}})
    if slurm.dialect.release == "22.05":
        assert result.jobs["state"].to_list() == ["waiting", "completed"]
        assert result.record.facts["waiting_reasons"] == {"PartitionConfig": 1}
    else:  # newer ones turn it away although limits are not enforced
        assert result.jobs["state"].to_list() == ["rejected", "completed"]


def test_a_simulation_can_be_cut_off_and_gone_on_with():
    cut = run(burst(), nodes="4x8", until=400)
    assert {"running", "waiting"} <= set(cut.jobs["state"])
    assert cut.audit() == []
    whole = run(burst(), nodes="4x8")
    begun = cut.jobs["start"].drop_nulls()
    assert begun.to_list() == whole.jobs["start"].to_list()[: len(begun)] or set(begun) <= set(whole.jobs["start"])


def test_a_result_keeps_what_jobs_are_called_and_belong_to():
    """Names, phases and workflows, of the jobs submitted up to the cut-off; means are over the experiment alone."""
    flow = Workflow.of("flow", [Task("wide", 4, 100, 120), Task("long", 1, 200, 240, ("wide",))])
    others = Workload.from_columns(
        job_id=[1, 2, 3, 4],
        submit=[0, 0, 600, 10_000],
        run_time=[500, 100, 100, 100],
        requested_time=[600, 120, 120, 120],
        cores=[4, 4, 1, 1],
        name=["full", "f_1", "f_2", "late"],
        phase=["fill", "experiment", "experiment", "experiment"],
    )
    jobs = add_workflows(others, Mix([flow], "multi", every=9000.0, first=50.0))
    result, expected = (run(jobs, cores=4, until=until) for until in (600, None))
    assert result.jobs["job_id"].to_list() == [1, 2, 5, 6, 3]
    for name in ("name", "phase", "workflow"):
        told = dict(zip(jobs.column("job_id"), jobs.to_polars()[name], strict=True))
        for table in (result.jobs, expected.jobs):
            assert dict(table.select("job_id", name).rows()) == {job: told[job] for job in table["job_id"]}
    assert result.record.facts["submitted"] == 5
    assert result.summary["means_over"] == "started jobs of the experiment phase"
    assert result.summary["window"]["end"] == 600
    assert result.summary["utilization_window"] > 0.9
    assert result.audit() == expected.audit() == []
    assert expected.workflows["state"].to_list() == ["completed", "completed"]
    assert expected.summary["workflows"][0]["workflows"] == 2


@pytest.mark.parametrize("until", [100, 101])
def test_the_instant_of_the_cut_off_is_simulated(until):
    jobs = Workload.from_columns(submit=[0, 100, 102], run_time=[99.5] * 3, requested_time=[120] * 3, cores=[4] * 3)
    result = run(jobs, cores=4, until=until)
    assert result.jobs["job_id"].to_list() == [1, 2]
    assert result.audit() == []


def test_memory_gpus_and_features_are_honoured():
    jobs = Workload.from_columns(
        submit=[0] * 4,
        run_time=[100] * 4,
        requested_time=[120] * 4,
        cores=[1] * 4,
        gpus=[2, 2, 0, 0],
        memory=[None, None, 6 << 30, 6 << 30],
        constraint=["", "", "big", "big"],
    )
    nodes = [{"count": 1, "cores": 8, "memory": "8G", "gpus": 2}, {"count": 1, "cores": 8, "memory": "8G",
             "name": "b", "features": ["big"]}]  # fmt: skip
    result = run(jobs, cluster={"nodes": nodes})
    start = result.jobs["start"].to_list()
    assert abs(start[0] - start[1]) >= 100  # two GPUs are there once
    assert abs(start[2] - start[3]) >= 100  # and so is the memory
    assert result.allocations.sort("job_id")["nodes"].to_list() == ["0:1", "0:1", "1:1", "1:1"]


def test_queues_become_partitions():
    jobs = burst(queue=["short", "long"] * 12)
    queues = {"short": {"priority": 5, "nodes": ["n[0-1]"], "max_time": "20m"}, "long": {"default": True}}
    result = run(jobs, cluster={"nodes": "4x8", "queues": queues})
    places = result.allocations.join(result.jobs.select("job_id", "queue"), on="job_id")
    short = [text for text, queue in zip(places["nodes"], places["queue"], strict=True) if queue == "short"]
    assert short
    assert all(int(node) <= 1 for text in short for node in re.findall(r"(\d+)(?:-\d+)?:", text))
    assert result.audit() == []


@pytest.mark.parametrize(
    ("scenario", "keys"),
    [
        ({"cluster": {"cores": 8, "scheduler": {"order": "sjf"}}}, ["cluster.scheduler.order"]),
        ({"cluster": {"cores": 8, "scheduler": {"backfill": "aggressive"}}}, ["cluster.scheduler.backfill"]),
        ({"cluster": {"cores": 8, "scheduler": {"estimate": "perfect"}}}, ["cluster.scheduler.estimate"]),
        ({"cluster": {"nodes": "2x4", "scheduler": {"place": "first-fit"}}}, ["cluster.scheduler.place"]),
        ({"cluster": {"cores": 100_000}}, ["cluster.cores"]),
        ({"cluster": {"nodes": [{"count": 1, "cores": 2, "speed": 2.0}]}}, ["cluster.nodes"]),
        ({"cluster": {"cores": 8, "queues": {"q": {"order": "sjf"}}}}, ["cluster.queues.q.order"]),
        ({"cluster": {"cores": 8, "queues": {"q": {"max_time": 90}}}}, ["cluster.queues.q.max_time"]),
        ({"clusters": [{"name": "a", "cores": 1}, {"name": "b", "cores": 1}]}, ["clusters"]),
    ],
)
def test_what_it_cannot_honour_is_refused_by_name(scenario, keys):
    made = parse({"workload": {"table": burst()}, "engine": "slurm", **scenario})
    assert [key for key, _ in unsupported(made)] == keys
    with pytest.raises(UnsupportedError, match=re.escape(keys[0])):
        simulate(made)


def test_backfilling_is_said_in_the_controllers_words():
    def lines(backfill):
        data = {"workload": {"table": burst()}, "engine": "slurm",
                "cluster": {"cores": 8, "scheduler": {"backfill": backfill}}}  # fmt: skip
        return "\n".join(translate(parse(data)).settings)

    assert "sched/builtin" in lines("none")
    assert "bf_job_part_count_reserve=1" in lines("easy")
    assert "bf_job_part_count_reserve=5" in lines({"name": "depth", "depth": 5})
    assert "bf_job_part_count_reserve" not in lines("conservative")


@pytest.mark.parametrize(("stop", "cores"), [(False, 1), (False, 2), (True, 1), (True, 2)])
def test_a_limit_stops_a_queue_as_in_the_native_planner(stop, cores):
    columns = {"submit": [0, 1, 2], "run_time": [600] * 3, "requested_time": [600] * 3, "cores": [2, cores, 1]}
    jobs = Workload.from_columns(**columns, user=["ann", "ann", "bo"])
    rhythm = {"name": "slurm", "assoc_limit_stop": stop}
    cluster = {"nodes": "3x1", "limits": [{"per": "user", "running_cores": 2}], "scheduler": {"rhythm": rhythm}}
    cluster["scheduler"]["backfill"] = "conservative"
    _start_together(jobs, cluster)


@pytest.mark.parametrize("most", [1, 2])
def test_tasks_of_an_array_get_places_as_in_the_native_planner(most):
    jobs = Workload.from_columns(
        submit=[0, 1, 1, 1, 2],
        run_time=[600, 600, 600, 600, 900],
        requested_time=[600, 600, 600, 600, 900],
        cores=[3, 2, 2, 2, 1],
        nodes=[3, 2, 2, 2, 1],
        name=["1", "7_1", "7_2", "7_3", "9"],
        user=["ann"] * 5,
    )
    rhythm = {"name": "slurm", "bf_max_job_array_resv": most}
    _start_together(jobs, {"nodes": "4x1", "scheduler": {"backfill": "conservative", "rhythm": rhythm}})


def _start_together(jobs, cluster):
    """Both engines start every job within the beats of three seconds."""
    native, real = simulate(jobs, cluster=cluster), run(jobs, cluster=cluster)
    apart = [abs(a - b) for a, b in zip(native.jobs["start"], real.jobs["start"], strict=True)]
    assert max(apart) <= 3.5, apart


def test_order_and_rhythm_are_said_in_the_controllers_words():
    order = {
        "name": "multifactor",
        "weights": {"age": 1000, "fairshare": 50_000, "job_size": 10},
        "max_age": "1d",
        "interval": "2m",
        "favor_small": True,
        "fairshare": {"formula": "classic", "half_life": "14d"},
    }
    rhythm = {"name": "periodic", "bf_interval": 60, "bf_resolution": 300, "defer": True}
    cluster = {"cores": 8, "scheduler": {"order": order, "rhythm": rhythm}}
    scenario = parse({"workload": {"table": burst()}, "engine": "slurm", "cluster": cluster})
    assert unsupported(scenario) == []
    site = translate(scenario, burst())
    assert {
        *("PriorityType=priority/multifactor", "PriorityWeightAge=1000", "PriorityWeightFairshare=50000"),
        *("PriorityWeightJobSize=10", "PriorityMaxAge=1440", "PriorityCalcPeriod=2", "PriorityFavorSmall=YES"),
        *("PriorityDecayHalfLife=20160", "PriorityFlags=NO_FAIR_TREE"),
        "SchedulerParameters=bf_continue,bf_interval=60,bf_resolution=300,defer,bf_job_part_count_reserve=1",
    } <= set(site.settings)
    assert {entry.user for entry in site.associations.entries} == {"ann", "bo", "cy"}
    order["fairshare"]["formula"] = "alea"
    cluster["scheduler"]["rhythm"] = "event"
    scenario = parse({"workload": {"table": burst()}, "engine": "slurm", "cluster": cluster})
    assert [key for key, _ in unsupported(scenario)] == [
        "cluster.scheduler.order.fairshare.formula",
        "cluster.scheduler.rhythm",
    ]


# ---- processes, ports and files


def small_site(*more):
    lines = ("NodeName=n1 NodeAddr=127.0.0.1 CPUs=4 CoresPerSocket=4 State=UNKNOWN", *more,
             "PartitionName=batch Nodes=ALL Default=YES State=UP")  # fmt: skip
    return Site("test", lines, (Node("n1", 4, cores=4),))


def listening(pids):
    """(address, port) of every listening socket of the processes."""
    inodes = set()
    for pid in pids:
        for file in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # the descriptor of this very listing
                match = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(file))
                inodes |= {match[1]} if match else set()
    found = []
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in pathlib.Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[9] in inodes and (fields[3] == "0A" or table.startswith("udp")):
                found.append((table, fields[1].partition(":")[0]))
    return found


def test_nothing_listens_beyond_the_loopback():
    started = engine.start(small_site(), burst())
    with started.controller:
        started.simulation.run(started.base)
        sockets = listening([os.getpid(), started.controller.process])
    assert len(sockets) >= 2  # the controller, and the nodes
    assert set(sockets) <= {("tcp", "0100007F")}


def test_nothing_is_left_after_the_end():
    started = engine.start(small_site(), burst())
    controller = started.controller
    assert controller.folder.exists()
    controller.close()
    assert not controller.folder.exists()
    assert processes_of(str(controller.folder)) == []


def test_a_configuration_that_the_controller_refuses(monkeypatch):
    with tempfile.TemporaryDirectory(prefix="w", dir="/tmp") as folder:  # short: sockets have short names
        monkeypatch.setenv("WALLTIME_RUNS", folder)
        with pytest.raises(InputError, match="select/magic"):
            engine.start(small_site("SelectType=select/magic"), burst())
        assert os.listdir(folder) == []


def test_a_taken_port_is_refused():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=str(port)):
            engine.start(small_site(), burst(), options=engine.SlurmOptions(port=port))


@pytest.fixture
def runs(monkeypatch):
    """The folder of the runs, which is empty when a test ends."""
    with tempfile.TemporaryDirectory(prefix="w", dir="/tmp") as folder:  # short: sockets have short names
        monkeypatch.setenv("WALLTIME_RUNS", folder)
        yield folder
        assert os.listdir(folder) == []
        assert processes_of(folder) == []


def processes_of(folder):
    """Command lines that name the folder: wardens and controllers."""
    lines = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(path.read_bytes())
    return [line for line in lines if folder.encode() in line]


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGBUS, signal.SIGKILL])
def test_a_controller_that_dies_is_reported_with_its_log(runs, number):
    started = engine.start(small_site(), burst())
    with started.controller as controller:
        assert len(processes_of(runs)) >= 2  # a warden and a controller
        started.simulation.run(started.base + 1_000_000)
        os.kill(controller.process, number)
        with pytest.raises(ControllerError) as error:
            started.simulation.run()
    assert "the controller ended" in str(error.value)
    assert "Started JobId=1" in str(error.value)  # what it did last
    assert "not recovered" not in str(error.value)  # what it said at its start
    if number != signal.SIGKILL:  # of which nobody can leave a word
        assert f"signal {int(number)}" in str(error.value)


def test_a_controller_that_hangs_is_reported_with_its_log(runs, monkeypatch):
    monkeypatch.setattr(link, "PATIENCE", 0.3)
    started = engine.start(small_site(), burst())
    with started.controller as controller:
        started.simulation.run(started.base)
        os.kill(controller.process, signal.SIGSTOP)
        with pytest.raises(ControllerError, match=r"hangs(.|\n)*the end of its log:\n") as error:
            started.simulation.run()
    assert "neither computes nor answers" in str(error.value)


def test_a_controller_in_an_endless_loop_is_reported(runs, monkeypatch):
    site = translate(parse({"workload": {"table": burst()}, "cluster": {"nodes": "800x4"}}))
    size = 150
    jobs = Workload.from_columns(
        submit=[0] * size, run_time=[5000] * size, requested_time=[6000] * size, cores=[2000] * size
    )
    started = engine.start(site, jobs)
    monkeypatch.setattr(link, "ENDLESS", 0.0)  # any computing that takes longer than a tenth of a second
    with started.controller, pytest.raises(ControllerError, match="computes without end"):
        started.simulation.run()


def test_real_time_without_the_library(slurm):
    """The process alone, as the measurements against real time use it."""
    setting = Setting(conf=write_conf(small_site()), virtual=False)
    with Controller(slurm, setting) as controller:
        folder = controller.folder
        assert processes_of(str(folder))
    assert not folder.exists()


@pytest.mark.parametrize(
    ("order", "sharing"),
    [
        ("fcfs", {"cores": 8}),
        ({"name": "multifactor", "weights": {"age": 1000, "job_size": 100_000}}, {"cores": 8}),
        ({"name": "multifactor", "weights": {"age": 1000, "job_size": 90_000}, "favor_small": True}, {"nodes": "4x2"}),
    ],
    ids=["fcfs", "large first", "small first"],
)
def test_tasks_of_an_aware_workflow_have_one_priority(order, sharing):
    """A narrow successor is not overtaken by jobs between its own priority and that of its workflow."""
    flow = Workflow.of("flow", [Task("wide", 6, 600, 600), Task("narrow", 1, 600, 600, ("wide",))])
    others = Workload.from_columns(
        job_id=[1, 2, 3], submit=[0, 70, 80], run_time=[300] * 3, requested_time=[300] * 3, cores=[8, 4, 4]
    )
    jobs = add_workflows(others, Mix([flow], "manifest", every=9000.0, first=60.0))
    scenario = {
        "workload": jobs,
        "engine": "slurm",
        "until": 200,
        "cluster": {**sharing, "scheduler": {"order": order}},
    }
    resolved = parse(scenario)
    with engine.freeze(resolved, jobs) as started:
        commands = Frozen(started)
        commands.execute("squeue -h -t PD -o '%j %Q'", {})
        told = (started.controller.folder / "said").read_text().split()
        commands.close()
    priority = {name: int(value) for name, value in zip(told[::2], told[1::2], strict=True)}
    tasks = [priority.pop(f"flow-1/{key}") for key in ("wide", "narrow")]
    assert abs(tasks[0] - tasks[1]) <= 1
    assert not [other for other in priority.values() if min(tasks) < other < max(tasks)]
    if order != "fcfs":  # its own size would put the narrow task on the other side of the others
        own = priority["2"]
        assert (min(tasks) > own) != bool(order.get("favor_small"))


def test_aware_tasks_that_a_controller_cannot_order_are_refused():
    flow = Workflow.of("flow", [Task("a", 1, 60, 60), Task("b", 1, 60, 60, ("a",))])
    others = Workload.from_columns(job_id=[1, 2], submit=[0, 0], run_time=[9, 9], dependencies=["", "afterok:1"])
    jobs = add_workflows(others, Mix([flow], "manifest", every=9000.0))
    order = {"name": "multifactor", "weights": {"age": 1000}}
    with pytest.raises(UnsupportedError, match="accrue_always"):
        run(jobs, cores=4, policy={"order": order})
    assert run(jobs, cores=4, policy={"order": order | {"accrue_always": True}}).audit() == []
    with pytest.raises(UnsupportedError, match="TRES"):
        run(jobs, cores=4, policy={"order": order | {"tres": {"cpu": 5}}})
