"""An imported site runs on both engines, and they see the same machine, queues and jobs."""

from pathlib import Path

import pytest

import walltime
from walltime.scenario import parse
from walltime.site.importing.scenario import import_site

SITE = Path(__file__).parents[4] / "examples" / "site"


def test_the_same_scenario_runs_natively_and_on_the_controller(slurm):
    made = import_site([SITE / name for name in ("slurm.conf", "associations.dump", "qos.txt", "jobs.csv")], folder="/")
    made.data["workload"] = str(SITE / "jobs.csv")
    native, real = (walltime.simulate(parse(made.data | {"engine": engine})) for engine in ("native", "slurm"))
    assert native.record.facts["clusters"] == real.record.facts["clusters"] == {"example": 512}
    for result in (native, real):
        assert set(result.jobs["state"]) <= {"completed", "timeout"}
        assert result.summary["jobs"] == 130
    assert native.jobs["queue"].to_list() == real.jobs["queue"].to_list()


NODES = "NodeName=n[1-3] CPUs=8 Sockets=2 CoresPerSocket=2 ThreadsPerCore=2"
"""What a node is, where the tests say nothing else."""


def both_ways(folder, jobs, nodes=NODES, select="CR_Core", partition=""):
    """The jobs on the imported scenario natively, and on a controller that has the very same slurm.conf."""
    conf = folder / "slurm.conf"
    conf.write_text(
        f"ClusterName=t\nSlurmctldHost=h\nSelectType=select/cons_tres\nSelectTypeParameters={select}\n{nodes}\n"
        f"PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE {partition}\n"
    )
    data = import_site([conf], folder=folder).data
    native = walltime.simulate(jobs, cluster=data["cluster"])
    real = walltime.simulate(jobs, engine="slurm", slurm={"conf": str(conf)})
    return native, real


def make_jobs(cores, **more):
    count = len(cores)
    alike = {"submit": [10 * row for row in range(count)], "run_time": [1000] * count, "requested_time": [1200] * count}
    return walltime.Workload.from_columns(cores=cores, **(alike | more))


def starts_apart(native, real):
    return max(abs(a - b) for a, b in zip(native.jobs["start"], real.jobs["start"], strict=True))


def test_a_job_has_whole_cores_of_two_threads(slurm, tmp_path):
    """Each of three nodes has four cores: of jobs of three threads two fit, where eight threads alone held two and a
    half; of single threads four and not eight."""
    native, real = both_ways(tmp_path, make_jobs([3, 1, 3, 1, 1, 5, 3, 1, 1, 1, 7, 3]))
    assert starts_apart(native, real) < 5
    native, real = both_ways(tmp_path, make_jobs([1] * 14))
    assert starts_apart(native, real) < 5
    assert native.jobs["start"][12] >= 1000
    native, real = both_ways(tmp_path, make_jobs([3] * 6, nodes=[2] * 6))
    assert starts_apart(native, real) < 5


def test_cpus_that_are_cores_are_given_one_by_one(slurm, tmp_path):
    """Where as many CPUs as cores are told, the threads do not count."""
    nodes = NODES.replace("CPUs=8", "CPUs=4")
    native, real = both_ways(tmp_path, make_jobs([1, 3, 2, 3, 1, 2, 4, 1]), nodes)
    assert starts_apart(native, real) < 5
    assert native.jobs["cores"].to_list() == [1, 3, 2, 3, 1, 2, 4, 1]


def test_least_loaded_nodes_are_those_of_the_controller(slurm, tmp_path):
    jobs = make_jobs([1, 1, 1, 1, 1, 2, 4, 3, 2])
    usual, _ = both_ways(tmp_path, jobs, "NodeName=n[1-4] CPUs=4")
    for select, partition in (("CR_CPU,CR_LLN", ""), ("CR_CPU", "LLN=YES")):
        native, real = both_ways(tmp_path, jobs, "NodeName=n[1-4] CPUs=4", select, partition)
        assert native.allocations["nodes"].to_list() == real.allocations["nodes"].to_list()
        assert native.allocations["nodes"].to_list() != usual.allocations["nodes"].to_list()


def test_least_loaded_nodes_of_one_partition_are_those_of_the_controller(slurm, tmp_path):
    """Jobs of both partitions on the same nodes, by turns."""
    queues = ["main", "spread", "main", "spread", "spread", "main", "spread", "main", "spread"]
    jobs = make_jobs([1, 1, 1, 1, 2, 2, 3, 1, 1], queue=queues)
    spread = "State=UP\nPartitionName=spread Nodes=ALL MaxTime=INFINITE LLN=YES"
    native, real = both_ways(tmp_path, jobs, "NodeName=n[1-4] CPUs=4", "CR_CPU", spread)
    assert native.allocations["nodes"].to_list() == real.allocations["nodes"].to_list()
    alike, _ = both_ways(tmp_path, jobs, "NodeName=n[1-4] CPUs=4", "CR_CPU", spread.replace("LLN=YES", ""))
    assert native.allocations["nodes"].to_list() != alike.allocations["nodes"].to_list()
    cluster = {"nodes": "4x4", "queues": {"main": {}, "spread": {"place": "worst-fit"}}}
    told = cluster | {"scheduler": {"backfill": "conservative", "rhythm": "slurm"}}
    result = walltime.simulate(jobs, cluster=told, engine="slurm")
    assert result.allocations["nodes"].to_list() == real.allocations["nodes"].to_list()


