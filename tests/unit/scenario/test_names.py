"""Names that nothing has are told: those of the scenario, and those of the jobs."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

import walltime
from walltime.core.errors import InputError
from walltime.policy import registry
from walltime.scenario import Part, Scenario, parse
from walltime.scenario.names import PARAMETERS, check_names, find_strangers
from walltime.scenario.reading.problems import model_of

DEFINED = {
    "Nodes.resources": "what a node has",
    "Cluster.licences": "what the cluster has",
    "Cluster.queues": "the queues",
    "Cluster.accounts": "the accounts",
    "Cluster.attributes": "what a broker may weigh",
    "Cluster.components": "what is outside the nodes",
    "Brokering.queues": "the global queues",
    "Synthetic.types": "the kinds of jobs",
}
"""Mappings of the models whose keys make names; nothing has to have them before."""

CHECKED = {
    "Cluster.shares": "users or groups",
    "Generate.model": "parameters of the generator",
    "WorkloadSource.columns": "our columns, for those of a table",
    "WorkloadSpec.columns": "our columns, for those of a table",
    "Controller.settings": "settings of Slurm",
    "Controller.partitions": "queues of the workload",
    "Part.parameters": "parameters of the part",
    "Brokering.parameters": "parameters of the broker",
}
"""Mappings of the models whose keys are names of something, and of what; they are looked up."""

JOBS = walltime.Workload.from_columns(
    submit=[0, 1, 2, 3],
    run_time=[9, 9, 9, 9],
    requested_time=[9, 9, 9, 9],
    cores=[1, 1, 1, 1],
    user=["ann", "bo", "ann", "cy"],
    account=["physics", "physcis", "physcis", "chemistry"],
    queue=["batch", "bacht", "long", "long,batch"],
    qos=["high", "low", "high", "normal"],
)


def make(**cluster: Any) -> Scenario:
    return parse({"workload": {"table": JOBS}, "cluster": {"cores": 4, **cluster}})


QUEUES = {"batch": {"default": True}, "long": {"priority": 1}}


@pytest.mark.parametrize(
    ("cluster", "words"),
    [
        (
            {"scheduler": {"preempt": {"name": "qos", "ranks": {"hihg": 1, "low": 0}}}},
            r"cluster\.scheduler\.preempt\.ranks\.hihg: no job has this QOS: 'hihg'; did you mean 'high'",
        ),
        (
            {"scheduler": {"preempt": {"name": "qos", "ranks": {"urgent": 1}}}},
            r"no job has this QOS: 'urgent' \(choices: high, low, normal\)",
        ),
        (
            {"queues": QUEUES, "scheduler": {"preempt": {"name": "queue", "ranks": {"lnog": 1}}}},
            r"queue that is not there: 'lnog'; did you mean 'long'",
        ),
        (
            {"scheduler": {"order": {"name": "multifactor", "qos": {"hihg": 100}}}},
            r"scheduler\.order\.qos\.hihg: no job has this QOS: 'hihg'; did you mean 'high'",
        ),
        (
            {"queues": {**QUEUES, "x": {"order": {"name": "multifactor", "qos": {"hihg": 1}}}}},
            r"cluster\.queues\.x\.order\.qos\.hihg",
        ),
        (
            {"scheduler": {"backfill": {"name": "tetris", "scale": {"cores": 1, "memroy": "1G"}}}},
            r"cluster\.scheduler\.backfill\.scale\.memroy: no node has this resource: 'memroy' \(choices: cores\)",
        ),
        ({"limits": [{"qos": "hihg", "running_jobs": 1}]}, r"limits\.0\.qos: a limit for a qos .*did you mean 'high'"),
    ],
)
def test_a_name_that_no_job_has_is_told_with_the_nearest(cluster: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        check_names(make(**cluster), JOBS)  # or when it is parsed


def test_some_of_a_mapping_may_have_no_job_here() -> None:
    scenario = make(scheduler={"preempt": {"name": "qos", "ranks": {"high": 1, "scavenger": -1}}})
    check_names(scenario, JOBS)
    assert find_strangers(scenario, JOBS) == ["cluster.scheduler.preempt.ranks: no job has the QOS scavenger"]


def test_strangers_of_the_workload_are_counted_with_what_became_of_them() -> None:
    scenario = make(queues=QUEUES, accounts={"physics": {}, "chemistry": {}}, shares={"ann": 2, "ben": 1})
    assert find_strangers(scenario, JOBS) == [
        "cluster.shares: no job is of ben",
        "2 jobs of accounts that the cluster does not have, physcis (2) (did you mean 'physics'?): each stands beside "
        "the tree, by itself",
        "1 job of queues that the cluster does not have, bacht (1) (did you mean 'batch'?): in batch, or where a route "
        "sends them",
    ]
    assert find_strangers(make(), JOBS) == []


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (
            {"queues": {"batch": {"default": True, "users": ["anne"]}, "long": {}}},
            "cluster.queues.batch.users: no job has the user anne (did you mean 'ann'?)",
        ),
        (
            {"queues": QUEUES, "routes": [{"users": ["dora", "eve"], "queue": "long"}]},
            "cluster.routes.0.users: no job has the user dora, eve",
        ),
        (
            {"reservations": [{"name": "r", "start": 0, "length": 9, "cores": 1, "users": ["by"]}]},
            "cluster.reservations.0.users: no job has the user by",
        ),
        ({"queues": {"batch": {"default": True, "users": ["ann", "eve"]}, "long": {}}}, None),  # a list of a whole site
        ({"queues": {"batch": {"default": True, "groups": ["staff"]}, "long": {}}}, None),  # the jobs tell no groups
    ],
)
def test_a_list_of_which_no_name_is_known_is_told(keys: dict[str, Any], told: str | None) -> None:
    found = [text for text in find_strangers(make(**keys), JOBS) if text.startswith("cluster")]
    assert found == ([told] if told else [])


def test_a_broker_that_chooses_jobs_by_names_that_none_has_is_told() -> None:
    clusters = [{"name": "a", "cores": 4}, {"name": "b", "cores": 4}]
    broker = {"name": "first", "bind": [{"qos": ["hihg"], "clusters": ["a"]}], "queues": {"x": {"users": ["boo"]}}}
    scenario = parse({"workload": {"table": JOBS}, "clusters": clusters, "broker": broker})
    assert find_strangers(scenario, JOBS) == [
        "broker.bind.0.qos: no job has the QOS hihg (did you mean 'high'?)",
        "broker.queues.x.users: no job has the user boo (did you mean 'bo'?)",
    ]


def test_nobody_is_a_stranger_where_nothing_is_named() -> None:
    empty = walltime.Workload.from_columns(submit=[], run_time=[])
    assert find_strangers(make(queues=QUEUES, accounts={"physics": {}}), empty) == []


def mappings(model: type[BaseModel], met: set[type[BaseModel]]) -> Iterator[str]:
    """Every field that is a mapping, as Model.field, of a model and of those inside it."""
    if model in met:
        return
    met.add(model)
    for name, field in model.model_fields.items():
        if "dict" in str(field.annotation):
            yield f"{model.__name__}.{name}"
        for inner in models(field.annotation):
            yield from mappings(inner, met)


def models(annotation: Any) -> Iterator[type[BaseModel]]:
    found = model_of(annotation)
    if found is not None:
        yield found
    for part in typing.get_args(annotation):
        yield from models(part)


def test_every_mapping_of_the_models_makes_names_or_is_checked() -> None:
    found = set(mappings(Scenario, set()))
    assert found >= {"Cluster.shares", "Cluster.queues", "Controller.partitions", "Part.parameters"}
    assert found == set(DEFINED) | set(CHECKED), "say above what the keys of a new mapping are"


def test_every_parameter_that_takes_any_names_is_checked() -> None:
    """A part that is made with a mapping by a name that nothing has, without a word, must be looked at by name."""
    needed: dict[str, Any] = {"value": "wait", "factor": 2, "weights": {"load": -1}}
    found = set()
    for entry in registry.entries():
        required = {name: needed[name] for name, item in entry.parameters().items() if item.default is item.empty}
        for name in entry.parameters():
            try:
                registry.build(entry.kind, Part(name=entry.name, parameters={**required, name: {"hihg": 1}}))
            except InputError:
                continue
            found.add((entry.kind, entry.name, name))
    elsewhere = {
        ("broker", "weighted", "weights"),  # by the scenario's own check: criteria and attributes of clusters
    }
    assert found - elsewhere == set(PARAMETERS)
