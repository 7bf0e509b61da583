"""Random dependencies, arrays, begin times, deadlines and impatient users, laid over any workload; never a circle."""

from __future__ import annotations

from typing import Any

import numpy as np

from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.core.workload import MISSING, Workload, encode_labels

KINDS = ("after", "afterany", "afterok", "afternotok")


def add_conditions(workload: Workload, seed: int, unit: int = SECOND) -> tuple[Workload, dict[str, Any]]:
    """The workload with conditions, and the scenario's keys that go with them; times are multiples of the unit."""
    random = stream(seed, "conditions")
    size = len(workload)
    job_id = workload.column("job_id")
    columns, labels = dict(workload.columns), dict(workload.labels)
    arrays = _draw_arrays(random, size)
    columns["array"], labels["array"] = encode_labels(arrays)
    names = [f"{name.partition('%')[0]}_{row}" if name else str(random.choice(["", "x", "y"]))
             for row, name in enumerate(arrays)]  # fmt: skip
    columns["name"] = names
    if "user" not in columns:
        columns["user"], labels["user"] = encode_labels([str(random.choice(["ann", "bo"])) for _ in range(size)])
    singles = random.random() < 0.5
    # Who may be waited for: those before in this order. With singletons it is that of submission, or circles arise.
    rank = np.arange(size) if singles or random.random() < 0.5 else random.permutation(size)
    texts = []
    for row in range(size):
        before = [other for other in range(size) if rank[other] < rank[row]]
        texts.append(_draw_text(random, row, before, names, arrays, job_id, rank, singles))
    columns["dependencies"] = texts
    columns["aware"] = (random.random(size) < 0.2).astype(np.int64)
    if random.random() < 0.3:
        asked = [int(random.integers(0, row)) if row and random.random() < 0.3 else MISSING for row in range(size)]
        alone = [other if other != MISSING and "?" not in texts[row] and rank[other] < rank[row] else MISSING
                 for row, other in enumerate(asked)]  # fmt: skip
        columns["preceding_job"] = np.array([MISSING if other == MISSING else job_id[other] for other in alone])
        columns["think_time"] = random.integers(-1, 4, size) * unit
        columns["think_time"][columns["think_time"] < 0] = MISSING
    submit = columns["submit"]
    if random.random() < 0.4:
        columns["begin"] = np.where(random.random(size) < 0.2, submit + random.integers(-2, 9, size) * unit, MISSING)
    if random.random() < 0.4:
        columns["patience"] = np.where(random.random(size) < 0.3, random.integers(1, 20, size) * unit, MISSING)
    if random.random() < 0.4:
        columns["deadline"] = np.where(random.random(size) < 0.5, submit + random.integers(0, 40, size) * unit, MISSING)
    keys = {
        "dependencies": {"never": str(random.choice(["cancel", "stay"])), "preceding": "preceding_job" in columns},
        "deadlines": str(random.choice(["keep", "cancel"])),
    }
    return workload.replace(columns, labels=labels), keys


def _draw_arrays(random: np.random.Generator, size: int) -> list[str]:
    """Runs of neighbouring rows that are one array, half of them with a limit."""
    arrays = [""] * size
    row = 0
    while row < size:
        if random.random() < 0.25:
            length = int(random.integers(2, 6))
            limit = f"%{int(random.integers(1, 4))}" if random.random() < 0.6 else ""
            for place in range(row, min(row + length, size)):
                arrays[place] = f"{900_000 + row}{limit}"
            row += length
        row += 1
    return arrays


def _draw_text(random: Any, row: int, before: list[int], names: list[str], arrays: list[str], job_id: np.ndarray,
               rank: np.ndarray, singles: bool) -> str:  # fmt: skip
    parts = []
    if singles and names[row] and random.random() < 0.4:
        parts.append("singleton")
    if before and random.random() < 0.5:
        for _ in range(int(random.integers(1, 3))):
            kind = str(random.choice(KINDS))
            targets = [_name(random, int(random.choice(before)), row, names, arrays, job_id, rank)
                       for _ in range(int(random.integers(1, 3)))]  # fmt: skip
            if kind == "after":
                targets = [f"{target}+1" if random.random() < 0.3 else target for target in targets]
            parts.append(":".join([kind, *targets]))
    return str(random.choice([",", "?"])).join(parts)


def _name(random: Any, target: int, row: int, names: list[str], arrays: list[str], job_id: np.ndarray,
          rank: np.ndarray) -> str:  # fmt: skip
    """A job by its number, a task by its name, or its whole array where all of it comes before."""
    if arrays[target] and random.random() < 0.5:
        tasks = [other for other in range(len(arrays)) if arrays[other] == arrays[target]]
        if all(rank[other] < rank[row] for other in tasks):
            return arrays[target].partition("%")[0]
        return names[target]
    return str(int(job_id[target]))
