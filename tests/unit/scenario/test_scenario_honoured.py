"""Both engines refuse a key that they do not name, by its place in the file."""

from __future__ import annotations

import pytest
from test_scenario_written import GRID, SITE

from walltime.engine import honoured as native_keys
from walltime.engine import native
from walltime.scenario import Scenario, parse
from walltime.scenario.honoured import find_refused
from walltime.scenario.part import Part
from walltime.scenario.reading.problems import choices_of, model_of
from walltime.slurm.translate import refusals


def check_names(model, honoured, key=""):
    """Every key that an engine names is a key of the model."""
    for name in honoured[key].split():
        field = model.model_fields[name]
        inner, below = model_of(field.annotation), f"{key}.{name}".lstrip(".")
        if below in honoured:
            check_names(inner, honoured, below)
        elif inner is not None and inner is not Part:
            assert below in ("workload", "record", "slurm", "execution.checkpoint", "broker", "dependencies", "start")


@pytest.mark.parametrize("honoured", [native_keys.HONOURED, refusals.HONOURED])
def test_engines_name_keys_that_exist_and_look_into_all_but_a_few(honoured):
    check_names(Scenario, honoured)


def without(honoured, key, word):
    return honoured | {key: " ".join(name for name in honoured[key].split() if name != word)}


@pytest.mark.parametrize(
    ("data", "key", "word", "place"),
    [
        (SITE, "", "deadlines", "deadlines"),
        (SITE, "clusters", "licences", "cluster.licences"),
        (SITE, "clusters.nodes", "gpus", "cluster.nodes.0.gpus"),
        (SITE, "clusters.queues", "priority", "cluster.queues.long.priority"),
        (SITE, "clusters.queues.per_user", "running_jobs", "cluster.queues.long.per_user.running_jobs"),
        (SITE, "clusters.failures.repair", "sigma", "cluster.failures.0.repair.sigma"),
        (SITE, "clusters.scheduler", "place", "cluster.scheduler.place"),
        (SITE, "execution.checkpoint", "cost", "execution.checkpoint.cost"),
        (GRID, "clusters", "reservations", "clusters.0.reservations"),
        (GRID, "broker.queues", "priority", "broker.queues.g.priority"),
        (GRID, "broker.migrate", "most", "broker.migrate.most"),
    ],
)
def test_a_key_that_the_native_engine_does_not_name_is_refused(data, key, word, place, monkeypatch):
    cluster = {name: value for name, value in SITE["cluster"].items() if name != "shares"}
    cluster["failures"] = cluster["failures"][:2]
    scenario = parse(data if data is GRID else SITE | {"cluster": cluster})
    assert not list(find_refused(scenario, native_keys.HONOURED, "unknown"))
    monkeypatch.setattr(native, "HONOURED", without(native_keys.HONOURED, key, word))
    assert place in [problem[0] for problem in native.unsupported(scenario)]


def test_what_a_controller_cannot_have_in_a_node_is_refused():
    nodes = {"count": 2, "cores": 4, "sync_delay": 2, "quantum": 1}
    scenario = parse({"workload": "log.swf", "engine": "slurm", "cluster": {"nodes": [nodes]}})
    refused = [key for key, _ in refusals.unsupported(scenario)]
    assert {"cluster.nodes.0.sync_delay", "cluster.nodes.0.quantum"} <= set(refused)


@pytest.mark.parametrize(
    ("option", "key"),
    [("Engine", "engine"), ("Overrun", "execution.overrun"), ("MissingRequest", "workload.missing_request")],
)
def test_the_help_of_the_command_line_has_the_choices_of_the_model(option, key):
    from walltime.cli.run import options as run_options

    assert getattr(run_options, option).__metadata__[0].metavar == "|".join(choices_of(key))
