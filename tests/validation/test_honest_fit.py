"""A model of a log's first half is about as close to the second half as the first half itself."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from walltime import compare_workloads, read_workload
from walltime.workload.describe import describe

TOOL = Path(__file__).parents[2] / "tools" / "honest_fit.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("honest_fit", TOOL)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("name", "cores"), [("hpc2n-3k", 240), ("wagap-2013", 2176)])
def test_first_half_and_second_half(external, tool, name, cores):
    first, second = tool.halves(read_workload(external(f"traces/{name}.swf")))
    days = describe(second, cores)["span"] / 86_400
    baseline = compare_workloads(second, first)
    judged = [compare_workloads(second, tool.draw(first, cores, days, None, seed)) for seed in tool.SEEDS[:3]]
    for variable in baseline.variables:
        mean = np.mean([each.variable(variable.name).ks for each in judged])
        assert mean < variable.ks + 0.05, (variable.name, mean, variable.ks)
    for key in ("hour of the day", "day of the week"):
        assert np.mean([each.rhythm[key] for each in judged]) < baseline.rhythm[key] + 0.1


@pytest.mark.parametrize(("name", "cores"), [("hpc2n-3k", 240), ("wagap-2013", 2176)])
def test_against_the_log_that_it_was_fitted_to(external, tool, name, cores):
    log = read_workload(external(f"traces/{name}.swf"))
    log = log.select(log.column("run_time") > 0)
    days = 30_000 / len(log) * describe(log, cores)["span"] / 86_400
    for seed in tool.SEEDS[:3]:
        found = compare_workloads(log, tool.draw(log, cores, days, None, seed))
        for variable in found.variables:
            assert variable.ks < 0.05, (seed, variable.name, variable.ks)
