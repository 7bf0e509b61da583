"""The reference of metrics names every key of summary.json."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import walltime
from walltime.core.errors import InputError
from walltime.slurm.packages import find_installation
from walltime.workload.synthesis.workflow_mix import Mix, add_workflows
from walltime.workload.workflow import Task, Workflow

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "metrics.md"
FREE = {
    "skipped_reasons",
    "rejected_reasons",
    "cancelled_reasons",
    "held",
    "longest_wait_by_size",
    "clusters",
    "skipped",
}
FREE |= {"waiting_reasons", "ignored", "start", "complaints"}
"""Mappings whose keys are names from outside, or words for people."""


def name_keys(data: dict[str, Any]) -> set[str]:
    """The keys of a summary, and of what is inside."""
    found = set(data)
    for key, value in data.items():
        if key == "facts":
            found |= name_keys(value)
        elif key in ("nodes", "workflows") and isinstance(value, dict):
            found |= {inner for one in value.values() for inner in one}
        elif key == "conditions":
            found |= name_keys(value) | {inner for one in value.values() for inner in one}
        elif isinstance(value, dict) and key not in FREE:
            found |= set(value)
        elif isinstance(value, list):
            found |= {inner for one in value if isinstance(one, dict) for inner in one}
    return found


def jobs(**more: Any) -> walltime.Workload:
    columns = {"submit": [0, 10, 20], "run_time": [50, 40, 30], "requested_time": [60, 60, 60], "cores": [4, 2, 8]}
    flow = Workflow.of("flow", [Task("a", 2, 60, 60), Task("b", 1, 60, 60, ("a",))])
    table = walltime.Workload.from_columns(**columns, **more)
    return add_workflows(table, Mix([flow], "multi", every=100.0))


def summaries() -> list[dict[str, Any]]:
    """Of runs that together have everything to tell."""
    full = jobs(deadline=[30, None, 90], begin=[None, 15, None], patience=[None, None, 5], user=["a", "b", "a"])
    two = [{"name": "x", "nodes": "1x4"}, {"name": "y", "nodes": "1x8"}]
    broken = {"failures": [{"nodes": ["n0"], "at": 30, "length": 60}]}
    return [
        walltime.simulate(full, cores=8).summary,
        walltime.simulate(full, cores=8, users={"mode": "feedback", "waits": "none", "reactions": ["give-up"]}).summary,
        walltime.simulate({"workload": jobs(), "clusters": two, "broker": "first"}).summary,
        walltime.simulate({"workload": jobs(), "cluster": {"nodes": "2x8", **broken}}).summary,
        walltime.simulate(
            {"workload": jobs(), "cluster": {"nodes": "2x8"}, "execution": {"model": "time-shared"}}
        ).summary,
    ]


def test_every_key_of_a_summary_is_on_the_page() -> None:
    named = set(re.findall(r"`(\w+)`", PAGE.read_text(encoding="utf-8")))
    found = summaries()
    try:
        find_installation()
        found.append(walltime.simulate(jobs(), nodes="2x8", engine="slurm").summary)
    except InputError:
        pass  # without the controller its facts are not looked at
    keys = set().union(*(name_keys(one) for one in found))
    assert keys >= {"conditions", "deadlines", "mean_lateness", "critical_path", "preemptions", "shared_time"}
    assert sorted(keys - named) == []


def test_the_page_names_no_key_that_is_gone() -> None:
    """The first table is of the summary's own keys, and lists all that are there."""
    table = PAGE.read_text(encoding="utf-8").partition("|---|---|\n")[2].partition("\n\n")[0]
    listed = {key for line in table.splitlines() for key in re.findall(r"`(\w+)`", line.split("|")[1])}
    summary = walltime.simulate(jobs(), cores=8).summary
    assert listed | {"means_over"} == set(summary)
