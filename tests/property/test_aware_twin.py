"""Workflow-aware tasks under orders with many factors: the engine agrees with its slow twin on random sites."""

from __future__ import annotations

import numpy as np
import pytest
from site_runs import compare_with_twin
from site_scenarios import KINDS
from test_fairshare_twin import draw_shared

from walltime.core.random import stream
from walltime.core.workload import Workload, encode_labels
from walltime.scenario import Scenario, parse


def add_workflows(workload: Workload, seed: int) -> Workload:
    """Half of the jobs become tasks of workflows, most of them aware; each task may wait for some before it."""
    random = stream(seed, "aware.twin")
    size = len(workload)
    labels: list[str | None] = [f"flow{row // 5}" if random.random() < 0.6 else None for row in range(size)]
    aware = {label: int(random.random() < 0.8) for label in dict.fromkeys(labels) if label is not None}
    numbers = workload.column("job_id").tolist()
    texts = []
    for row, label in enumerate(labels):
        before = [numbers[other] for other in range(row) if label is not None and labels[other] == label]
        needed = [number for number in before if random.random() < 0.4]
        texts.append(f"afterany:{':'.join(map(str, needed))}" if needed else "")
    codes, names = encode_labels(labels)
    columns = workload.columns | {
        "workflow": codes,
        "dependencies": texts,
        "aware": np.array([aware.get(label, 0) for label in labels], np.int64),
    }
    return workload.replace(columns, labels=workload.labels | {"workflow": names})


def draw_scenario(seed: int, kind: str) -> Scenario:
    site, workload = draw_shared(seed, kind)
    return parse(site | {"workload": {"table": add_workflows(workload, seed)}})


@pytest.mark.parametrize("kind", KINDS)
def test_the_engine_agrees_with_its_twin(kind):
    compare_with_twin(draw_scenario, kind, range(500, 530))
