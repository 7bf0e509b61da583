"""The plan as a model of a constraint solver, against all orders, and the same again."""

from __future__ import annotations

import sys
from itertools import permutations

import pytest

from planning import make_plan
from walltime import api
from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.policies.optimise.objectives import Wait
from walltime.policy import registry
from walltime.policy.optimise import UserTotals
from walltime.scenario import Part


def solver(**parameters):
    return registry.build("optimise", Part(name="cp-sat", parameters=parameters))


def test_without_ortools_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ortools", None)
    with pytest.raises(InputError, match=r"pip install 'walltime\[solver\]'"):
        solver()


@pytest.mark.service
class TestSolved:
    """Where OR-Tools is installed."""

    @pytest.fixture(autouse=True)
    def _installed(self):
        pytest.importorskip("ortools", reason="no OR-Tools: pip install 'walltime[solver]'")

    def test_small_plans_are_the_best_of_all_orders(self):
        for seed in range(6):
            planned = make_plan(seed, jobs=6, cores=6, unit=60 * SECOND)
            draft = planned.open()
            best = Wait().measure(draft)
            for order in permutations(range(draft.size)):
                for i in order:
                    draft.take_out(i)
                for i in order:
                    draft.put(i, draft.earliest(i))
                best = min(best, Wait().measure(draft))
            draft.close()
            draft = planned.open()
            solver(objectives={"wait": 1}).improve(draft, UserTotals())
            assert Wait().measure(draft) == pytest.approx(best)

    @pytest.mark.parametrize("objective", ["wait", "response", "slowdown", "makespan", "tardiness", "missed-deadlines"])
    def test_no_plan_becomes_worse(self, objective):
        for seed in range(3):
            draft = make_plan(seed, jobs=25, cores=8, unit=60 * SECOND).open()
            part = registry.build("objective", Part(name=objective))
            before = part.measure(draft)
            solver(objectives={objective: 1, "wait": 0.01}, limit=0.2).improve(draft, UserTotals())
            after = part.measure(draft)
            assert draft.is_whole()
            assert after <= before * 1.05 + 1e-9

    def test_the_same_seed_gives_the_same_schedule(self):
        jobs = Workload.from_columns(
            submit=[0] * 30, cores=[1 + i % 7 for i in range(30)], run_time=[60 + 37 * i for i in range(30)]
        )
        for machine in ({"cores": 8}, {"nodes": "2x4"}):
            optimise = {"name": "cp-sat", "limit": 0.1, "on": ["ends", "arrivals"]}
            scenario = {
                "workload": {"table": jobs},
                "cluster": machine | {"scheduler": {"backfill": {"name": "plan", "optimise": optimise}}},
            }
            one, other = api.simulate(scenario), api.simulate(scenario)
            assert one.digest == other.digest
            assert not one.audit()

    def test_what_the_model_does_not_have_is_refused(self):
        with pytest.raises(InputError, match="linear"):
            solver(objectives={"fairness": 1})
