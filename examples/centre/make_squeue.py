"""Writes what `squeue` would have printed at a moment of a simulated day: `python make_squeue.py RESULT DATE FILE`.

A real site asks squeue itself; this stands in for it. Running jobs are told with their nodes.
"""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import polars as pl

import walltime

HEADER = "JOBID|STATE|USER|ACCOUNT|PARTITION|QOS|CPUS|NODES|TIME_LIMIT|SUBMIT_TIME|START_TIME|TRES_ALLOC|NODELIST"


def find_nodes(text: str) -> list[int]:
    """`0-3:24,7:5` as the numbers of nodes."""
    numbers = []
    for part in text.split(","):
        first, _, last = part.partition(":")[0].partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def main(folder: str, date: str, target: str) -> None:
    result = walltime.load(folder)
    zone, epoch = ZoneInfo(result.summary["origin"]["timezone"]), float(result.summary["origin"]["epoch"])
    now = datetime.fromisoformat(date).replace(tzinfo=zone).timestamp() - epoch
    names = result.scenario.clusters[0].layout().names()
    held = result.allocations.filter((pl.col("start") <= now) & (pl.col("end") > now))
    places = {job: (nodes, start) for job, nodes, start in held.select("job_id", "nodes", "start").rows()}

    def clock(seconds: float) -> str:
        return datetime.fromtimestamp(epoch + seconds, zone).strftime("%Y-%m-%dT%H:%M:%S")

    lines = [HEADER]
    there = (pl.col("eligible") <= now) & (pl.col("end") > now) & pl.col("start").is_not_null()
    for job in result.jobs.filter(there).iter_rows(named=True):
        running = job["job_id"] in places
        nodes = ",".join(names[node] for node in find_nodes(places[job["job_id"]][0])) if running else ""
        tres = f"cpu={job['cores']},gres/gpu={job['gpus']}" if job["gpus"] else f"cpu={job['cores']}"
        limit = timedelta(seconds=job["requested_time"])
        time = f"{limit.days}-{limit.seconds // 3600:02d}:{limit.seconds // 60 % 60:02d}:00"
        start = clock(places[job["job_id"]][1]) if running else "N/A"
        who = "|".join(str(job[name]) for name in ("user", "account", "queue", "qos", "cores", "nodes"))
        state = "RUNNING" if running else "PENDING"
        line = f"{job['job_id']}|{state}|{who}|{time}|{clock(job['submit'])}|{start}|{tres}|{nodes}"
        lines.append(line)
    Path(target).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{target}: {len(lines) - 1} jobs, {len(places)} of them running")


if __name__ == "__main__":
    main(*sys.argv[1:])
