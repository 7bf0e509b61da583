"""Schedules as rectangles: nothing overlaps, nothing is lost, and what is left out is said."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handmade import allocation, job, outages, record, simulated, workloads
from walltime.analysis.charts.schedule.layout import Schedule, lay_out, read_ranges
from walltime.analysis.intervals import find_held
from walltime.core.tables import Record


def check(plan: Schedule, made: Record) -> None:
    """No two rectangles share a core at one time; together they are the allocations."""
    order = sorted(range(len(plan.of)), key=lambda i: plan.start[i])
    for place, i in enumerate(order):
        assert plan.start[i] < plan.end[i]
        assert 0 <= plan.low[i] < plan.high[i] <= plan.rows
        for j in order[place + 1 :]:
            if plan.start[j] >= plan.end[i]:
                continue
            assert plan.high[j] <= plan.low[i] or plan.low[j] >= plan.high[i]
    area = float(np.sum((plan.end - plan.start) * (plan.high - plan.low)))
    held = find_held(made)
    assert area == pytest.approx(float(np.sum((held.end - held.start) / 1e6 * held.cores)))


@settings(max_examples=60, deadline=None)
@given(workloads(cores=8), st.sampled_from(["fcfs", "easy"]))
def test_rectangles_never_overlap_and_cover_everything(workload, policy) -> None:
    made = simulated(workload, 8, policy)
    if made.jobs.height:
        check(lay_out(made), made)


@settings(max_examples=40, deadline=None)
@given(workloads(cores=8), st.integers(1, 10))
def test_what_is_hidden_and_what_is_shown_make_the_whole(workload, most) -> None:
    made = simulated(workload, 8, "easy")
    if not made.jobs.height or not made.allocations.height:
        return
    plan = lay_out(made, most)
    shown = float(np.sum((plan.end - plan.start) * (plan.high - plan.low)))
    cell = (plan.last - plan.first) * plan.rows
    hidden = 0.0 if plan.hidden is None else float(plan.hidden.sum()) * cell / plan.hidden.size
    held = find_held(made)
    inside = np.minimum(held.end, plan.last * 1e6) - held.start
    assert shown + hidden == pytest.approx(float(np.sum(inside / 1e6 * held.cores)), rel=1e-6, abs=1e-6)
    assert plan.jobs.height <= most


def test_a_job_gets_the_smallest_gap_that_it_fits_into_else_the_largest() -> None:
    rows = [job(1, 0, 0, 10, 2), job(2, 0, 0, 4, 2), job(3, 0, 0, 20, 2), job(4, 4, 4, 9, 1), job(5, 5, 5, 9, 3)]
    plan = lay_out(record(*rows, cores=8))
    where = {}
    for i, of in enumerate(plan.of):
        where.setdefault(int(plan.jobs["job_id"][int(of)]), []).append((int(plan.low[i]), int(plan.high[i])))
    assert where == {1: [(0, 2)], 2: [(2, 4)], 3: [(4, 6)], 4: [(2, 3)], 5: [(6, 8), (3, 4)]}


def test_nodes_are_where_the_record_says() -> None:
    one, two = job(1, 0, 0, 10, 6, nodes=2), job(2, 0, 0, 10, 2, nodes=1)
    facts = {"nodes": {"cluster": {"cores": [[3, 4]], "sharing": "shared"}}}
    made = record(
        one, two, cores=12, allocations=[allocation(one, nodes="0-1:3"), allocation(two, nodes="2:2")], **facts
    )
    plan = lay_out(made)
    assert plan.bands[0].nodes.tolist() == [0, 4, 8]
    found = sorted(zip(plan.of.tolist(), plan.low.tolist(), plan.high.tolist(), strict=True))
    assert found == [(0, 0, 3), (0, 4, 7), (1, 8, 10)]


def test_ranges_of_nodes_are_read() -> None:
    import polars as pl

    found = read_ranges(pl.Series(["0-3:24,7:5", None, "12:1"]))
    assert found.tolist() == [[0, 0, 3, 24], [0, 7, 7, 5], [2, 12, 12, 1]]


def test_clusters_stand_on_top_of_each_other() -> None:
    one, two = job(1, 0, 0, 10, 2, cluster="a"), job(2, 0, 0, 10, 3, cluster="b")
    plan = lay_out(record(one, two, clusters={"a": 4, "b": 8}))
    assert [(band.name, band.low, band.high) for band in plan.bands] == [("a", 0, 4), ("b", 4, 12)]
    assert plan.low.tolist() == [0, 4]


def test_a_node_whose_time_is_shared_has_a_row_for_each_task_that_it_ever_had() -> None:
    rows = [job(1, 0, 0, 10, 2), job(2, 0, 5, 15, 1), job(3, 0, 15, 20, 2)]
    taken = [allocation(row, nodes=nodes) for row, nodes in zip(rows, ("0:2", "0:1", "0:1,1:1"), strict=True)]
    facts = {"nodes": {"cluster": {"cores": [[3, 50]], "sharing": "shared"}}, "shared_time": True}
    made = record(*rows, allocations=taken, cores=150, **facts)
    assert lay_out(made).rows == 150
    plan = lay_out(made, tight=True)
    assert plan.nodes.tolist() == [0, 3, 4]
    assert plan.rows == 5
    check(plan, made)


def test_a_window_leaves_out_what_did_not_run_in_it() -> None:
    made = record(job(1, 0, 0, 10), job(2, 0, 10, 20), job(3, 0, 20, 30))
    plan = lay_out(made, window=(12, 18))
    assert plan.jobs["job_id"].to_list() == [2]
    assert (plan.first, plan.last) == (12, 18)
    assert plan.rule == "All 1 jobs that ran in this window are shown."


def test_the_jobs_with_the_most_work_are_shown_and_the_rule_says_so() -> None:
    made = record(job(1, 0, 0, 10, 1), job(2, 0, 0, 90, 1), job(3, 0, 0, 10, 2))
    plan = lay_out(made, 1)
    assert plan.jobs["job_id"].to_list() == [2]
    assert plan.rule.startswith(
        "1 of the 3 jobs are shown one by one: those with the most core-seconds, 75 % of the work"
    )
    assert lay_out(made, 5, only=np.array([1, 3])).jobs["job_id"].to_list() == [1, 3]


def test_jobs_in_many_pieces_are_fewer() -> None:
    rows = [job(number, 0, 10 * number, 10 * number + 9, 20 - number, nodes=10) for number in range(1, 9)]
    taken = [allocation(row, nodes=",".join(f"{2 * node}:{row['cores'] // 10}" for node in range(10))) for row in rows]
    facts = {"nodes": {"cluster": {"cores": [[20, 4]], "sharing": "shared"}}}
    plan = lay_out(record(*rows, cores=80, allocations=taken, **facts), 6)
    assert plan.jobs["job_id"].to_list() == [1, 2, 3, 4]  # of six, those with at most 6 x 8 rectangles in all
    assert len(plan.of) == 40


def test_an_illegal_schedule_is_drawn_as_far_as_the_machine_goes() -> None:
    plan = lay_out(record(job(1, 0, 0, 10, 3), job(2, 0, 0, 10, 3), cores=4))
    assert plan.high.max() == 4


def test_a_restarted_job_has_two_rectangles_and_one_still_running_reaches_the_end() -> None:
    again = job(1, 0, 0, 30, restarts=1, wait=10)
    parts = [allocation(again, end=10.0), allocation(again, start=20.0, attempt=1)]
    running = job(2, 0, 5, None)
    made = record(again, running, allocations=[*parts, allocation(running)], until=40.0)
    plan = lay_out(made)
    spans = sorted((int(plan.of[i]), plan.start[i], plan.end[i], bool(plan.cut[i])) for i in range(len(plan.of)))
    assert spans == [(0, 0, 10, True), (0, 20, 30, False), (1, 5, 40, False)]


def rectangles(plan: Schedule) -> list[tuple[str, float, float, int, int]]:
    out = plan.outages
    columns = (out.kinds, out.start, out.end, out.low, out.high)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def test_outages_of_nodes_lie_on_those_nodes() -> None:
    one = job(1, 0, 0, 100, 4, nodes=1)
    facts = {"nodes": {"cluster": {"cores": [[3, 4]], "sharing": "shared"}}}
    made = record(one, cores=12, allocations=[allocation(one, nodes="0:4")], **facts)
    made.outages = outages(
        (10, 20, "failure", "1-2:4", 8), (30, None, "reservation", "2:3", 3), (200, 300, "failure", "0:4", 4)
    )
    assert rectangles(lay_out(made)) == [("failure", 10, 20, 4, 12), ("reservation", 30, 100, 9, 12)]
    assert rectangles(lay_out(made, window=(0, 15))) == [("failure", 10, 20, 4, 12)]


def test_on_a_number_of_cores_no_job_is_drawn_where_cores_are_down() -> None:
    made = record(job(1, 0, 0, 30, 2), job(2, 0, 0, 10, 2), job(3, 0, 10, 20, 1), job(4, 0, 20, 40, 2), cores=4)
    made.outages = outages((10, 20, "failure", None, 1), (0, 5, "reservation", None, 3))
    plan = lay_out(made)
    assert len(plan.of) == 4
    (down,) = [part for part in rectangles(plan) if part[0] == "failure"]
    for i in range(len(plan.of)):
        apart = plan.end[i] <= down[1] or plan.start[i] >= down[2] or plan.high[i] <= down[3] or plan.low[i] >= down[4]
        assert apart
    assert ("reservation", 0, 5, 1, 4) in rectangles(plan)


def test_the_rest_is_not_shaded_where_cores_are_down() -> None:
    made = record(job(1, 0, 0, 100, 2), job(2, 0, 0, 100, 1), cores=4)
    made.outages = outages((0, 100, "maintenance", None, 1))
    plan = lay_out(made, 1)
    assert plan.hidden is not None
    (down,) = rectangles(plan)
    assert plan.hidden[down[3] : down[4]].max() == 0
    assert plan.hidden.sum() == pytest.approx(plan.hidden.shape[1])
