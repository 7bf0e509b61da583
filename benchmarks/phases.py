"""`python -m benchmarks.phases TRACE FOLDER`: does what `walltime run` does and prints CPU seconds by phase as JSON.

In a process of its own, since memory that is touched for the first time is a good part of the cost.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import time

from walltime.cli.main import LIBRARIES, OBJECTS

PHASES = ("imports", "read", "simulate", "tables", "summarise", "series", "write")


def run_phases(trace: str, folder: str) -> dict[str, float]:
    """CPU seconds from the start of the process, one phase after the other."""
    gc.set_threshold(OBJECTS)
    os.environ.update(LIBRARIES)
    importlib.import_module("walltime.cli.app")
    from walltime.analysis.metrics import summarise
    from walltime.analysis.series import series
    from walltime.api import Result
    from walltime.engine import native
    from walltime.policy import registry
    from walltime.scenario import parse, resolve

    scheduler = registry.preset("easy")
    scenario = parse({"workload": {"trace": trace}, "cluster": {"scheduler": scheduler}}, [])
    registry.check(scenario)
    marks = [0.0, time.process_time()]
    workload = scenario.read_workload()
    scenario = resolve(scenario, workload)
    marks.append(time.process_time())
    record = native.run(scenario, workload)
    marks += [marks[-1] + record.durations["cpu"], time.process_time()]
    summary = summarise(record)
    marks.append(time.process_time())
    result = Result(scenario, record, "easy", summary=summary, series=series(record))
    marks.append(time.process_time())
    result.save(folder, force=True)
    marks.append(time.process_time())
    return {phase: marks[i + 1] - marks[i] for i, phase in enumerate(PHASES)}


if __name__ == "__main__":
    print(json.dumps(run_phases(sys.argv[1], sys.argv[2])))