def test_a_partition_with_whole_nodes_is_that_of_the_controller(slurm, tmp_path):
    """Jobs of both partitions on the same nodes, by turns."""
    queues = ["main", "own", "main", "own", "own", "main", "own", "main", "own", "main"]
    times = [1000, 500, 700, 400, 300, 800, 900, 200, 100, 50]
    jobs = make_jobs([1, 1, 2, 6, 3, 1, 2, 1, 1, 9], queue=queues, run_time=times)
    own = "State=UP\nPartitionName=own Nodes=ALL MaxTime=INFINITE OverSubscribe=EXCLUSIVE"
    native, real = both_ways(tmp_path, jobs, "NodeName=n[1-4] CPUs=4", "CR_CPU", own)
    assert native.allocations["nodes"].to_list() == real.allocations["nodes"].to_list()
    assert starts_apart(native, real) < 5
    alike, _ = both_ways(tmp_path, jobs, "NodeName=n[1-4] CPUs=4", "CR_CPU", own.replace("EXCLUSIVE", "NO"))
    assert native.allocations["nodes"].to_list() != alike.allocations["nodes"].to_list()
    cluster = {"nodes": "4x4", "queues": {"main": {"default": True}, "own": {"sharing": "whole"}}}
    told = cluster | {"scheduler": {"backfill": "conservative", "rhythm": "slurm"}}
    result = walltime.simulate(jobs, cluster=told, engine="slurm")
    assert result.allocations["nodes"].to_list() == real.allocations["nodes"].to_list()


MEGABYTE = 1 << 20


@pytest.mark.parametrize(
    ("settings", "partition", "columns"),
    [
        ("", "", {"cores": [1, 1, 1, 1, 2]}),
        ("", "", {"cores": [1] * 5, "memory_per_node": [1000, None, 1000, 1000, None]}),
        ("DefMemPerCPU=1000", "", {"cores": [1] * 14}),
        ("DefMemPerCPU=2000", "", {"cores": [4, 2, 8, 1]}),
        ("DefMemPerCPU=1000", "DefMemPerNode=3000", {"cores": [1] * 5}),
        ("DefMemPerNode=3000", "DefMemPerCPU=0", {"cores": [1] * 5}),
        ("MaxMemPerCPU=1000", "", {"cores": [1, 1, 2, 1, 3], "memory_per_core": [2000, 2500, 1500, 1000, 1100]}),
        ("MaxMemPerCPU=1000", "MaxMemPerCPU=2000", {"cores": [1, 1, 1], "memory_per_core": [1000, 1500, 2500]}),
        (
            "MaxMemPerCPU=1000",
            "",
            {
                "cores": [1, 1, 2, 2, 3, 6, 6],
                "nodes": [1, 1, 1, 2, 1, 2, 3],
                "memory_per_node": [2000, 2500, 1500, 3000, 3900, 4000, 1500],
            },
        ),
        ("MaxMemPerCPU=1000\nDefMemPerCPU=2000", "", {"cores": [1, 1, 2]}),
        (
            "MaxMemPerNode=2000\nDefMemPerCPU=100",
            "",
            {
                "cores": [1, 1, 2, 2, 3, 3],
                "nodes": [1, 1, 1, 2, None, 1],
                "memory_per_core": [1000, 2500, 1500, 1500, 1000, 1000],
            },
        ),
    ],
)
def test_memory_by_default_and_at_most_is_that_of_the_controller(slurm, tmp_path, settings, partition, columns):
    """Natively, and on a controller that has the slurm.conf, or what the scenario says."""
    jobs = make_jobs(**{
        name: [value and value * MEGABYTE for value in column] if name.startswith("memory") else column
        for name, column in columns.items()
    })  # fmt: skip
    nodes = "NodeName=n[1-3] CPUs=4 RealMemory=4000\nEnforcePartLimits=ANY"
    native, real = both_ways(tmp_path, jobs, f"{nodes}\n{settings}", "CR_Core_Memory", partition)
    cluster = import_site([tmp_path / "slurm.conf"], folder=tmp_path).data["cluster"]
    told = walltime.simulate(jobs, cluster=cluster, engine="slurm")
    assert native.audit() == []
    for other in (real, told):
        assert native.jobs["state"].to_list() == other.jobs["state"].to_list()
        assert native.allocations["nodes"].to_list() == other.allocations["nodes"].to_list()
        started = [(a, b) for a, b in zip(native.jobs["start"], other.jobs["start"], strict=True) if a is not None]
        assert max(abs(a - b) for a, b in started) < 5


