"""Alibaba's cluster trace of 2018, in its published columns: `batch_task`, `batch_instance` and `container_meta`.

The tables have no header. A row of `batch_task` is as many jobs as the task has instances, each with what the task
planned; a row of `batch_instance` is one job with the most that it used. A container is a job from its first record to
the one that says it stopped, or to the last of the file. All jobs are of one node. The trace does not tell submissions:
a job is submitted when it started. Cpu is in hundredths of a core, memory in hundredths of the largest machine's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.reading import boundary, reader, reading
from walltime.core.time import LATEST, SECOND
from walltime.core.workload import UNLIMITED, Workload, encode_labels, sort_by_submission
from walltime.workload.formats.batches import join_columns
from walltime.workload.formats.blocks import Block, read_blocks
from walltime.workload.formats.google import enumerate_rows
from walltime.workload.formats.hosts import ReferenceHost
from walltime.workload.formats.spool import Spool

HOST = ReferenceHost(9600, 1_000_000)
"""A machine, where nothing is said: 96 cores of a hundred parts each, bytes that are millionths of its memory."""
CPU_OF_A_HOST = 9600
MEMORY_OF_A_HOST = 100
TABLES = {
    "batch_task": (
        *("task_name", "instance_num", "job_name", "task_type", "status", "start_time", "end_time", "plan_cpu"),
        "plan_mem",
    ),
    "batch_instance": (
        *("instance_name", "task_name", "job_name", "task_type", "status", "start_time", "end_time", "machine_id"),
        *("seq_no", "total_seq_no", "cpu_avg", "cpu_max", "mem_avg", "mem_max"),
    ),
    "container_meta": (
        *("container_id", "machine_id", "time_stamp", "app_du", "status", "cpu_request", "cpu_limit", "mem_size"),
    ),
}
"""The columns of each table, by the name of its file."""
_OVER = ("Terminated", "Failed")
_LONGEST = 1 << 16
_MOST_INSTANCES = 1_000_000
_STATES = ("Running", "Ready", "Waiting", "Cancelled", "Interupted", *_OVER)
_ROW = ("submit", "run_time", "cores", "memory")


def find_table(path: str | Path, first: str) -> str | None:
    """Which of the tables a file is, by its name or by its first line; None for another file."""
    name = Path(path).name.lower()
    cells = [cell.strip().strip('"') for cell in first.split(",")]
    for table, columns in TABLES.items():
        if name.startswith(table) or cells == list(columns):
            return table
    if len(cells) == len(TABLES["batch_task"]) and cells[4] in _STATES and cells[1].isdigit():
        return "batch_task"
    return "batch_instance" if len(cells) == len(TABLES["batch_instance"]) and cells[4] in _STATES else None


@reader
def read_alibaba(path: str | Path, host: ReferenceHost | None = None) -> Workload:
    """All jobs of one of the tables."""
    trace = _Trace(path, host)
    if trace.table == "container_meta":
        return trace.containers()
    parts = list(trace.batches(1 << 30))
    if not parts:
        raise InputError(f"no row of this table is a job that ended{trace.told()}", file=path)
    return trace.workload(join_columns(parts))


def read_alibaba_batches(path: str | Path, rows: int, host: ReferenceHost | None = None) -> Iterator[Workload]:
    """The same in batches of about so many jobs, in bounded memory."""
    if rows < 1:
        raise InputError("a batch needs at least one job", value=rows)
    with boundary(path):
        trace = _Trace(path, host)
        if trace.table == "container_meta":
            yield from trace.containers().batches(rows)
            return
        for columns in trace.batches(rows):
            yield trace.workload(columns)


class _Trace:
    """The jobs of one table; what was left out is counted."""

    def __init__(self, path: str | Path, host: ReferenceHost | None) -> None:
        self.path, self.host = path, host or HOST
        with reading(path) as file:
            first = file.stream.readline(_LONGEST).decode("utf-8", "replace")
        found = find_table(path, first)
        if found is None:
            raise InputError("none of the tables of Alibaba's trace", file=path, line=1, choices=TABLES)
        self.table = found
        self.skipped: Counter[str] = Counter()
        self.lines = 0

    def blocks(self) -> Iterator[Block]:
        for block in read_blocks(self.path, TABLES[self.table], header=False):
            self.lines += len(block)
            yield block

    def batches(self, rows: int) -> Iterator[dict[str, Any]]:
        """Columns of the workload, in order of submission."""
        spool = Spool(_ROW)
        try:
            for block in self.blocks():
                spool.add(self.tasks(block) if self.table == "batch_task" else self.instances(block))
            for first, columns in enumerate_rows(spool.batches(rows)):
                count = len(columns["submit"])
                numbers = np.arange(first, first + count, dtype=np.int64)
                yield columns | {"job_id": numbers, "nodes": np.ones(count, np.int64)}
        finally:
            spool.close()

    def tasks(self, block: Block) -> dict[str, Any]:
        times = block.whole("instance_num").fill_null(0).to_numpy()
        if np.any((times < 0) | (times > _MOST_INSTANCES)):
            row = int(np.argmax((times < 0) | (times > _MOST_INSTANCES)))
            raise block.wrong(f"a task has 0 to {_MOST_INSTANCES:,} instances", row, int(times[row]))
        found, rows = self.jobs(block, "plan_cpu", "plan_mem")
        return {name: np.repeat(values, times[rows]) for name, values in found.items()}

    def instances(self, block: Block) -> dict[str, Any]:
        return self.jobs(block, "cpu_max", "mem_max")[0]

    def jobs(self, block: Block, cpu: str, memory: str) -> tuple[dict[str, Any], np.ndarray[Any, Any]]:
        """The rows that are jobs, and their numbers in the block."""
        start, end = block.numbers("start_time"), block.numbers("end_time")
        asked, held = block.numbers(cpu), block.numbers(memory)
        over = block.texts("status").is_in(_OVER).fill_null(False).to_numpy()
        begun, ended = start.fill_null(-1).to_numpy(), end.fill_null(-1).to_numpy()
        reasons = {
            "not ended within the trace": ~over,
            "run time unknown or zero": (begun < 0) | (ended <= begun) | (ended * SECOND > LATEST),
            "request unknown": (asked.is_null() | (asked < 0) | (asked > 1e9)).to_numpy(),
            "memory out of range": ((held < 0) | (held > 1e4)).fill_null(False).to_numpy(),
        }
        kept = np.ones(len(block), np.bool_)
        for reason, bad in reasons.items():
            self.skipped[reason] += int(np.count_nonzero(kept & bad))
            kept &= ~bad
        rows = np.flatnonzero(kept)
        submit = np.rint(begun[rows] * SECOND).astype(np.int64)
        return {
            "submit": submit,
            "run_time": np.rint(ended[rows] * SECOND).astype(np.int64) - submit,
            "cores": self.host.cores_of(asked.to_numpy()[rows] / CPU_OF_A_HOST),
            "memory": self.host.memory_of(held.fill_null(float("nan")).to_numpy()[rows] / MEMORY_OF_A_HOST),
        }, rows

    def containers(self) -> Workload:
        """Each container once, from its first record on; a container has no time limit."""
        import polars as pl

        tables = []
        for block in self.blocks():
            texts = {name: block.texts(name) for name in ("container_id", "app_du", "status")}
            numbers = {name: block.numbers(name) for name in ("time_stamp", "cpu_request", "mem_size")}
            tables.append(pl.DataFrame([*(one.alias(name) for name, one in (texts | numbers).items())]))
        table = pl.concat(tables).drop_nulls(("container_id", "time_stamp", "cpu_request"))
        table = table.filter((pl.col("time_stamp") >= 0) & pl.col("cpu_request").is_between(0, 1e9))
        table = table.filter(pl.col("mem_size").is_null() | pl.col("mem_size").is_between(0, 1e4))
        table = table.filter(pl.col("time_stamp") <= LATEST / SECOND)
        self.skipped["malformed line"] += self.lines - len(table)
        if not len(table):
            raise InputError("there is no container in this table", file=self.path)
        stopped = pl.col("time_stamp").filter(pl.col("status").str.to_lowercase() == "stopped").min()
        lives = table.group_by("container_id", maintain_order=True).agg(
            pl.col("time_stamp").min().alias("first"),
            stopped.alias("stopped"),
            pl.col("cpu_request").max(),
            pl.col("mem_size").max(),
            pl.col("app_du").first(),
        )
        last = float(table["time_stamp"].max() or 0.0)  # type: ignore[arg-type]
        begun, ended = lives["first"].to_numpy(), lives["stopped"].fill_null(last).to_numpy()
        rows = np.flatnonzero(ended > begun)
        self.skipped["run time unknown or zero"] += len(lives) - len(rows)
        if not len(rows):
            raise InputError("no container of this table runs for a while", file=self.path)
        lives, begun, ended = lives[rows], begun[rows], ended[rows]
        groups, names = encode_labels(lives["app_du"].to_list())
        memory = lives["mem_size"].fill_null(float("nan")).to_numpy() / MEMORY_OF_A_HOST
        columns: dict[str, Any] = {
            "submit": np.rint(begun * SECOND).astype(np.int64),
            "run_time": np.rint((ended - begun) * SECOND).astype(np.int64),
            "requested_time": np.full(len(rows), UNLIMITED),
            "cores": self.host.cores_of(lives["cpu_request"].to_numpy() / CPU_OF_A_HOST),
            "memory": self.host.memory_of(memory),
            "nodes": np.ones(len(rows), np.int64),
            "name": lives["container_id"].to_list(),
            "group": groups,
        }
        return self.workload(sort_by_submission(columns), {"group": names})

    def workload(self, columns: dict[str, Any], labels: dict[str, list[str]] | None = None) -> Workload:
        skipped = {reason: count for reason, count in self.skipped.items() if count}
        notes = {"lines": self.lines, "skipped": skipped}
        if "requested_time" not in columns:
            notes["missing_request"] = len(columns["submit"])
        return Workload(columns, labels or {}, notes=notes, source=str(self.path))

    def told(self) -> str:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.skipped.items() if count)
        return f" ({reasons})" if reasons else ""
