"""One way from a scenario to its record: what it refuses, and that nothing goes another way."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import walltime
from walltime.core.errors import InputError, UnsupportedError
from walltime.pipeline import check, prepare
from walltime.scenario import parse

SOURCE = Path(__file__).parents[2] / "src" / "walltime"
STEPS = {"registry.check", "resolve", "native.run", "engine.run", "native.unsupported", "engine.unsupported"}


def jobs(*waits: float) -> walltime.Workload:
    count = len(waits)
    return walltime.Workload.from_columns(
        submit=list(waits), run_time=[10] * count, requested_time=[10] * count, cores=[3] * count
    )


def scenario(**keys):
    return parse({"workload": {"table": jobs(0, 1)}, "cluster": {"cores": 4}} | keys)


def test_a_scenario_runs_and_so_does_it_on_other_jobs_and_to_another_end():
    ready = prepare(scenario())
    assert ready.run().jobs["start"].to_list() == [0, 10]
    assert ready.on(jobs(5)).run().jobs["start"].to_list() == [5]
    assert ready.on(jobs(0, 1), until=8).run().jobs["start"].to_list() == [0, None]
    assert ready.scenario.until is None


def test_jobs_that_are_there_are_not_read_again():
    elsewhere = parse({"workload": {"trace": "nowhere.swf"}, "cluster": {"cores": 4}})
    assert len(prepare(elsewhere, jobs(0)).workload) == 1
    with pytest.raises(InputError, match=r"nowhere\.swf"):
        prepare(elsewhere)


def test_the_size_comes_from_the_jobs_where_the_scenario_does_not_tell():
    table = jobs(0, 1)
    sized = table.replace(table.columns, machine_cores=7)
    ready = prepare(parse({"workload": {"table": sized}}))
    assert ready.scenario.clusters[0].cores == 7
    with pytest.raises(InputError, match="size of cluster is not known"):
        prepare(parse({"workload": {"table": table}}))


def test_what_is_wrong_is_told_before_the_jobs_are_read():
    for keys, error, text in (
        ({"cluster": {"cores": 4, "scheduler": {"order": "nonsense"}}}, InputError, "nonsense"),
        ({"users": "feedback", "start": {"time": 1, "jobs": "queue.txt"}}, UnsupportedError, "users"),
        ({"engine": "slurm", "deadlines": "cancel"}, UnsupportedError, "deadlines"),
    ):
        wrong = parse({"workload": {"trace": "nowhere.swf"}, "cluster": {"cores": 4}} | keys)
        with pytest.raises(error, match=text):
            check(wrong)
        with pytest.raises(error, match=text):
            prepare(wrong)


def test_nothing_goes_another_way():
    """Only the pipeline calls its steps; an engine asks itself once more what it cannot honour."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in STEPS:
                found.add(str(path.relative_to(SOURCE)))
    assert found == {"pipeline.py"}
