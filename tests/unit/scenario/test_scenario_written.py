"""Whatever a scenario says is written, and read back the same: every key of every model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from walltime.scenario import Part, Scenario, dump, load, parse
from walltime.scenario.reading.problems import model_of
from walltime.scenario.values import Model, is_file

CAPS = {
    "running_jobs": 1,
    "running_cores": 2,
    "running_gpus": 3,
    "running_memory": "4G",
    "running_core_minutes": 5,
    "submitted_jobs": 6,
}
WHO = {
    "users": ["ann"],
    "groups": ["atlas"],
    "accounts": ["phys"],
    "min_cores": 2,
    "max_cores": 4,
    "min_time": "1m",
    "max_time": "1h",
}
NODES = {
    "count": 4,
    "cores": 8,
    "speed": 1.5,
    "name": "fast",
    "memory": "94G",
    "gpus": 2,
    "resources": {"scratch": 400},
    "features": ["ib", "ssd"],
    "per_switch": 2,
    "max_load": 3,
    "quantum": 0.1,
    "switch_cost": 0.01,
    "sync_delay": 0.02,
}
QUEUE = {
    "priority": 3,
    "nodes": ["fast[0-1]"],
    "order": {"name": "formula", "value": "wait"},
    "place": "worst-fit",
    "sharing": "whole",
    "default_memory": "2G/core",
    "max_memory": "64G/node",
    "job_factor": 7,
    "default_time": "10m",
    "per_user": CAPS,
    "per_group": {"running_jobs": 1},
    "per_account": {"running_jobs": 1},
    "default": True,
    **{key: value for key, value in WHO.items() if key != "min_time"},
    **CAPS,
}
SITE = {
    "walltime": 1,
    "seed": 3,
    "until": "2026-11-15T12:00",
    "timezone": "Europe/Prague",
    "workload": {"trace": "log.csv", "format": "table", "columns": {"submit": "when"}, "missing_request": "max",
                 "adjust": {"run_on": True, "shake": "5m", "moves": [{"sources": ["short"], "to": "long", "min_cores":
                              2, "max_cores": 9, "min_time": "1h", "max_time": "2h"}], "alike": True}},
    "cluster": {
        "name": "big",
        "nodes": [NODES, "2x4"],
        "sharing": "whole",
        "default_memory": "all",
        "max_memory": "4G/core",
        "licences": {"matlab": 2},
        "queues": {"long": QUEUE, "short": {}},
        "routes": [{"queue": "long", "named": ["old"], **WHO}],
        "accounts": {"root": {}, "phys": {"parent": "root", "users": ["ann"], "shares": 2, "priority": 4}},
        "shares": "shares.txt",
        "limits": [
            {"per": "user", "accruing_jobs": 0},
            {"user": ["ann"], "group": ["g"], "account": ["phys"], "qos": ["high"], "optional": True, **CAPS},
            {"per": "queue", "queue": ["long"], "running_jobs": 3},
        ],
        "reservations": [
            {"name": "m", "start": "2026-11-15T08:00", "length": 60, "every": "1d", "times": 3, "nodes": ["fast0"]},
            {"name": "r", "start": 0, "length": 60, "count": 1, "users": ["a"], "groups": ["b"], "accounts": ["phys"]},
        ],
        "failures": [
            {"nodes": ["fast"], "together": 2, "known": False, "notice": 5,
             "between": {"distribution": "weibull", "mean": "30d", "shape": 0.7},
             "repair": {"distribution": "lognormal", "mean": "1h", "sigma": 0.5}},
            {"at": 5, "length": 6},
            {"file": "failures.txt"},
        ],
        "interrupted": "checkpoint",
        "requeue_delay": 121,
        "attributes": {"reliability": 0.99},
        "scheduler": {
            "order": "sjf",
            "backfill": {"name": "depth", "depth": 3},
            "estimate": {"name": "factor", "factor": 2},
            "place": "best-fit",
            "holds": "named",
            "preempt": {"name": "qos", "mode": "kill"},
            "rhythm": {"name": "periodic", "bf_interval": 60},
        },
    },
    "execution": {"model": {"name": "gang", "slot": 2}, "overrun": "kill", "overtime": 60, "limit_check": 30,
                  "checkpoint": {"interval": "1h", "cost": 5, "restart": 6}},
    "users": {"mode": "alea", "session_gap": "1h", "campaign": 5, "overlap": "any", "waits": "none", "think": "drawn",
              "hours": "any", "population": 9, "files": "set.swf",
              "reactions": ["give-up", {"name": "stop-at-limit", "jobs": 3}]},
    "dependencies": {"never": "stay", "unknown": "met", "preceding": True},
    "deadlines": "cancel",
    "cancellations": {"share": 0.2, "after": "1h", "distribution": "exponential", "spread": 2, "running": True},
    "start": {"time": "2026-11-15T12:00:00", "jobs": "squeue.txt", "usage": "sshare.txt", "timezone": "Europe/Prague"},
    "record": {"series": False, "interval": "5m", "by": ["account", "qos"], "plans": True},
}  # fmt: skip
GRID = {
    "workload": {
        "synthetic": {
            "jobs": 5,
            "arrivals": {"name": "exponential", "mean": 10},
            "batch": 2,
            "types": {
                "a": {"weight": 2, "tasks": 3, "work": {"name": "exponential", "mean": 5}, "request": 2,
                      "profile": "lock-step step=0.5", "priority": 4, "user": "ann", "group": "g", "account": "phys",
                      "queue": "long", "qos": "high", "constraint": "ib"},
            },
        },
        "workflows": [
            {"manifests": ["montage.json", {"file": "sipht.json", "weight": 2}], "submit": "multi", "every": "1h",
             "first": "2h", "user": "ann", "account": "phys", "queue": "long", "priority": 2},
            {"manifests": ["montage.json"], "share": 0.1},
        ],
    },
    "clusters": [{"name": "a", "cores": 8, "reservations": [{"name": "c", "start": 1, "length": 2, "cores": 3}],
                  "failures": [{"cores": 2, "at": 1, "length": 2}]},
                 {"name": "b", "cores": 16}],
    "broker": {
        "name": "weighted",
        "weights": {"load": -1},
        "order": "wfp3",
        "queues": {"g": {"qos": ["high"], "types": ["a"], "queues": ["q"], "priority": 2, "order": "sjf",
                         "broker": "fastest", **WHO}},
        "hold": True,
        "overtake": False,
        "shared_limits": True,
        "bind": [{"clusters": ["a"], "qos": ["low"], "types": ["a"], "queues": ["q"], **WHO}],
        "migrate": {"every": 10, "gain": 20, "most": 2, "depth": 5},
        "optimise": {"name": "tabu", "rounds": 5},
    },
}  # fmt: skip
SLURM = {
    "engine": "slurm",
    "workload": "log.swf",
    "slurm": {
        "conf": "slurm.conf",
        "release": "24.11",
        "slurmctld": "slurmctld.conf",
        "usage": "usage.txt",
        "cloud": True,
        "associations": "dump.txt",
        "qos": "qos.txt",
        "settings": {"SchedulerParameters.bf_interval": 60},
        "partitions": {"*": "main"},
        "events": "events.txt",
        "drop_unknown": True,
        "lead": 200,
        "launch": 0.5,
        "completion": 0.25,
        "epilog": 3.0,
        "cost": 0.5,
    },
}
GENERATED = {
    "workload": {"generate": {"jobs": 5, "cores": 4, "load": 0.5, "model": {"users": 3}}},
    "cluster": {"cores": 4},
    "execution": {"overrun": "extend"},
    "broker": {"name": "random", "migrate": True},
}
SPAN = {
    "workload": {"synthetic": {"span": "1d", "arrivals": 10, "types": {"a": {"work": 5}}}},
    "cluster": {"cores": 4},
    "record": "summary",
}
MIX = {
    "workload": [
        {"trace": "log.swf", "format": "google", "collections": "users.txt", "host": "96x512G"},
        {"generate": {"jobs": 9, "cores": 4}},
        {
            "synthetic": {
                "jobs": 3,
                "begin": 5,
                "arrivals": 10,
                "types": {"a": {"work": 5, "memory": {"name": "uniform", "low": 1, "high": 3}, "nodes": 1}},
            }
        },
        {"model": {"name": "lublin", "days": 1}},
        {"trace": "log.csv", "columns": {"submit": "when"}},
    ],
    "cluster": {"nodes": "4x4", "threads_per_core": 2},
}
ALIKE = {"workload": {"trace": "log.swf", "format": "google", "collections": "users.txt", "host": "96x512G"},
         "cluster": {"cores": 4}}  # fmt: skip
FITTED = {
    "workload": {
        "model": {
            **{"file": "site.json", "days": 3, "cores": 8, "pressure": [0.9, 1.0], "fill": "1h", "fill_width": 0.25},
            **{"stabilization": "2h", "drain": "3h", "start": "2024-03-04", "estimates": "none"},
            **{"structure": "independent"},
        }
    },
    "cluster": {"cores": 8},
}
PUBLISHED = {"workload": {"model": {"name": "lublin", "days": 1, "load": 0.5}}, "cluster": {"cores": 8}}
LINK = {"bandwidth": 1e9, "latency": 1e-6, "duplex": False}
DISK = {"capacity": "1T", "read": "500M", "write": "300M", "falling": [1, 0.5], "operations": 4}
NETWORKS = (
    {"type": "star", "link": LINK, "local": LINK, "switch": LINK},
    {"type": "tree", "levels": [LINK | {"size": 4}]},
    {"type": "fat-tree", "downlink": LINK, "uplink": LINK, "l1_switch_count": 2, "l2_switch_count": 1},
    {"type": "graph", "file": "links.txt"},
)
PROGRAMS = {
    "workload": "log.swf",
    "clusters": [
        {
            "name": network["type"],
            "nodes": {"count": 2, "cores": 4, "disk": DISK},
            "network": network,
            "components": {"store": LINK | {"disk": DISK}},
        }
        for network in NETWORKS
    ],
    "broker": "random",
    "execution": {"model": {"name": "programs", "flops": 2e9}, "profiles": "profiles.json"},
}
ALL = {
    "mix": MIX,
    "alike": ALIKE,
    "programs": PROGRAMS,
    "fitted": FITTED,
    "published": PUBLISHED,
    "site": SITE,
    "grid": GRID,
    "slurm": SLURM,
    "generated": GENERATED,
    "span": SPAN,
}


@pytest.fixture
def write(tmp_path):
    (tmp_path / "shares.txt").write_text("ann 3\n", encoding="utf-8")
    (tmp_path / "failures.txt").write_text("1000\tfast\t3600\t0 1\n", encoding="utf-8")
    links = [{"from": "s", "to": end, "bandwidth": 1} for end in ("n0", "n1", "store")]
    (tmp_path / "links.txt").write_text(yaml.safe_dump({"links": links}), encoding="utf-8")

    def make(data: Any, folder: str = ".") -> Path:
        path = tmp_path / folder / "scenario.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(data if isinstance(data, str) else yaml.safe_dump(data), encoding="utf-8")
        return path

    return make


def find_keys(model: type[Model], seen: set[type[Model]]) -> Iterator[tuple[type[Model], str]]:
    """Every key that a file may have, with the model that has it."""
    if model in seen:
        return
    seen.add(model)
    for name, field in model.model_fields.items():
        if not field.exclude:
            yield model, name
            inner = model_of(field.annotation)
            if inner is not None:
                yield from find_keys(inner, seen)


def find_said(value: Any) -> Iterator[tuple[type[Model], str]]:
    """The keys that have another value than their default, with the models that have them."""
    if isinstance(value, Model):
        for name, field in type(value).model_fields.items():
            if field.is_required() or getattr(value, name) != field.get_default(call_default_factory=True):
                yield type(value), name
            yield from find_said(getattr(value, name))
    elif isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from find_said(item)


@pytest.mark.parametrize("name", ALL)
def test_what_was_written_is_read_back_in_any_folder(name, write):
    first = load(write(ALL[name]))
    assert load(write(dump(first), "elsewhere")) == first


def test_every_key_of_every_model_is_among_them(write):
    said = {key for data in ALL.values() for key in find_said(load(write(data)))}
    only = {(Scenario, "walltime")}  # it has one value
    missing = set(find_keys(Scenario, set())) - said - only
    assert not missing, "say them in one of the scenarios of this test"


def test_every_path_is_joined_to_the_folder_of_the_file_and_written_in_full(write, tmp_path):
    paths = []
    for data in ALL.values():
        text = dump(load(write(data)))
        paths += [word for word in text.replace("'", " ").split() if word.endswith((".txt", ".swf", ".json", ".conf"))]
    files = [name for model, name in find_keys(Scenario, set()) if is_file(model.model_fields[name], "x")]
    assert sorted(files) == [
        *(
            "associations",
            "collections",
            "collections",
            "conf",
            "events",
            "file",
            "file",
            "file",
            "file",
            "files",
            "jobs",
            "profiles",
            "qos",
            "shares",
            "slurmctld",
            "trace",
            "trace",
            "usage",
            "usage",
        ),
    ]
    assert len(paths) > 10
    assert all(Path(path).parent == tmp_path for path in paths)


def test_a_word_in_place_of_a_path_is_no_path(write):
    scenario = load(write(SLURM | {"slurm": SLURM["slurm"] | {"associations": "flat"}}))
    assert scenario.slurm.associations == "flat"
    assert load(write(dump(scenario), "elsewhere")) == scenario


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("slurm.conf", "mine.conf"),
        ("slurm", {"conf": "mine.conf"}),
        ("workload", "mine.swf"),
        ("workload.trace", "mine.swf"),
    ],
)
def test_a_path_that_was_set_is_where_the_caller_is(key, value, write, tmp_path):
    scenario = load(write(SLURM), [(key, value)])
    found = scenario.slurm.conf if key.startswith("slurm") else scenario.workload.trace
    assert found in ("mine.conf", "mine.swf")
    other = scenario.workload.trace if key.startswith("slurm") else scenario.slurm.conf
    assert Path(other).parent == tmp_path


@pytest.mark.parametrize("cluster", ["cluster", "clusters.0", "clusters.big"])
def test_setting_one_path_of_a_cluster_leaves_the_others(cluster, write, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "mine.txt").write_text("2000\tfast\t60\t0\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path / "here")
    scenario = load(write(SITE), [(f"{cluster}.failures.2.file", "mine.txt"), ("workload.missing_request", "model")])
    assert scenario.clusters[0].failures[2].file == "mine.txt"
    assert scenario.clusters[0].shares == {"ann": 3}
    assert Path(scenario.workload.trace).parent == tmp_path


def test_other_keys_of_the_workload_leave_its_files_alone(write, tmp_path):
    mixes = {"manifests": "montage.json", "share": 0.1}
    source = {"workload": {"trace": "log.swf", "workflows": mixes}, "cluster": {"cores": 4}}
    scenario = load(write(source), [("workload.missing_request", "max")])
    assert Path(scenario.workload.workflows[0].manifests[0].file).parent == tmp_path


def test_a_part_from_python_is_written_by_its_name():
    data = {"workload": "log.swf", "cluster": {"scheduler": {"backfill": Part(name="easy"), "order": {"name": "sjf"}}}}
    written = yaml.safe_load(dump(parse(data)))
    assert written["cluster"]["scheduler"] == {
        "order": "sjf",
        "backfill": "easy",
        "estimate": "request",
        "rhythm": "instant",
    }
