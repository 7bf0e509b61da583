"""What `--json` prints, from what the commands print: `python tools/json_reference.py > docs/reference/json.md`.

Each command runs on small files that are made here; of its answer the names and the types are kept.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

INTRODUCTION = """\
# What `--json` prints

Every command that prints figures has `--json`: one JSON value on standard output, and nothing else there. Messages,
warnings and errors are on standard error, and the exit codes are [the same](errors.md). Times are in seconds. There is
no NaN; what cannot be said is `null`.

Names stay, as [promised](promises.md); new ones may come, so a program ignores those that it does not know. `[]` is an
element of a list, `{}` the value of any key: the keys are names of what was found. A `summary` has the
[figures](metrics.md). Where a result's label is a key, it is `fcfs` and `easy` here.

This page is made by `tools/json_reference.py`, which runs the commands; a test compares. Not in it are commands that
need more than a moment, or a package: those of `walltime slurm` (`run`, `compare-releases` and `continue` print what
`walltime run` does), `sweep`, `store`, `solve`, `tune`, `whatif`, `analyse`, `check-plugin`, `site import`,
`workload tune` and `workload recipe`.
"""
FILES = {
    "slurm.conf": "SelectType=select/cons_tres\nSchedulerParameters=kill_invalid_depend,bf_max_time=60\n"
    "NodeName=n[1-4] CPUs=8\nPartitionName=all Nodes=n[1-4]\n",
    "flow.json": '{"tasks": [{"id": "a", "number_of_cores": 8, "runtime_sim": 540, "runtime_limit": 600}]}',
    "flows.yaml": "workload:\n  generate: {jobs: 200, cores: 64, load: 0.9}\n"
    "  workflows: {manifests: flow.json, submit: manifest, every: 12h, user: flo}\ncluster: {cores: 64}\n",
    "queue.csv": "job_id,submit,run_time,requested_time,cores,user,started\n1,0,-1,3600,6,ann,10\n2,5,-1,3600,6,bo,\n",
    "log.csv": "job_id,submit,run_time,requested_time,cores,user,recorded_wait\n"
    + "".join(f"{i},{60 * i},3600,3600,8,ann,{600 * (i % 2)}\n" for i in range(40)),
    "log.yaml": "workload: {trace: log.csv, format: table}\ncluster: {name: site, cores: 256}\n",
    "today.yaml": "workload: demo/workload.swf\ncluster: {cores: 256}\nstart: {time: 100, jobs: queue.csv}\n",
}
"""What the commands read, besides what they write themselves."""
COMMANDS = (
    "demo --jobs 300 --output demo",
    "run demo/workload.swf --policy fcfs,easy --output out",
    "run demo/workload.swf --policy fcfs,easy --shake 1h --seeds 2",
    "compare demo/fcfs demo/easy",
    "compare demo/fcfs demo/easy --by size",
    "explain demo/easy --job 150",
    "predict today.yaml --cores 8 --time 1h --runs 3",
    "calibrate log.yaml",
    "report demo/fcfs demo/easy -o both.html",
    "plot utilization demo/easy -o one.svg",
    "plot --list",
    "workflows flows",
    "steady demo/easy --settle 1h",
    "policies",
    "audit demo/easy",
    "export demo/easy jobs.owf",
    "site import slurm.conf",
    "workload info demo/workload.swf",
    "workload convert demo/workload.swf some.csv --first 50",
    "workload anonymise demo/workload.swf anonymous.swf",
    "workload fit demo/workload.swf --output model.json",
    "workload generate model.json --cores 256 --days 1 --output made.swf",
    "workload compare demo/workload.swf anonymous.swf",
    "workload users demo/workload.swf --waits none",
)
BEFORE = {"workflows flows": "run flows.yaml --output flows"}
NAMED = {"parts", "skipped", "left_out", "facts", "totals", "quantiles", "variables", "labels", "rhythm"}
NAMED |= {"rank_correlations", "autocorrelations", "sessions_by_gap"}
"""Objects whose keys are names of what was found: of jobs' fields, causes, quantiles and the like."""
WORDS = {str: "text", bool: "true or false", int: "number", float: "number", type(None): "null"}


def answers() -> Iterator[tuple[str, Any]]:
    """Each command, and what it printed."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, text in FILES.items():
            Path(name).write_text(text, encoding="utf-8")
        for command in COMMANDS:
            if command in BEFORE:
                _run(BEFORE[command])
            yield command, json.loads(_run(f"{command} --json"))


def _run(words: str) -> str:
    """What a command prints; in this process, because starting one takes longer than the work."""
    from typer.main import get_command

    from walltime.cli.app import app

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        get_command(app)(words.split(), standalone_mode=False)
    return printed.getvalue()


def names(data: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The path of every value, and its type."""
    key = path.rpartition(".")[2]
    if isinstance(data, dict) and key in ("summary", "scenario"):
        yield path, "object"
    elif isinstance(data, dict):
        is_named = key in NAMED
        for name, value in data.items():
            yield from names(value, f"{path}.{{}}" if is_named else f"{path}.{name}".lstrip("."))
        if not data:
            yield path, "object"
    elif isinstance(data, list):
        for value in data:
            yield from names(value, f"{path}[]")
        if not data:
            yield path, "list"
    else:
        yield path, WORDS[type(data)]


def shapes() -> dict[str, dict[str, str]]:
    """By command: the path of each value, and its types."""
    return {command: shape(data) for command, data in answers()}


def shape(data: Any) -> dict[str, str]:
    """The path of each value in an answer, and its types."""
    found: dict[str, set[str]] = defaultdict(set)
    for path, kind in names(data):
        found[path].add(kind)
    return {path: ", ".join(sorted(kinds, key=lambda kind: (kind == "null", kind))) for path, kinds in found.items()}


def page() -> str:
    """The whole page."""
    blocks = [INTRODUCTION.rstrip()]
    for command, found in shapes().items():
        rows = "\n".join(f"| `{path}` | {kinds} |" for path, kinds in found.items())
        blocks.append(f"## `walltime {command}`\n\n| name | type |\n|---|---|\n{rows}")
    return "\n\n".join(blocks) + "\n"


if __name__ == "__main__":
    os.environ["COLUMNS"] = "120"
    print(page(), end="")
