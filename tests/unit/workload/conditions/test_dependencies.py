"""Dependencies as texts: what is read, and which mistakes are told, by the job's number."""

from __future__ import annotations

import random
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from walltime import api
from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.workload.conditions import dependencies
from walltime.workload.conditions.dependencies import resolve_arrays, resolve_dependencies
from walltime.workload.conditions.text import AFTER, AFTEROK, SINGLETON, Condition, parse_dependencies

MINUTE = 60_000_000


def jobs(*texts: str, **columns: Any) -> Workload:
    """Jobs 1, 2, ... with these dependencies."""
    size = len(texts)
    return Workload.from_columns(
        job_id=range(1, size + 1), submit=[0] * size, run_time=[1] * size, dependencies=texts, **columns
    )


def test_every_form_is_read():
    expression = parse_dependencies(" afterok:12:13_4 , after:7+5:8(unfulfilled), singleton ")
    assert expression.conditions == (
        Condition(AFTEROK, "12"),
        Condition(AFTEROK, "13_4"),
        Condition(AFTER, "7", 5 * MINUTE),
        Condition(AFTER, "8"),
        Condition(SINGLETON),
    )
    assert not expression.any_of
    assert parse_dependencies("afterok:1?afterany:2").any_of
    assert parse_dependencies("afterok:12_*").conditions == (Condition(AFTEROK, "12"),)


@pytest.mark.parametrize("kind", ["after", "afterany", "afterok", "afternotok"])
def test_the_plain_form_is_read_as_the_general_one(kind):
    assert parse_dependencies(f"{kind}:3:17") == parse_dependencies(f" {kind}:3 :17")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("afterok", "not a dependency"),
        ("afterok:", "not a dependency"),
        (",", "not a dependency"),
        ("afterok:2,", "not a dependency"),
        ("afterok:two", "takes numbers of jobs"),
        ("aftreok:2", "did you mean 'afterok'?"),
        ("afterok:2+5", "minutes can be added to after alone"),
        ("afterok:2,after:3?singleton", "not by both"),
        ("2", "not a dependency"),
    ],
)
def test_a_text_that_says_nothing_is_told_with_its_job(text, message):
    with pytest.raises(InputError, match=message) as raised:
        resolve_dependencies(jobs("", "", text))
    assert "job 3" in str(raised.value)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (("afterok:1",), "a job waits for itself: 1"),
        (("afterok:2", "afterany:1"), "1 -> 2 -> 1"),
        (("", "after:4", "afterok:1:2", "afternotok:3?afterok:1"), "2 -> 4 -> 3 -> 2"),
        (("afterok:9",), "waits for a job that is not in the workload"),
    ],
)
def test_circles_and_strangers(texts, message):
    with pytest.raises(InputError, match=message):
        resolve_dependencies(jobs(*texts))


def test_a_circle_is_told_with_the_line_of_a_job_in_it(tmp_path):
    path = tmp_path / "jobs.csv"
    head = "job_id,submit,run_time,requested_time,cores,dependencies"
    path.write_text(f"{head}\n7,0,1,2,1,\n1,0,1,2,1,afterok:2\n2,0,1,2,1,afterok:1\n")
    with pytest.raises(InputError, match=r"jobs\.csv:3: jobs wait for each other in a circle: '1 -> 2 -> 1'"):
        api.simulate(path, cores=4)


def test_a_circle_through_a_name():
    """Job 1 waits for job 2, a singleton, which waits for job 1 because that has its name."""
    with pytest.raises(InputError, match="1 -> 2 -> 1"):
        resolve_dependencies(jobs("afterok:2", "singleton", name=["x", "x"], user=["ann", "ann"]))
    assert resolve_dependencies(jobs("afterok:2", "singleton", name=["x", "x"], user=["ann", "bo"])) is not None


def test_a_circle_through_an_array():
    with pytest.raises(InputError, match="a job waits for itself: 2"):
        resolve_dependencies(jobs("", "afterok:7", array=[None, "7%1"]))


def test_the_file_is_named():
    workload = jobs("afterok:1")
    workload.source = "log.csv"
    with pytest.raises(InputError, match=r"^log\.csv: "):
        resolve_dependencies(workload)


def test_a_singleton_needs_a_name():
    with pytest.raises(InputError, match="job 1: a singleton needs a name"):
        resolve_dependencies(jobs("singleton"))


