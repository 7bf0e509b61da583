"""Jobs whose nodes differ, read from the workload's column `parts`: `1x8+4x2,memory=8000,gpus=4@long`."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from walltime.core.workload import Workload


@dataclass(frozen=True)
class AuditedPart:
    """So many nodes with so many cores each; `own` has what each of them needs of what the part tells by itself."""

    nodes: int
    cores: int
    own: dict[str, int]


def read_parts(text: str) -> list[AuditedPart]:
    """The parts, the one with the most cores first; a text that cannot be read has none."""
    found = []
    for word in text.split("+"):
        shape, *amounts = word.partition("@")[0].split(",")
        match = re.fullmatch(r"\s*(\d+)x(\d+)\s*", shape)
        if match is None:
            return []
        nodes = int(match[1])
        told = dict(amount.split("=", 1) for amount in amounts)
        found.append(AuditedPart(nodes, int(match[2]), {name: -(-int(much) // nodes) for name, much in told.items()}))
    return sorted(found, key=lambda part: -part.cores)


def sizes_of(parts: list[AuditedPart]) -> np.ndarray:
    """The cores of every node of the parts, the most first."""
    return np.repeat([part.cores for part in parts], [part.nodes for part in parts]).astype(np.int64)


def find_wrong(
    workload: Workload, asked: np.ndarray, allocations: dict[int, np.ndarray], alone: np.ndarray
) -> list[int]:
    """Which allocations do not have the parts of their job. `asked` is the job's row in the workload, by allocation;
    the cores that each has on its nodes, or of nodes that it has `alone` their sizes, are in `allocations`."""
    texts, codes = workload.label_names("parts"), workload.column("parts")
    wrong = []
    for row, held in allocations.items():
        wanted = sizes_of(read_parts(texts[codes[asked[row]]]))
        have = np.sort(held)[::-1]
        if len(have) != len(wanted) or ((have < wanted) if alone[row] else (have != wanted)).any():
            wrong.append(row)
    return wrong
