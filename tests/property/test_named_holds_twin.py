"""With `holds: named` every reservation on nodes names them when it is made; by hand, and as the slow twin has it."""

from __future__ import annotations

from typing import Any

import pytest
from disruption_runs import differences, run_fast, run_slowly
from site_runs import compare_with_twin
from test_disruptions_twin import scenario_of
from test_nodes_twin import POLICIES, draw_case, fast_rows, make_scenario, slow_rows
from test_site_twin import draw_scenario

from walltime import api
from walltime.core.errors import UnsupportedError
from walltime.core.workload import Workload
from walltime.scenario import Scenario, parse
from walltime.slurm.translate import refusals


def with_names(scenario: Scenario) -> Scenario:
    """The same with names in every reservation on nodes."""
    cluster = scenario.clusters[0]
    scheduler = cluster.scheduler.model_copy(update={"holds": "named"})
    return scenario.model_copy(update={"clusters": (cluster.model_copy(update={"scheduler": scheduler}),)})


def starts(holds: str, columns: dict[str, Any], **cluster: Any) -> list[float]:
    jobs = Workload.from_columns(**columns, requested_time=columns["run_time"])
    scheduler = {"place": "first-fit", "backfill": "easy", "holds": holds}
    scenario = parse({"workload": {"table": jobs}, "cluster": {"scheduler": scheduler, **cluster}})
    fast = api.simulate(scenario)
    assert fast.audit() == []
    assert [row[1] for row in fast_rows(fast)] == [row[1] for row in slow_rows(scenario)]
    return fast.jobs["start"].to_list()


def test_a_reservation_of_cores_keeps_the_first_that_serve():
    # n0 has one free core; n1 is free at 10. The third job wants two cores at 10, when there are three: by number, the
    # core that is free now is left over; by name it is kept, and n1's second core is left over from 10 on.
    columns = {
        "submit": [0, 0, 0, 0],
        "run_time": [20, 10, 10, 30],
        "cores": [1, 2, 2, 1],
        "nodes": [1, 1, -1, -1],
    }
    assert starts("counted", columns, nodes="2x2") == [0, 0, 10, 0]
    assert starts("named", columns, nodes="2x2") == [0, 0, 10, 10]


@pytest.mark.parametrize(("nodes", "named"), [(-1, 10), (2, 7)])
def test_a_reservation_of_whole_nodes_keeps_the_first_or_those_that_are_free_last(nodes, named):
    # At 7 n0 is free; n1 and n2 are from 10 on. Two of the three are kept from 10: n0 and n1 for one that asks for
    # cores alone, n1 and n2 for one that asks for nodes.
    columns = {
        "submit": [0, 0, 0, 0, 6, 7],
        "run_time": [5, 10, 10, 30, 10, 30],
        "cores": [1, 1, 1, 1, 2, 1],
        "nodes": [1, 1, 1, 1, nodes, 1],
    }
    assert starts("counted", columns, nodes="4x1", sharing="whole") == [0, 0, 0, 0, 10, 7]
    assert starts("named", columns, nodes="4x1", sharing="whole") == [0, 0, 0, 0, 10, named]


@pytest.mark.parametrize(("policy", "depth"), POLICIES)
def test_nodes_with_names_as_the_twin_has_them(policy, depth):
    others = 0
    for seed in range(30):
        scenario = make_scenario(draw_case(seed, policy, depth))
        result = api.simulate(with_names(scenario))
        assert fast_rows(result) == slow_rows(with_names(scenario)), f"draw_case({seed}, {policy!r}, {depth})"
        assert result.audit() == []
        others += fast_rows(result) != fast_rows(api.simulate(scenario))
    assert others > 0 or policy != "easy" or depth > 1


def draw_named(seed: int, kind: str) -> Scenario:
    return with_names(draw_scenario(seed, kind))


@pytest.mark.parametrize("kind", ["plain", "vectors"])
def test_sites_with_names_as_the_twin_has_them(kind):
    compare_with_twin(draw_named, kind, range(60), audited=True)


@pytest.mark.parametrize("kind", ["plain", "vectors"])
def test_disrupted_sites_with_names_as_the_twin_has_them(kind):
    for seed in range(40):
        scenario = with_names(scenario_of(seed, kind))
        assert not differences(run_fast(scenario), run_slowly(scenario)), f"scenario_of({seed}, {kind!r})"


@pytest.mark.parametrize("cluster", [{"cores": 4}, {"nodes": "2x2", "rhythm": "slurm"}])
def test_names_where_there_are_none_to_choose_are_refused(cluster):
    scheduler = {"holds": "named", "rhythm": cluster.pop("rhythm", "instant")}
    jobs = Workload.from_columns(submit=[0], run_time=[1], requested_time=[1], cores=[1])
    with pytest.raises(UnsupportedError, match=r"cluster\.scheduler\.holds"):
        api.simulate(parse({"workload": {"table": jobs}, "cluster": cluster | {"scheduler": scheduler}}))


@pytest.mark.parametrize("holds", ["counted", "named"])
def test_the_slurm_engine_refuses_them_by_their_key(holds):
    jobs = Workload.from_columns(submit=[0], run_time=[60], requested_time=[60], cores=[1])
    cluster = {"nodes": "2x2", "scheduler": {"holds": holds}}
    refused = refusals.unsupported(parse({"workload": {"table": jobs}, "engine": "slurm", "cluster": cluster}))
    assert [key for key, _ in refused] == (["cluster.scheduler.holds"] if holds == "named" else [])