def test_unknown_jobs_may_pass():
    graph = resolve_dependencies(jobs("afterok:9", "afterok:9:1", "afterok:9?afterok:1"), unknown="met")
    assert graph is not None
    assert (graph.expression >= 0).tolist() == [False, True, False]


def test_a_workload_without_any_has_no_graph():
    assert resolve_dependencies(jobs("", "")) is None
    assert resolve_arrays(jobs("", "", array=["7", None])) is None


def test_equal_texts_share_their_counters():
    """A thousand tasks that wait for a thousand tasks are a thousand steps, not a million."""
    size = 1000
    arrays = ["1"] * size + [None] * size
    graph = resolve_dependencies(jobs(*([""] * size + ["afterok:1"] * size), array=arrays))
    assert graph is not None
    assert len(graph.listeners) == size
    assert len(graph.owner) == 1


def test_aftercorr_is_task_by_task():
    names = ["5_1", "5_2", "6_1", "6_2"]
    workload = jobs("", "", "aftercorr:5", "aftercorr:5", name=names)
    workload = workload.replace(dict(workload.columns) | {"run_time": workload.columns["run_time"] * [10, 20, 1, 1]})
    result = api.simulate(workload, cores=9)
    assert result.jobs["start"].to_list() == [0, 0, 10, 20]
    assert result.audit() == []


@pytest.mark.parametrize("label", ["7%", "7%0", "7%x", "%3"])
def test_an_array_with_an_odd_limit(label):
    with pytest.raises(InputError, match="array"):
        resolve_arrays(jobs("", array=[label]))


def test_an_array_has_one_limit():
    with pytest.raises(InputError, match="array 7 has two limits, 2 and: 3"):
        resolve_arrays(jobs("", "", array=["7%2", "7%3"]))


def test_a_stream_of_jobs_cannot_have_dependencies():
    from walltime.engine import native
    from walltime.scenario import parse, resolve

    workload = jobs("", "afterok:1")
    scenario = parse({"workload": {"table": workload}, "cluster": {"cores": 2}})
    with pytest.raises(InputError, match="give the whole workload at once"):
        native.run(resolve(scenario, workload), scenario.read_workload().batches(1))


def draw_jobs(rng: random.Random, count: int) -> Workload:
    """Jobs with numbers in any order, each after some of those before it, often after the same as another."""
    numbers = rng.sample(range(1, 10 * count), count)
    texts = [""]
    for place in range(1, count):
        others = rng.sample(numbers[:place], rng.randint(1, min(place, 3)))
        kind = rng.choice(["after", "afterany", "afterok", "afternotok"])
        texts.append(rng.choice(["", texts[-1], f"{kind}:{':'.join(map(str, others))}"]))
    aware = [rng.randint(0, 1) for _ in numbers]
    return Workload.from_columns(
        job_id=numbers, submit=range(count), run_time=[1] * count, dependencies=texts, aware=aware
    )


@pytest.mark.parametrize("seed", range(20))
def test_texts_of_the_plain_form_are_read_at_once_as_they_are_one_by_one(seed, monkeypatch):
    workload = draw_jobs(random.Random(seed), 40)
    assert dependencies.read_plain(workload, dependencies.KINDS) is not None
    at_once = resolve_dependencies(workload)
    monkeypatch.setattr(dependencies, "read_plain", lambda workload, kinds: None)
    one_by_one = resolve_dependencies(workload)
    for column in fields(dependencies.Graph):
        found, expected = getattr(at_once, column.name), getattr(one_by_one, column.name)
        assert found.dtype == expected.dtype, column.name
        assert np.array_equal(found, expected), column.name


@pytest.mark.parametrize(
    "texts",
    [
        ("", "afterok:1,after:1"),
        ("", "afterok:1+5"),
        ("", "singleton"),
        ("", " "),
        ("", "afterok:1:1"),
        ("", "afterok:01:1"),
        ("afterok:2", ""),
        ("", "afterok:7"),
        ("", "afterok:99999999999999999999"),
        ("", "afterok:1\n"),
    ],
)
def test_texts_of_other_forms_are_read_one_by_one(texts):
    assert dependencies.read_plain(jobs(*texts), dependencies.KINDS) is None


def test_a_number_may_be_that_of_an_array():
    assert dependencies.read_plain(jobs("", "afterok:1", array=["1", ""]), dependencies.KINDS) is None
