"""A valid file of every kind that Walltime reads, and the function that reads it."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import yaml
from foreign import (
    ALIBABA_CONTAINERS,
    ALIBABA_INSTANCES,
    ALIBABA_TASKS,
    BATSIM,
    CONFIGURATION,
    DSLAB,
    GOOGLE,
    GOOGLE_LINES,
)

ROOT = Path(__file__).parents[2]
SITE = ROOT / "examples" / "site"


@dataclass(frozen=True)
class Kind:
    """One kind of file: its name on disk, its contents, its reader; `tree` for one that is JSON."""

    name: str
    raw: bytes
    read: Callable[[Path], object]
    tree: bool = False
    weight: int = 10
    """How many of the cases are of this kind, relative to the others."""


def find_kinds() -> dict[str, Kind]:
    """Every kind, made once."""
    return {
        **_traces(),
        **_tables(),
        **_snapshots(),
        **_workflows(),
        **_models(),
        **_clusters(),
        **_programs(),
        **_users(),
        **_slurm(),
    }


def _swf() -> bytes:
    head = "; Version: 2.2\n; MaxProcs: 16\n; UnixStartTime: 1700000000\n; TimeZoneString: Europe/Berlin\n"
    row = "{i} {s} 5 {r} {c} -1 1024 {c} 200 2048 1 {u} 1 -1 1 -1 {p} {t}\n"
    rows = (
        row.format(i=i, s=7 * i, r=30 + i, c=1 + i % 4, u=i % 3, p=i - 1 or -1, t=5 if i > 1 else -1)
        for i in range(1, 7)
    )
    return (head + "".join(rows)).encode()  # fmt: skip


SACCT = (
    b"JobID|JobName|User|Account|Partition|QOS|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocCPUS|NNodes|ReqMem|State|"
    b"AllocTRES\n"
    b"1|a b|ann|phys|batch|normal|2024-03-01T10:00:00|2024-03-01T10:05:00|2024-03-01T10:15:00|600|60|4|1|4Gn|COMPLETED|"
    b"cpu=4,mem=4G,node=1,gres/gpu=1\n"
    b"1.batch|batch||phys||||2024-03-01T10:05:00|2024-03-01T10:15:00|600||4|1|||cpu=4\n"
    b"2_3|b|bo|bio|long|high|2024-03-01T10:01:00|Unknown|Unknown|0|UNLIMITED|2|1|2Gc|CANCELLED by 5|\n"
    b"3+0|h|ann|phys|batch|normal|2024-03-01T11:00:00|2024-03-01T11:05:00|2024-03-01T12:15:00|4200|120|8|2|0|TIMEOUT|cpu=8\n"
    b"3+1|h|ann|phys|batch|normal|2024-03-01T11:00:00|2024-03-01T11:05:00|2024-03-01T12:15:00|4200|120|8|2|0|TIMEOUT|cpu=8\n"
)
TORQUE = (
    b"03/01/2024 10:00:00;Q;11.srv;queue=batch\n"
    b"03/01/2024 10:20:00;E;11.srv;user=ann group=phys queue=batch ctime=1709287200 qtime=1709287200 start=1709287500 "
    b"exec_host=n1/0+n1/1 Resource_List.nodes=1:ppn=2 Resource_List.mem=4gb Resource_List.walltime=01:00:00 "
    b"end=1709288400 resources_used.walltime=00:15:00\n"
    b'03/01/2024 10:30:00;E;12[3].srv;user=bo account="a b" ctime=1709287300 start=1709287600 end=1709288000 '
    b"exec_host=n2/0-3*2 Resource_List.select=2:ncpus=4:ngpus=1+1 Resource_List.walltime=1:00:00:00\n"
    b"03/01/2024 10:40:00;D;13.srv;requestor=root\n"
)


def _traces() -> dict[str, Kind]:
    from walltime.workload.formats import read, read_batches

    swf = _swf()
    return {
        "swf": Kind("a.swf", swf, read, weight=30),
        "swf batches": Kind("a.swf", swf, lambda path: list(read_batches(path, 2))),
        "swf.gz": Kind("a.swf.gz", gzip.compress(swf, mtime=0), read),
        "sacct": Kind("a.sacct", SACCT, read, weight=30),
        "torque": Kind("20240301", TORQUE, lambda path: read(path, format="torque"), weight=20),
        "any log": Kind("a.log", SACCT, read),
        "google": Kind("instance_events.csv", GOOGLE, lambda path: read(path, host="8x4G"), weight=20),
        "google stream": Kind("instance_events.csv", GOOGLE, lambda path: list(read_batches(path, 1))),
        "google lines": Kind("instance_events.json", GOOGLE_LINES, lambda path: read(path, format="google")),
        "alibaba tasks": Kind("batch_task.csv", ALIBABA_TASKS, lambda path: read(path, format="alibaba")),
        "alibaba instances": Kind("batch_instance.csv", ALIBABA_INSTANCES, read),
        "alibaba containers": Kind("container_meta.csv", ALIBABA_CONTAINERS, read),
        "batsim": Kind("w.json", json.dumps(BATSIM).encode(), lambda path: read(path, format="batsim"), tree=True),
        "dslab": Kind("w.json", json.dumps(DSLAB).encode(), lambda path: read(path, format="dslab"), tree=True),
        "dslab text": Kind("w.yaml", yaml.safe_dump(DSLAB).encode(), lambda path: read(path, format="dslab")),
    }


COLUMNS: dict[str, list[Any]] = {
    "job_id": [1, 2, 3],
    "submit": [0.0, 5.0, 7.5],
    "run_time": [10.0, 20.0, 5.0],
    "requested_time": [20.0, 20.0, 30.0],
    "cores": [1, 2, 4],
    "memory": [1024, 2048, 0],
    "user": ["ann", "bo", None],
    "name": ["a", "b", "c"],
    "dependencies": [None, "afterok:1", None],
    "constraint": [None, "ib&ssd", None],
    "array": [None, "7%2", "7%2"],
}


def _tables() -> dict[str, Kind]:
    from walltime.workload.formats import read
    from walltime.workload.formats.mapped import read_mapped

    table = pl.DataFrame(COLUMNS)
    parquet = io.BytesIO()
    table.write_parquet(parquet, metadata={"walltime": json.dumps({"origin": {"epoch": 5.0}, "header": {"a": "b"}})})
    theirs = b"when,long,n,who,mem\n2024-03-01 10:00:00,1-00:10:00,4,ann,2.5\n2024-03-01T11:00:00,30,2,bo,\n"
    names = {"submit": "when", "run_time": "long", "cores": "n", "user": "who", "memory": "mem:gb"}
    return {
        "csv": Kind("a.csv", table.write_csv().encode(), read, weight=20),
        "parquet": Kind("a.parquet", parquet.getvalue(), read, weight=5),
        "mapped": Kind("a.csv", theirs, lambda path: read_mapped(path, names, "Europe/Berlin")),
    }


SQUEUE = (
    b"JOBID|STATE|USER|ACCOUNT|PARTITION|QOS|CPUS|NODES|TIME_LIMIT|SUBMIT_TIME|START_TIME|TIME|PRIORITY|REASON\n"
    b"11|RUNNING|ann|phys|batch|normal|4|1|1-00:00:00|2024-03-01T10:00:00|2024-03-01T10:05:00|5:00|100|None\n"
    b"12_[3-5,7%2]|PENDING|bo|bio|long|high|2|1|30:00|2024-03-01T10:01:00|N/A|0:00|90|Priority\n"
    b"13+0|PENDING|bo|bio|long|high|2|1|30:00|2024-03-01T10:01:00|N/A|0:00|90|Priority\n"
    b"13+1|PENDING|bo|bio|long|high|2|1|30:00|2024-03-01T10:01:00|N/A|0:00|90|Priority\n"
    b"14|PENDING|bo|bio|long|high|1K|1-2|UNLIMITED|2024-03-01T10:01:00|2024-03-02T10:01:00|0:00|90|BeginTime\n"
)
PLAIN = (
    b"             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"
    b"                11     batch  my run      ann  R       5:00      1 n1\n"
    b"           12_[3-5]     long     b       bo PD       0:00      1 (Priority)\n"
)
SSHARE = b"Account|User|RawShares|RawUsage\nroot||1|100\nphys||1|60\nphys|ann|1|60\nbio|bo|2|40.5\n"


def _snapshots() -> dict[str, Kind]:
    from walltime.scenario.reading.shares import read_shares
    from walltime.workload.snapshot.files import read_snapshot, read_usage

    number = {"set": True, "infinite": False, "number": 5}
    jobs = [
        {"job_id": 1, "job_state": ["RUNNING"], "cpus": number, "time_limit": number, "user_name": "ann",
         "submit_time": {"set": True, "number": 1709287200}, "start_time": 1709287300, "node_count": 1},
        {"job_id": 2, "job_state": "PENDING", "array_job_id": number, "array_task_string": "1-3%2", "cpus": 4,
         "time_limit": {"set": True, "infinite": True, "number": 0}, "priority": 7, "state_reason": "Priority"},
    ]  # fmt: skip
    table = b"job_id,submit,cores,requested_time,started,user,nodes\n1,0,4,3600,10,ann,1\n2,5,2,1:00:00,,bo,\n"
    return {
        "squeue": Kind("q.txt", SQUEUE, read_snapshot, weight=20),
        "squeue plain": Kind("q.txt", PLAIN, read_snapshot),
        "squeue json": Kind("q.json", json.dumps({"jobs": jobs}).encode(), read_snapshot, tree=True, weight=20),
        "snapshot table": Kind("q.csv", table, read_snapshot),
        "sshare": Kind("s.txt", SSHARE, read_usage),
        "sshare plain": Kind(
            "s.txt", b"Account User RawUsage\n------- ---- --------\nphys    ann        60\n", read_usage
        ),
        "shares": Kind("shares.txt", b"ann 5\nbo: 3 # both\ncy,2.5\n", read_shares),
    }


DAX = (
    b'<?xml version="1.0"?>\n<adag xmlns="http://x" name="w">\n<job id="a" name="n" runtime="5,5" cores="2">'
    b'<profile namespace="pegasus" key="cores">2</profile></job>\n<job id="b" runtime="7"/>\n'
    b'<child ref="b"><parent ref="a"/></child>\n</adag>\n'
)


def _workflows() -> dict[str, Kind]:
    from walltime.workload.formats.workflows import read_workflow

    manifest = {
        "tasks": [
            {"id": "a", "number_of_cores": 2, "runtime_sim": 50, "runtime_limit": 60},
            {"id": "b", "cores": 1, "rtime": 5.5, "deps": ["a"], "name": "second"},
        ],
        "dot_dag": 'digraph { a -> b; "a" -> "b" }',
    }
    tasks = [{"id": "a", "name": "a", "children": ["b"]}, {"id": "b", "name": "b", "parents": ["a"]}]
    ran = [
        {"id": "a", "runtimeInSeconds": 5, "coreCount": 2, "memoryInBytes": 1024},
        {"id": "b", "runtimeInSeconds": 1.5},
    ]
    flow = {"name": "w", "workflow": {"specification": {"tasks": tasks}, "execution": {"tasks": ran}}}
    return {
        "manifest": Kind("w.json", json.dumps(manifest).encode(), read_workflow, tree=True, weight=20),
        "wfformat": Kind("w.json", json.dumps(flow).encode(), read_workflow, tree=True, weight=20),
        "dax": Kind("w.dax", DAX, read_workflow),
    }


def _models() -> dict[str, Kind]:
    from walltime.workload.models.file import read_model
    from walltime.workload.synthesis.insertion_file import load_insertions

    variable = {"width": 60.0, "bins": [[0, 5], [2, 3]]}
    model = {
        "walltime_model": 1,
        "kind": "empirical",
        "source": {"log": "a.swf", "jobs": 10, "days": 5.0},
        "rates": {"jobs_per_day": 2.0, "core_hours_per_day": 5.0},
        "variables": {"interarrival": variable, "cores": variable},
        "rhythm": {"hours": [1.0] * 168, "day_spread": 0.1, "gaps": [0.5, 1.5]},
        "queues": ["batch"],
        "groups": 1,
        "others": {"users": [5], "groups": [0], "sizes": [[1, 5]], "likeness": 0.5},
        "pool": {"jobs": [5], "repeat": [0.1], "cores": [2], "requested_time": [600.0], "queue": [0],
                 "memory": [None], "gpus": [0]},
        "outcomes": [{"requested_time": None, "cores": 8, "quantiles": [0.1, 1.0]}],
    }  # fmt: skip
    pair = {"together": [{"cores": 1, "run_time": 5, "delay": 3}]}
    insertions = [
        {
            "name": "x",
            "trigger": {"kind": "periodic", "every": "6h", "first": 5},
            "choose": "weighted",
            "jobs": [{"cores": 4, "run_time": "1h", "weight": 2.5}, pair],
        },
        {
            "trigger": {"kind": "realarm", "first": 5, "again": [1, 2]},
            "jobs": [{"cores": 1, "run_time": 9, "user": "ann"}],
        },
    ]
    return {
        "model": Kind("m.json", json.dumps(model).encode(), read_model, tree=True, weight=20),
        "insertions": Kind("i.yaml", json.dumps(insertions).encode(), load_insertions, tree=True),
        "insertions text": Kind("i.yaml", yaml.safe_dump(insertions).encode(), load_insertions),
    }


def _clusters() -> dict[str, Kind]:
    from walltime.scenario.clusterfile import read_clusters
    from walltime.scenario.reading.loading import load_cluster

    table = b"cluster,count,cores,name,speed,memory,gpus,features\na,4,8,n,1.0,64,2,ib ssd\nb,2,16,m,0.5,,,\n"
    clusters = {
        "clusters": [{"name": "a", "nodes": [{"count": 2, "cores": 4, "name": "n"}]}, {"name": "b", "cores": 8}],
        "broker": {"name": "first", "hold": True},
    }
    machines = b"; machines\n0\ta\t4\t8\t1.0\t4194304\tib:ssd\t2\n"
    return {
        "cluster table": Kind("c.csv", table, read_clusters),
        "clusters": Kind("c.yaml", json.dumps(clusters).encode(), read_clusters, tree=True),
        "cluster": Kind(
            "c.yaml", b"cluster:\n  nodes: 4x8\n  queues:\n    long: {max_time: 2d, priority: 5}\n", load_cluster
        ),
        "machines": Kind("a.machines", machines, load_cluster),
    }


def _users() -> dict[str, Kind]:
    from walltime.workload.users.alea import read_batches, read_sessions

    batches = b"1\t1\t0\t900\tjob:1\tjob:2\n1\t2\t1200\t1260\tafter_arrival:1|1\tafter_completion:1|1\tjob:3.srv\n"
    return {
        "sessions": Kind("set_ann_sessions", b"1\t0\t1200\t1260\n2\t5400\t5400\t5460\n", read_sessions),
        "batches": Kind("set_ann_batches", batches, read_batches),
    }


PROFILES = {
    "work": {"type": "compute-homogenous", "args": {"compute_work": 1e9}},
    "talk": {"type": "communication-matrix", "args": {"matrix": [[0, 1], [2, 0]]}},
    "again": "work",
    "out": {"type": "communication-external", "args": {"processes": [0], "component_name": "s", "input_size": 5}},
    "both": {"type": "parallel", "args": {"repeat": 2, "profiles": ["again", {"type": "idle", "args": {"time": 3}}]}},
    "all": {"type": "sequence", "args": {"profiles": ["both", "talk", {"type": "disk-ops", "args": {"read_size": 1}}]}},
}
LINKS = {
    "links": [
        {"name": "a", "from": "n0", "to": "s", "bandwidth": 1e9, "latency": 1e-6},
        {"name": "b", "from": "s", "to": "n1", "bandwidth": 10, "duplex": False},
    ],
    "routes": [{"from": "n0", "to": "n1", "links": ["a", "b"]}],
}


def _programs() -> dict[str, Kind]:
    from walltime.cluster.graph import read_plan
    from walltime.cluster.network import Graph
    from walltime.programs.profiles import read_profiles
    from walltime.scenario import load

    def connect(path: Path) -> object:
        return Graph(2, ["n0", "n1"], read_plan(path)).route(0, 1)

    return {
        "profiles": Kind("p.json", json.dumps(PROFILES).encode(), read_profiles, tree=True),
        "batsim profiles": Kind("p.json", json.dumps(BATSIM).encode(), read_profiles, tree=True),
        "dslab configuration": Kind("c.json", json.dumps(CONFIGURATION).encode(), load, tree=True),
        "profiles text": Kind("p.yaml", yaml.safe_dump(PROFILES, sort_keys=False).encode(), read_profiles),
        "links": Kind("l.json", json.dumps(LINKS).encode(), connect, tree=True),
    }


def _slurm() -> dict[str, Kind]:
    from walltime.site.associations import read_associations, read_qualities
    from walltime.site.conf import read_conf
    from walltime.site.events import read_events as read_outages
    from walltime.site.events import read_windows
    from walltime.site.importing.scenario import import_site
    from walltime.site.scontrol import read_assoc_mgr
    from walltime.slurm.conf.simulated import make_site
    from walltime.slurm.events import read_events

    outages = b"NodeName|TimeStart|TimeEnd|State\nn[1-2]|2026-10-14T08:00:00|2026-10-14T09:00:00|DOWN\n"
    window = b"ReservationName=m StartTime=2026-10-14T08:00:00 EndTime=2026-10-14T09:00:00\n   Nodes=n1 Users=root\n"
    manager = b"""ClusterName=c Account=physics UserName=ann(2) Partition= Priority=0 ID=7
    SharesRaw/Norm/Level/Factor=4/0.50/2/0.20
    ParentAccount=physics(6) Lft=11 DefAssoc=Yes
    MaxJobs=20(7) GrpTRES=cpu=256(2),mem=N(4)
QOS=normal(1)
    MaxTRESPU=cpu=512(85) Priority=10 PreemptMode=OFF
"""
    events = b"2h scontrol update nodename=n1 state=down reason=x # broken\n1-00:00:00 scancel 5\n"
    return {
        "slurm.conf": Kind("slurm.conf", (SITE / "slurm.conf").read_bytes(), lambda path: make_site(read_conf(path))),
        "associations": Kind("a.dump", (SITE / "associations.dump").read_bytes(), read_associations),
        "qos": Kind("qos.txt", (SITE / "qos.txt").read_bytes(), read_qualities),
        "events": Kind("events.txt", events, read_events),
        "imported": Kind("slurm.conf", (SITE / "slurm.conf").read_bytes(), lambda path: import_site([path])),
        "outages": Kind("outages.txt", outages, read_outages),
        "windows": Kind("windows.txt", window, read_windows),
        "assoc_mgr": Kind("manager.txt", manager, read_assoc_mgr),
    }