def test_jobs_accrue_age_one_after_the_other_as_on_the_controller(slurm):
    """Ann has many jobs and bo few; each grows older with two of them at a time, so bo's come between."""
    users, later = ["cy", *["ann"] * 6, *["bo"] * 5], [0, *range(10, 16), *range(4000, 4005)]
    jobs = make_jobs([4] * 12, user=users, submit=later, run_time=[9000] + [2000] * 11, requested_time=[9600] * 12)
    order = {"name": "multifactor", "weights": {"age": 100_000}, "max_age": "1d", "interval": "1m"}
    scheduler = {"backfill": "conservative", "rhythm": "slurm", "order": order}
    cluster = {"nodes": "1x4", "scheduler": scheduler, "limits": [{"per": "user", "accruing_jobs": 2}]}
    native, real = (walltime.simulate(jobs, cluster=cluster, engine=name) for name in ("native", "slurm"))
    assert starts_apart(native, real) < 15  # a controller takes a moment for each start
    assert native.jobs.sort("start")["user"].to_list()[3:5] == ["bo", "bo"]


def test_a_job_that_was_put_back_grows_older_anew_as_on_the_controller(slurm):
    """Its node fails: it comes behind two jobs that were submitted before that, and before one that was not."""
    jobs = make_jobs([4] * 4, submit=[0, 300, 400, 1500], run_time=[3000] * 4, requested_time=[3600] * 4)
    order = {"name": "multifactor", "weights": {"age": 100_000}, "max_age": "1d", "interval": "1m"}
    cluster = {
        **{"nodes": [{"count": 1, "cores": 4, "name": "n"}], "interrupted": "requeue", "requeue_delay": 121},
        "failures": [{"nodes": ["n"], "at": 600, "length": 600, "known": False}],
        "scheduler": {"backfill": "none", "rhythm": "slurm", "order": order},
    }
    for name in ("native", "slurm"):
        found = walltime.simulate(jobs, cluster=cluster, engine=name).allocations.sort("start")
        assert found["job_id"].to_list() == [1, 2, 3, 1, 4], name


def test_tasks_that_are_packed_within_a_job_change_nothing(slurm, tmp_path):
    native, real = both_ways(tmp_path, make_jobs([1, 1, 2, 3, 5, 4]), "NodeName=n[1-4] CPUs=4", "CR_CPU,CR_Pack_Nodes")
    assert native.allocations["nodes"].to_list() == real.allocations["nodes"].to_list()


def test_a_scenario_with_threads_is_the_same_on_both_engines(slurm):
    """Without a slurm.conf the controller is told of the threads by the scenario."""
    cluster = {"nodes": "2x8", "threads_per_core": 2, "scheduler": {"backfill": "conservative", "rhythm": "slurm"}}
    jobs = make_jobs([1] * 10)
    native, real = (walltime.simulate(jobs, cluster=cluster, engine=name) for name in ("native", "slurm"))
    assert starts_apart(native, real) < 5
    assert native.jobs["start"][8] >= 1000


HETEROGENEOUS = """JobID|User|Partition|Submit|Start|End|Timelimit|ReqCPUS|NNodes|State
1+0|ann|main|2026-10-05T08:00:00|2026-10-05T08:00:00|2026-10-05T09:00:00|02:00:00|2|1|COMPLETED
1+1|ann|main|2026-10-05T08:00:00|2026-10-05T08:00:00|2026-10-05T09:00:00|02:00:00|{cores}|1|COMPLETED
1+1.batch|||2026-10-05T08:00:00|2026-10-05T08:00:00|2026-10-05T09:00:00||9|1|COMPLETED
"""


def test_a_log_with_heterogeneous_jobs_runs_on_both_engines(slurm, tmp_path):
    """One whose parts differ has alike nodes, which is told; where they are alike nothing is changed."""
    (tmp_path / "slurm.conf").write_text(f"SelectType=select/cons_tres\n{NODES}\nPartitionName=main Nodes=ALL\n")
    for cores, uneven in (("6", True), ("2", False)):
        (tmp_path / "log.sacct").write_text(HETEROGENEOUS.format(cores=cores))
        made = import_site([tmp_path / "slurm.conf", tmp_path / "log.sacct"], folder=tmp_path)
        assert ("adjust" in made.data["workload"]) == uneven
        assert any(line.startswith("HetJob: ") for line in made.findings.lines("nearly")) == uneven
        made.data["workload"]["trace"] = str(tmp_path / "log.sacct")
        for engine in ("native", "slurm"):
            (job,) = walltime.simulate(parse(made.data | {"engine": engine})).jobs.iter_rows(named=True)
            assert (job["state"], job["cores"], job["nodes"]) == ("completed", 2 + int(cores), 2)
