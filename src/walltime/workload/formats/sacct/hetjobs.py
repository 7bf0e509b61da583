"""Heterogeneous jobs of Slurm, which sacct prints part by part (`12+0`, `12+1`): each becomes one job.

The parts start together, so they are one request: its cores, nodes, memory, GPUs and licences are the sums, its times
the longest, and everything else is that of the first part. Where all nodes of the parts are alike, that is a request
like any other. Where they are not, or are in different queues, the column `parts` says what each part has, for engines
to honour or to refuse: a pool of cores needs the sum alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from walltime.core.workload import MISSING

_PART = re.compile(r"(\d+)\+(\d+)")
_SUMS = ("cores", "nodes", "memory", "gpus")
_LONGEST = ("run_time", "requested_time", "begin", "cancel")


class HeterogeneousJobs:
    """Puts parts together; `names` are the labels of the column `parts`, `count` the jobs that were put together."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.count = 0

    def join(self, columns: dict[str, Any], queues: list[str], licences: Callable[[list[int]], int]) -> dict[str, Any]:
        """The columns with one row for each job; `queues` are the names behind the codes of their queues, `licences`
        gives the code of what the licences of several codes are together."""
        jobs = find_parts(columns)
        if not jobs:
            return columns
        made = {name: list(values) if name == "name" else values.copy() for name, values in columns.items()}
        different = np.full(len(columns["submit"]), MISSING, np.int32)
        kept = np.ones(len(different), np.bool_)
        for number, rows in jobs.items():
            first = rows[0]
            if len(rows) > 1:
                made["name"][first] = ""
                made["job_id"][first] = number
                different[first] = self._describe(columns, rows, queues)
                self._add_up(made, rows)
                if "licences" in made:
                    made["licences"][first] = licences([int(code) for code in columns["licences"][rows]])
                kept[rows[1:]] = False
                self.count += 1
        if (different >= 0).any():
            made["parts"] = different
        left = np.flatnonzero(kept)
        return {
            name: [values[row] for row in left] if name == "name" else values[left] for name, values in made.items()
        }

    def _describe(self, columns: dict[str, Any], rows: list[int], queues: list[str]) -> int:
        """The code of what the parts have; MISSING where one request with a shape says it all."""
        told = [[_value(columns, name, row) for name in (*_SUMS, "queue")] for row in rows]
        shared = [sum(part[place] for part in told) for place in range(4)]
        whole = [part[1] > 0 for part in told]
        alike = len({part[4] for part in told}) == 1 and (all(whole) or not any(whole))
        for place in (0, 2, 3):
            unit = 1 if all(whole) else 0  # what is even: over nodes, or over cores
            alike = alike and all(part[place] * shared[unit] == shared[place] * part[unit] for part in told)
        if alike:
            return MISSING
        text = "+".join(_text(*part, queues=queues) for part in told)
        if text not in self.names:
            self.names.append(text)
        return self.names.index(text)

    def _add_up(self, columns: dict[str, Any], rows: list[int]) -> None:
        first = rows[0]
        for name in _SUMS:
            if name in columns:
                known = [int(columns[name][row]) for row in rows if columns[name][row] > 0]
                if known:
                    columns[name][first] = sum(known)
        for name in _LONGEST:
            if name in columns:
                columns[name][first] = columns[name][rows].max()
        if "cancel" in columns and columns["run_time"][first] >= 0:
            columns["cancel"][first] = MISSING  # a part that ran was not withdrawn


def find_parts(columns: dict[str, Any]) -> dict[int, list[int]]:
    """The rows of each heterogeneous job by its number, in the order of its parts."""
    found: dict[int, list[tuple[int, int]]] = {}
    for row, name in enumerate(columns.get("name", ())):
        if "+" in name and (match := _PART.fullmatch(name)):
            found.setdefault(int(match[1]), []).append((int(match[2]), row))
    return {number: [row for _, row in sorted(parts)] for number, parts in found.items()}


def cut_last(columns: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The columns without the heterogeneous job that their last row is a part of, as it may go on; and that job."""
    last = len(columns["submit"]) - 1
    rows = next((rows for rows in find_parts(columns).values() if last in rows), None)
    if rows is None:
        return columns, None
    held = np.zeros(last + 1, np.bool_)
    held[rows] = True
    return tuple(  # type: ignore[return-value]
        {
            name: [values[row] for row in np.flatnonzero(mask)] if name == "name" else values[mask]
            for name, values in columns.items()
        }
        for mask in (~held, held)
    )


def _value(columns: dict[str, Any], name: str, row: int) -> int:
    """A number of a row; of an amount that is not told, none."""
    if name not in columns:
        return MISSING if name == "queue" else 0
    return int(columns[name][row]) if name == "queue" else max(int(columns[name][row]), 0)


def _text(cores: int, nodes: int, memory: int, gpus: int, queue: int, *, queues: list[str]) -> str:
    """`4x16,gpus=8@long`: nodes x cores of each, where they divide, else all cores."""
    shape = f"{nodes}x{cores // nodes}" if nodes > 0 and cores % nodes == 0 else f"{cores}"
    extra = f",memory={memory}" * (memory > 0) + f",gpus={gpus}" * (gpus > 0)
    return shape + extra + (f"@{queues[queue]}" if queue >= 0 else "")
