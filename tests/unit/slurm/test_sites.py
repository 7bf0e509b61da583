"""Whole configurations as sites have them, each after the manner of a public one, run on the real controller."""

from pathlib import Path

import pytest

from walltime import Workload, simulate
from walltime.slurm import engine

pytestmark = pytest.mark.usefixtures("slurm")
SITES = Path(__file__).parent / "sites"
CAPACITY = {
    "departmental": 128,
    "elastic": 32,
    "federated": 48,
    "cray": 8192,
    "gpu": 192,
    "gang": 64,
    "teaching": 392,
}
"""Cores in each; those of nodes that are not there do not count, and cores that two jobs may have count twice."""


def make_jobs(queues, **more):
    """Forty jobs of three users over the site's partitions, more than the small sites can run at once."""
    size = 40
    columns = {
        "submit": [20 * i for i in range(size)],
        "run_time": [200 + 50 * (i % 7) for i in range(size)],
        "requested_time": [900] * size,
        "cores": [(1, 4, 8, 2)[i % 4] for i in range(size)],
        "user": [("ann", "bo", "cy")[i % 3] for i in range(size)],
        "queue": [queues[i % len(queues)] for i in range(size)],
    }
    return Workload.from_columns(**columns | {name: [value(i) for i in range(size)] for name, value in more.items()})


def run(name, jobs, until=None, **more):
    folder = SITES / name
    given = {"conf": str(folder / "slurm.conf"), "associations": "flat"}
    if (folder / "associations.dump").exists():
        given |= {"associations": str(folder / "associations.dump"), "qos": str(folder / "qos.txt")}
    return simulate(jobs, engine="slurm", slurm=given | more, until=until)


JOBS = {
    "departmental": make_jobs(["normal"]),
    "elastic": make_jobs(["main", "debug"]),
    "federated": make_jobs(["cpubase", "gpubase"], gpus=lambda i: i % 2),
    "cray": make_jobs(["regular_cpu", "debug_cpu"], licences=lambda i: "scratch:20" if i % 5 == 0 else ""),
    "gpu": make_jobs(
        ["ampere", "volta", "scavenge"], gpus=lambda i: 1 + i % 4, resources=lambda i: "nvme:1" * (i % 3 == 0)
    ),
    "gang": make_jobs(["shared", "urgent"]),
    "teaching": make_jobs(["serial", "parallel", "all"]),
}


@pytest.mark.parametrize("name", CAPACITY)
def test_a_site_runs(name):
    more = {"drop_unknown": True} if name in ("cray", "teaching") else {}
    first = run(name, JOBS[name], **more)
    assert first.audit() == []
    assert set(first.jobs["state"]) <= {"completed", "timeout"}, first.record.facts["rejected_reasons"]
    assert first.record.facts["complaints"] == []
    assert sum(first.record.facts["clusters"].values()) == CAPACITY[name]


def test_cloud_nodes_are_capacity_where_they_are_taken_for_it():
    result = run("elastic", make_jobs(["main", "accel"], gpus=lambda i: i % 2), cloud=True)
    assert sum(result.record.facts["clusters"].values()) == 32 + 160 + 96
    assert set(result.jobs["state"]) == {"completed"}
    lonely = run("elastic", make_jobs(["accel"]), until=900)
    assert set(lonely.jobs["state"]) == {"waiting"}  # a partition of nodes that are not there
    assert sum(lonely.record.facts["waiting_reasons"].values()) == 40


def ask(name, jobs, question, until, **more):
    """What a command of Slurm's says at an instant."""
    from walltime.scenario import parse
    from walltime.slurm.paused import Frozen

    folder = SITES / name
    given = {"conf": str(folder / "slurm.conf"), "associations": "flat"} | more
    scenario = engine.complete(parse({"workload": {"table": jobs}, "engine": "slurm", "slurm": given, "until": until}))
    with engine.freeze(scenario, jobs) as started:
        Frozen(started).execute(question, {})
        return (started.controller.folder / "said").read_text()


def test_cards_come_with_the_cores_beside_them():
    jobs = Workload.from_columns(
        submit=[0, 0], run_time=[500] * 2, requested_time=[900] * 2, cores=[1, 1], gpus=[1, 1], queue=["ampere"] * 2,
        user=["ann", "bo"], nodes=[1, 1],
    )  # fmt: skip
    told = ask("gpu", jobs, "scontrol show node a01", 60)
    assert "Gres=gpu:a100:4(S:0-1),nvme:2" in told
    told = ask("gpu", jobs, "scontrol show -d job", 60)
    assert told.count("GRES=gpu:a100:1(IDX:") == 2
    assert "gres/gpu:a100=1" in told  # it is accounted for by its type
    assert "billing=" in told


def test_everybody_is_known_with_equal_shares_and_past_usage_counts(tmp_path):
    jobs = make_jobs(["cpubase"])
    usage = tmp_path / "sshare.txt"
    usage.write_text("Account|User|RawUsage\nroot||900\n everybody||900\n  everybody|ann|900000\n  everybody|bo|100\n")
    before = ask("federated", jobs, "sshare -a -P -l -o User,RawShares,RawUsage,FairShare", 0.1)
    shares = {line.split("|")[0]: line.split("|")[1:] for line in before.splitlines()[1:]}
    assert [shares[user][0] for user in ("ann", "bo", "cy")] == ["1"] * 3
    assert len({shares[user][2] for user in ("ann", "bo", "cy")}) == 1
    after = ask("federated", jobs, "sshare -a -P -l -o User,RawShares,RawUsage,FairShare", 0.1, usage=str(usage))
    shares = {line.split("|")[0]: line.split("|")[1:] for line in after.splitlines()[1:]}
    assert 899_000 < float(shares["ann"][1]) <= 900_000  # two minutes of decay
    assert float(shares["ann"][2]) < float(shares["bo"][2]) < float(shares["cy"][2])


def test_age_and_fair_share_decide_without_a_dump():
    told = ask("federated", make_jobs(["cpubase"]), "sprio -h -o '%i %A %F'", 700)
    rows = [line.split() for line in told.splitlines()]
    assert rows
    assert any(float(fair) > 0 for _, _, fair in rows)


def test_too_little_memory_is_told_with_the_reason(tmp_path):
    conf = tmp_path / "slurm.conf"
    conf.write_text(
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\n"
        "NodeName=n[1-2] CPUs=4 RealMemory=4000\nPartitionName=p Nodes=ALL Default=YES\n"
    )
    jobs = Workload.from_columns(
        submit=[0] * 4, run_time=[500] * 4, requested_time=[600] * 4, cores=[1] * 4,
        memory_per_node=[3 << 30, 3 << 30, 3 << 30, 8 << 30],
    )  # fmt: skip
    facts = simulate(jobs, engine="slurm", slurm={"conf": str(conf)}, until=100).record.facts
    assert facts["rejected_reasons"] == {"more memory than any node has (4000 MB)": 1}
    assert facts["waiting_reasons"] == {"Resources": 1}
