"""Workflow-aware tasks under orders with many factors: the engine agrees with its slow twin on random sites."""

from __future__ import annotations

import numpy as np
import pytest
from site_scenarios import KINDS
from test_fairshare_twin import draw_shared
from test_site_twin import fast_rows, slow_rows

from walltime.core.errors import InputError, UnsupportedError
from walltime.core.random import stream
from walltime.core.workload import Workload, encode_labels
from walltime.scenario import parse


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


@pytest.mark.parametrize("kind", KINDS)
def test_the_engine_agrees_with_its_twin(kind):
    compared = 0
    for seed in range(500, 530):
        site, workload = draw_shared(seed, kind)
        scenario = parse(site | {"workload": {"table": add_workflows(workload, seed)}})
        slow = slow_rows(scenario)
        try:
            fast = fast_rows(scenario)
        except InputError as error:
            if not isinstance(error, UnsupportedError) and error.value != "topology":
                raise
            continue
        compared += 1
        if fast != slow:
            first = next(pair for pair in zip(fast, slow, strict=True) if pair[0] != pair[1])
            pytest.fail(f"engine {first[0]}, twin {first[1]}; seed {seed}, {kind!r}: {site}", pytrace=False)
    assert compared > 15
