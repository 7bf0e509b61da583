"""Draws the small schedules in the guides from real simulations: `python tools/schedules.py` rewrites them.

A guide marks the place: a line `<!-- schedule NAME -->`, and below it a block that this program fills.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import walltime

ROOT = Path(__file__).parents[1]
GUIDES = ("orders", "backfilling", "estimates")
PLACE = re.compile(r"(<!-- schedule (?P<name>[\w+-]+) -->\n+```text\n).*?(```)", re.S)

Jobs = Mapping[str, tuple[float, ...]]
"""By letter: submission, cores, run time, and the requested time where it is another."""

ORDER_JOBS: Jobs = {
    "A": (0, 4, 5),
    "B": (1, 3, 6),
    "C": (2, 1, 8),
    "D": (3, 2, 3),
    "E": (4, 4, 2),
    "F": (4, 1, 4),
}
BACKFILL_JOBS: Jobs = {
    "A": (0, 2, 9),
    "B": (1, 7, 4),
    "C": (1, 4, 4),
    "D": (1, 4, 3),
    "E": (3, 3, 7),
    "F": (4, 6, 3),
    "G": (4, 3, 1),
}
DEPTH_JOBS: Jobs = {"A": (0, 5, 3), "B": (1, 4, 1), "C": (1, 7, 8), "D": (1, 2, 8)}
ESTIMATE_JOBS: Jobs = {
    "A": (0, 3, 3, 9),
    "B": (0, 1, 3, 8),
    "C": (5, 3, 5, 9),
    "D": (6, 4, 3, 9),
    "E": (7, 1, 3, 9),
}

SCHEDULES: dict[str, tuple[Jobs, int, dict[str, Any]]] = {
    **{f"order-{name}": (ORDER_JOBS, 4, {"order": name, "backfill": "none"}) for name in ("fcfs", "sjf", "largest")},
    "order-wfp3": (ORDER_JOBS, 4, {"order": "wfp3", "backfill": "none"}),
    "order-formula": (ORDER_JOBS, 4, {"order": {"name": "formula", "value": "wait / cores"}, "backfill": "none"}),
    **{
        f"backfill-{name}": (BACKFILL_JOBS, 8, {"backfill": name})
        for name in ("none", "easy", "aggressive", "lookahead")
    },
    "backfill-sjbf": (BACKFILL_JOBS, 8, {"backfill": {"name": "easy", "candidates": "sjf"}}),
    "backfill-alpha": (BACKFILL_JOBS, 8, {"backfill": {"name": "easy", "alpha": 0.5}}),
    "backfill-depth-1": (DEPTH_JOBS, 8, {"backfill": "easy"}),
    "backfill-depth-2": (DEPTH_JOBS, 8, {"backfill": {"name": "depth", "depth": 2}}),
    **{
        f"estimate-{name}": (ESTIMATE_JOBS, 4, {"backfill": "easy", "estimate": name})
        for name in ("request", "perfect", "last-two")
    },
}


def draw(jobs: Jobs, cores: int, parts: Mapping[str, Any]) -> str:
    """One line for each job: dots while it waits, its letter while it runs; a column is a second."""
    rows = [job if len(job) == 4 else (*job, job[2]) for job in jobs.values()]
    submit, size, run, requested = zip(*rows, strict=True)
    table = walltime.Workload.from_columns(
        submit=submit, cores=size, run_time=run, requested_time=requested, user=["ann"] * len(rows)
    )
    done = walltime.simulate(table, cores=cores, policy=parts).jobs
    last = int(done["end"].max())
    ruler = "".join(f"{second:<5}" for second in range(0, last + 1, 5))
    lines = [f"{'':22}{ruler}".rstrip()]
    for letter, row, job in zip(jobs, rows, done.iter_rows(named=True), strict=True):
        asked = f", asked {row[3]:g} s" if row[3] != row[2] else ""
        start, end = int(job["start"]), int(job["end"])
        if (start, end) != (job["start"], job["end"]):
            raise ValueError(f"job {letter} does not start and end at whole seconds: it cannot be drawn")
        bar = " " * int(row[0]) + "." * (start - int(row[0])) + letter * (end - start)
        lines.append(f"{letter}: {row[1]} x {row[2]:g} s{asked}".ljust(22) + bar)
    return "\n".join(lines) + f"\nmean wait {done['wait'].mean():.1f} s\n"


def fill(page: str) -> str:
    """The page with every schedule drawn anew."""
    return PLACE.sub(lambda match: match[1] + draw(*SCHEDULES[match["name"]]) + match[3], page)


def main() -> None:
    for guide in GUIDES:
        path = ROOT / "docs" / "guides" / f"{guide}.md"
        path.write_text(fill(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:]:
        print("\n".join(f"{name}\n{draw(*SCHEDULES[name])}" for name in sys.argv[1:]))
    else:
        main()
