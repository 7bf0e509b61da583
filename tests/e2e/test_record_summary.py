"""`record: summary` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import Command

SUMMARY = ("--set", "record=summary")


def test_a_comparison_without_rows(command: Command, trace: Path) -> None:
    outcome = command("run", trace.name, *SUMMARY, "--policy", "fcfs,easy", "--output", "out").done()
    assert "Careful" not in outcome.out
    told = [json.loads(Path(trace.parent, "out", name, "summary.json").read_text()) for name in ("fcfs", "easy")]
    whole = json.loads(command("run", trace.name, "--policy", "fcfs,easy", "--json").done().out)
    assert [one["mean_wait"] for one in told] == [run["summary"]["mean_wait"] for run in whole["runs"]]
    assert command("compare", "out/fcfs", "out/easy").done().out


def test_what_asks_for_rows_is_refused(command: Command, trace: Path) -> None:
    command("run", trace.name, *SUMMARY, "--output", "out").done()
    for line in ("audit out", "explain out --job 1", "report out", "plot waits out", "export out x.csv"):
        command(*line.split()).refused("has kept no row", "record: summary")
    command("run", trace.name, *SUMMARY, "--watch").refused("--watch")
