"""Several tables of jobs made one."""

from __future__ import annotations

from typing import Any

import numpy as np

from walltime.core.workload import COLUMNS, MISSING, Workload


def concatenate(
    parts: list[tuple[int, dict[str, Any], dict[str, list[str]]]],
) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """The parts' rows one after another; labels are joined by name, gaps are defaults; empty columns are left out."""
    names = [name for name in COLUMNS if any(name in columns for _, columns, _ in parts) and name != "job_id"]
    joined: dict[str, Any] = {}
    labels: dict[str, list[str]] = {}
    for name in names:
        column = COLUMNS[name]
        pieces: list[Any] = []
        for size, columns, own in parts:
            values = columns.get(name)
            if column.kind == "text":
                pieces += values if values is not None else [""] * size
            elif values is None:
                empty = MISSING if column.default is None else column.default
                pieces.append(np.full(size, empty, np.int64))
            elif column.kind == "label" and (name != "phase" or name in own):
                known = labels.setdefault(name, [])
                seen = set(known)
                known += [label for label in own.get(name, []) if label not in seen]
                places = {label: index for index, label in enumerate(known)}
                codes = np.array([places[label] for label in own.get(name, [])] + [MISSING], np.int64)
                pieces.append(codes[np.asarray(values, np.int64)])
            else:
                pieces.append(values)
        whole = pieces if column.kind == "text" else np.concatenate(pieces)
        empty = 0 if column.default == 0 else MISSING
        if column.kind == "text" or name in ("submit", "run_time", "cores") or bool(np.any(whole != empty)):
            joined[name] = whole
    return joined, {name: known for name, known in labels.items() if name in joined}


def join_workloads(first: Workload, second: Workload) -> Workload:
    """The jobs of both, with the numbers that they have; what else is known of a workload is the first one's."""
    columns, labels = concatenate([(len(one), dict(one.columns), one.labels) for one in (first, second)])
    columns["job_id"] = np.concatenate([first.column("job_id"), second.column("job_id")])
    return first.replace(columns, labels=labels)


def mix_workloads(parts: list[Workload]) -> Workload:
    """The jobs of several workloads by submission, on one clock; numbers that occur twice are told apart later.

    The notes' counts are summed; the origin is the first one's, and the machine the largest that a part tells.
    """
    columns, labels = concatenate([(len(one), dict(one.columns), one.labels) for one in parts])
    columns["job_id"] = np.concatenate([one.column("job_id") for one in parts])
    notes: dict[str, Any] = {"skipped": {}}
    for one in parts:
        for reason, count in one.notes.get("skipped", {}).items():
            notes["skipped"][reason] = notes["skipped"].get(reason, 0) + count
        for name in ("lines", "missing_request", "overlong", "unlimited"):
            notes[name] = notes.get(name, 0) + one.notes.get(name, 0)
    sizes = [one.machine_cores for one in parts if one.machine_cores is not None]
    told = {"source": ", ".join(one.source for one in parts), "machine_cores": max(sizes, default=None), "notes": notes}
    return parts[0].replace(columns, labels=labels, header={}, skipped_at={}, **told)
