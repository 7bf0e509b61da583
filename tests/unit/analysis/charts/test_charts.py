"""Charts: their values by hand, and what they refuse."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from handmade import allocation, job, outages, record
from walltime import simulate
from walltime.analysis.charts import KINDS, make_chart
from walltime.analysis.charts.chart import Axis, Clock, short_names, shorten
from walltime.analysis.charts.gaps import find_gaps
from walltime.analysis.charts.overtime import FAIR_SHARE, USE
from walltime.analysis.charts.schedule.layout import lay_out
from walltime.analysis.charts.ticks import find_ticks
from walltime.analysis.metrics import summarise
from walltime.analysis.repetitions import find_repetitions, name_groups
from walltime.analysis.series import series
from walltime.core.errors import InputError
from walltime.core.tables import SERIES, Record
from walltime.core.workload import Workload

HOUR = 3600.0
DAY = 24 * HOUR


@dataclass
class Shown:
    """A result as charts see it."""

    record: Record
    label: str = "one"
    extra: list[tuple[float, str, str, float]] = field(default_factory=list)

    @property
    def summary(self) -> dict[str, Any]:
        return summarise(self.record)

    @property
    def series(self) -> pl.DataFrame:
        return pl.concat([series(self.record), pl.DataFrame(self.extra, schema=SERIES, orient="row")])


def small(label: str = "one", late: float = 0.0, **facts: Any) -> Shown:
    """Four jobs of two users on four cores; the last two start `late` seconds later than they could."""
    rows = [
        job(1, 0, 0, 100, 4, user="ann", queue="short", recorded_wait=5.0),
        job(2, 10, 100, 300, 2, user="bo", queue="long", recorded_wait=50.0),
        job(3, 20, 100 + late, 200 + late, 2, user="ann", queue="short", backfilled=True, recorded_wait=0.0),
        job(4, 4000, 4000 + late, 4010 + late, 1, user="bo", queue="short", recorded_wait=0.0),
    ]
    return Shown(record(*rows, **facts), label)


def line(chart: Any, label: str) -> Any:
    return next(mark for mark in chart.marks if mark.label == label)


def test_utilization_is_used_over_available() -> None:
    chart = make_chart("utilization", [small()])
    mark = chart.marks[0]
    step = mark.x[1] - mark.x[0]
    assert float(np.sum(mark.y) * step * 4) == pytest.approx(400 + 400 + 200 + 10)
    assert float(np.max(mark.y)) == 1.0


def test_the_utilization_of_clusters_stands_in_panels_of_their_own() -> None:
    rows = [job(1, 0, 0, 100, 2, cluster="a"), job(2, 0, 0, 50, 4, cluster="b")]
    shown = Shown(record(*rows, clusters={"a": 4, "b": 4}))
    chart = make_chart("utilization", [shown])
    assert [panel.title for panel in chart.panels] == ["all clusters", "a", "b"]
    means = [float(np.mean(panel.marks[0].y)) for panel in chart.panels]
    assert means == pytest.approx([0.5, 0.5, 0.5])
    assert float(chart.panels[2].marks[0].y[0]) == pytest.approx(1.0)


def test_a_name_has_one_colour_in_all_panels() -> None:
    other = Shown(record(job(1, 0, 0, 100, 1, user="ann"), job(2, 10, 100, 300, 4, user="cy")), "two")
    chart = make_chart("schedule", [small(), other])
    assert chart.title == "Schedule, by user"
    colourings = [mark.colouring for mark in chart.marks]
    assert colourings[0].names == colourings[1].names == ("cy", "ann", "bo")
    assert [colouring.names[code] for colouring in colourings for code in colouring.codes] == [
        *("ann", "bo", "ann", "bo"),
        *("ann", "cy"),
    ]


def test_who_has_no_label_is_grey() -> None:
    rows = [job(1, 0, 0, 9, workflow="w"), job(2, 0, 0, 900, 3), job(3, 0, 0, 99, workflow="v")]
    colouring = make_chart("schedule", [Shown(record(*rows))], by="workflow").marks[0].colouring
    assert colouring.names == ("v", "w", "none")
    assert colouring.grey
    assert colouring.classes.tolist() == [1, 2, 0]


def test_one_user_is_no_reason_to_colour_by_user() -> None:
    rows = [job(number, 0, 0, 9, user="ann") for number in (1, 2)]
    assert make_chart("schedule", [Shown(record(*rows))]).title == "Schedule, by size"


def test_requested_cores_are_used_and_waited_for() -> None:
    chart = make_chart("cores", [small()])
    step = chart.marks[0].x[1] - chart.marks[0].x[0]
    used = float(np.sum(line(chart, "used").y) * step)
    requested = float(np.sum(line(chart, "requested").y) * step)
    assert used == pytest.approx(1010)
    assert requested == pytest.approx(1010 + 2 * 90 + 2 * 80)
    assert set(line(chart, "available").y) == {4.0}


def test_a_distribution_is_the_share_of_jobs_at_most_so_long() -> None:
    mark = make_chart("cdf", [small()]).marks[0]
    assert dict(zip(mark.x.tolist(), mark.y.tolist(), strict=True)) == {1.0: 0.5, 80.0: 0.75, 90.0: 1.0}
    by_user = make_chart("cdf", [small()], by="user")
    assert {mark.label for mark in by_user.marks} == {"ann", "bo"}


def test_a_distribution_of_many_is_exact_where_it_has_points() -> None:
    draw = np.random.default_rng(1)
    waits = np.round(draw.lognormal(5, 2, 5000), 3)
    rows = [job(i, 0, float(wait), float(wait) + 1) for i, wait in enumerate(waits)]
    mark = make_chart("cdf", [Shown(record(*rows, cores=5000))]).marks[0]
    assert len(mark.x) < 500
    floored = np.maximum(waits, 1.0)
    for x, y in zip(mark.x[1:], mark.y[1:], strict=True):
        assert y == pytest.approx(float(np.mean(floored <= x)))


def test_a_histogram_counts_every_job_once() -> None:
    for of in ("wait", "cores", "slowdown", "accuracy"):
        mark = make_chart("histogram", [small()], of=of).marks[0]
        assert float(np.sum(mark.y[:-1])) == 4


def test_boxes_are_quantiles() -> None:
    chart = make_chart("boxes", [small()], by="user")
    mark = chart.marks[0]
    ann = list(chart.panels[0].y.categories).index("ann")
    assert mark.figures[ann].tolist() == pytest.approx(np.quantile([1, 80], [0.05, 0.25, 0.5, 0.75, 0.95]).tolist())
    assert mark.counts[ann] == 2


def test_boxes_of_another_result_stand_in_the_same_rows() -> None:
    other = Shown(record(job(1, 0, 7, 9, user="bo"), job(2, 0, 8, 9, user="new")), "other")
    chart = make_chart("boxes", [small(), other], by="user")
    names, mark = chart.panels[0].y.categories, chart.marks[1]
    assert mark.counts.tolist() == [1 if name == "bo" else 0 for name in names]


def test_idle_cores_and_those_that_somebody_waits_for() -> None:
    chart = make_chart("free", [small()])
    step = chart.marks[0].x[1] - chart.marks[0].x[0]
    span = len(chart.marks[0].x) * step
    assert float(np.sum(line(chart, "idle").y) * step) == pytest.approx(4 * span - 1010)
    assert float(np.sum(line(chart, "idle while a job waits").y)) == 0.0


def test_waits_added_up() -> None:
    mark = make_chart("cumulative-wait", [small()]).marks[0]
    assert (mark.y * 3600).tolist() == pytest.approx([0, 90, 170, 170])
    assert mark.x.tolist() == [0, 100, 100, 4000]


def test_three_points_of_each_job() -> None:
    chart = make_chart("details", [small()])
    assert [mark.label for mark in chart.marks] == ["submit", "start", "end"]
    assert chart.marks[2].x.tolist() == [100, 300, 200, 4010]


def test_the_work_of_each_node() -> None:
    one, two = job(1, 0, 0, 10, 6, nodes=2), job(2, 0, 0, 5, 2, nodes=1)
    facts = {"nodes": {"cluster": {"cores": [[2, 4], [1, 2]], "sharing": "shared"}}}
    made = record(
        one, two, cores=10, allocations=[allocation(one, nodes="0-1:3"), allocation(two, nodes="2:2")], **facts
    )
    mark = make_chart("node-load", [Shown(made)]).marks[0]
    assert mark.y.tolist() == pytest.approx([0.75, 0.75, 0.5, 0.5])


def test_the_median_wait_by_time_of_submission() -> None:
    mark = make_chart("median-wait", [small()]).marks[0]
    assert mark.y[0] == 80.0
    assert np.isnan(mark.y[1])
    assert mark.x[-1] <= 4000 < mark.x[-1] + 60
    with pytest.raises(InputError, match="minutes"):
        make_chart("median-wait", [small()], minutes=0)


def test_use_by_user_adds_up() -> None:
    chart = make_chart("usage", [small()])
    step = chart.marks[0].x[1] - chart.marks[0].x[0]
    work = {mark.label: float(np.sum(mark.y - mark.base) * step) for mark in chart.marks}
    assert work == pytest.approx({"ann": 600, "bo": 410})


def test_a_map_has_the_mean_of_its_cells() -> None:
    chart = make_chart("slowdown-map", [small()], of="wait")
    cells = chart.marks[0]
    known = cells.values[~np.isnan(cells.values)]
    assert sorted(known.tolist()) == [0.0, 0.0, 80.0, 90.0]


def test_recorded_waits_beside_simulated_ones() -> None:
    chart = make_chart("recorded", [small()])
    assert [mark.label for mark in chart.panels[0].marks] == ["in the trace", "one"]
    counts = chart.panels[1].marks[0].values
    assert np.nansum(counts) == 4


def test_who_gains_and_who_loses() -> None:
    chart = make_chart("winners", [small(), small("late", 60)])
    bars = chart.marks[0]
    assert dict(zip(chart.panels[0].y.categories, bars.values.tolist(), strict=True)) == {"ann": 30.0, "bo": 30.0}
    assert np.isnan(bars.low).all()  # two jobs are too few to judge
    other = make_chart("winners", [small(), small("late", 60)], of="p95_wait").marks[0]
    assert other.low is None
    with pytest.raises(InputError, match="alike"):
        make_chart("winners", [small(), small("same")])


def test_changes_job_by_job() -> None:
    chart = make_chart("change", [small(), small("late", 60)])
    assert "late: 0 jobs better, 2 worse, 2 the same." in chart.notes
    mark = chart.marks[0]
    assert mark.y[np.searchsorted(mark.x, 1.0)] == 0.5
    assert mark.y[-1] == 1.0


def test_arrivals_by_hour_of_the_trace_or_of_the_calendar() -> None:
    plain = make_chart("arrivals", [small()])
    assert plain.panels[0].y.categories[0] == "day 1"
    assert plain.marks[0].values[0, 0] == 3
    assert plain.marks[0].values[0, 1] == 1
    # 1 July 2024 was a Monday; 22:30 UTC is half past midnight on Tuesday in Prague.
    dated = small(origin={"epoch": 1_719_873_000.0, "timezone": "Europe/Prague"})
    chart = make_chart("arrivals", [dated])
    assert chart.panels[0].y.categories[1] == "Tuesday"
    assert chart.marks[0].values[1, 0] == 3
    assert "Europe/Prague" in chart.notes[0]


def test_intervals_come_from_repetitions_of_the_same_label() -> None:
    chart = make_chart("compare", [small("a"), small("a", 60), small("b")])
    waits = chart.panels[0]
    assert waits.y.categories == ("a (n = 2)", "b (n = 1)")
    assert waits.marks[0].values.tolist() == [(42.5 + 72.5) / 2, 42.5]
    half = 12.7062 * np.std([42.5, 72.5], ddof=1) / np.sqrt(2)
    assert waits.marks[0].high[0] - waits.marks[0].values[0] == pytest.approx(half, rel=1e-3)
    assert np.isnan(waits.marks[0].low[1])


@pytest.fixture(scope="module")
def seeded() -> dict[str, Any]:
    """Results of the same jobs under other seeds, policies and machines, and of other jobs."""
    import walltime

    def jobs(gap: int) -> walltime.Workload:
        return walltime.Workload.from_columns(submit=[0, gap, gap], run_time=[9, 9, 9], cores=[2, 2, 1])

    one, other = jobs(1), jobs(2)
    return {
        "a": walltime.simulate(one, cores=4, policy="fcfs", seed=1),
        "again": walltime.simulate(one, cores=4, policy="fcfs", seed=2),
        "moved": walltime.simulate(other, cores=4, policy="fcfs", seed=3),
        "larger": walltime.simulate(one, cores=8, policy="fcfs", seed=1),
        "easy": walltime.simulate(one, cores=4, policy="easy", seed=1),
    }


def test_results_that_differ_in_the_seed_alone_are_repetitions(seeded: dict[str, Any]) -> None:
    names = ("a", "again", "moved", "larger", "easy")
    groups = find_repetitions([seeded[name] for name in names])
    assert [len(members) for members in groups] == [2, 1, 1, 1]
    assert name_groups(groups) == ["fcfs", "fcfs (2)", "fcfs (3)", "easy"]
    assert [len(members) for members in find_repetitions([seeded[name] for name in names], repeated=True)] == [3, 1, 1]
    chart = make_chart("compare", [seeded["a"], seeded["again"], seeded["easy"]])
    assert chart.panels[0].y.categories == ("fcfs (n = 2)", "easy (n = 1)")
    assert "the seed changes nothing" in chart.notes[1]


@pytest.mark.parametrize("saved", [False, True])
def test_other_experiments_are_no_repetitions(tmp_path: Any, saved: bool) -> None:
    """Generators with other parameters, other ways of submission, other jobs from memory; under two seeds each."""
    import walltime
    from walltime.workload.generate import generate

    (tmp_path / "flow.json").write_text('{"tasks": [{"id": "a", "number_of_cores": 4, "runtime_sim": 60}]}')
    table = generate(30, 16, 0.7, 1)
    longer = table.replace(dict(table.columns) | {"run_time": table.column("run_time") + 1})

    def workflows(way: str) -> Any:
        return {"manifests": [str(tmp_path / "flow.json")], "submit": way, "every": 500}

    kinds = {
        "load": [{"generate": {"jobs": 30, "cores": 16, "load": load}} for load in (0.5, 0.9)],
        "way": [{"generate": {"jobs": 30, "cores": 16}, "workflows": workflows(way)} for way in ("single", "multi")],
        "table": [{"table": table, "workflows": workflows("single")}, {"table": table}, {"table": longer}],
        "synthetic": [
            {"synthetic": {"jobs": 20, "arrivals": gap, "types": {"a": {"work": {"name": "exponential", "mean": 9}}}}}
            for gap in (3, 9)
        ],
    }
    cells = [(kind, number) for kind, workloads in kinds.items() for number in range(len(workloads))]
    results, expected = [], []
    for seed in (1, 2):
        for number, (kind, place) in enumerate(cells):
            data = {"workload": kinds[kind][place], "cluster": {"cores": 16}, "seed": seed}
            result = walltime.simulate(data, label=f"{kind} {seed}")
            if saved:
                result = walltime.load(result.save(tmp_path / f"{number}-{seed}"))
            results.append(result)
            expected.append((number, seed))
    groups = find_repetitions(results)
    places = {id(result): place for result, place in zip(results, expected, strict=True)}
    assert [[places[id(one)] for one in members] for members in groups] == [
        [(number, 1), (number, 2)] for number in range(len(cells))
    ]


def test_a_scenario_that_was_changed_behind_its_back_is_no_repetition(seeded: dict[str, Any]) -> None:
    """The same scenario and seed with other tables and another name: a file that it names is another one now."""
    import walltime

    first = seeded["a"]
    later = replace(first.record, jobs=first.jobs.with_columns(wait=first.jobs["wait"] + 1))
    assert len(find_repetitions([first, walltime.Result(first.scenario, first.record, "other")])) == 1
    assert len(find_repetitions([first, walltime.Result(first.scenario, later, "other")])) == 2


def test_results_on_other_traces_are_repetitions_when_asked_for(tmp_path: Any) -> None:
    import walltime
    from walltime.workload.formats import write

    results = []
    for number, gap in enumerate((1, 2)):
        trace = tmp_path / f"{number}.swf"
        write(walltime.Workload.from_columns(submit=[0, gap], run_time=[9, 9], cores=[2, 2]), trace)
        results.append(walltime.simulate(trace, cores=2, policy="fcfs"))
    assert [len(members) for members in find_repetitions(results)] == [1, 1]
    assert [len(members) for members in find_repetitions(results, repeated=True)] == [2]
    assert "--repeated" in make_chart("compare", results).notes[1]
    bars = make_chart("compare", results, repeated=True).panels[0].marks[0]
    assert bars.values.tolist() == [3.75]
    assert bars.low[0] < 3.75 < bars.high[0]


def test_idle_gaps_are_what_lies_between_jobs_on_each_core() -> None:
    one, two = job(1, 0, 10, 30, 4, nodes=1), job(2, 0, 50, 100, 2, nodes=1)
    parts = [allocation(one, nodes="0:4"), allocation(two, nodes="0:2")]
    made = record(one, two, cores=8, allocations=parts, nodes={"cluster": {"cores": [[2, 4]], "sharing": "shared"}})
    made.outages = outages((0, 60, "failure", "1:4", 4))
    plan = lay_out(made)
    # Four cores idle for 10 s at first, two of them for 20 s and two for 70 s later; the other node after its repair.
    assert sorted(find_gaps(plan).tolist()) == [10] * 4 + [20] * 2 + [40] * 4 + [70] * 2
    assert sorted(find_gaps(plan, most=5).tolist()) == [10, 10, 20, 40, 40, 70]  # every other core
    chart = make_chart("gaps", [Shown(made)])
    assert chart.marks[0].y[-1] == pytest.approx(1.0)


def test_the_difference_of_two_series_is_shown_by_its_sign() -> None:
    chart = make_chart("difference", [small("a"), small("b", 60)])
    more, less = chart.marks
    step = more.x[1] - more.x[0]
    assert (more.y >= 0).all()
    assert (less.y <= 0).all()
    assert float((more.y + less.y).sum() * step) == pytest.approx(0, abs=1e-6)  # the same work, at other times
    assert float(more.y.sum() * step) == pytest.approx(60 * 2 + 10)


def test_fair_share_and_failures_are_drawn_where_a_result_has_them() -> None:
    shown = small()
    shown.extra = [(0.0, FAIR_SHARE, "ann", 0.5), (60.0, FAIR_SHARE, "ann", 0.25), (0.0, FAIR_SHARE, "bo", 0.5)]
    shown.extra += [(0.0, USE, "ann", 0.0), (60.0, USE, "ann", 7200.0), (60.0, USE, "account", 9.0)]
    chart = make_chart("fairshare", [shown])
    assert line(chart, "ann").y.tolist() == [0.5, 0.25]
    assert chart.panels[1].marks[0].y.tolist() == [0, 2]
    assert [mark.label for mark in chart.panels[1].marks] == ["ann", "bo"]
    shown.record.outages = outages((1002.5, 2005.0, "failure", None, 2), (0, 4010, "reservation", None, 4))
    failures = make_chart("failures", [shown])
    cells = failures.marks[0]
    assert cells.values.sum() / cells.values.size == pytest.approx(0.5 * 0.25)
    assert failures.notes[0] == "1 × failure."


def test_of_several_clusters_those_without_nodes_are_named() -> None:
    jobs = Workload.from_columns(submit=[0, 0], run_time=[60, 60], requested_time=[60, 60], cores=[4, 2])
    grid = {"name": "grid", "nodes": "2x2", "failures": [{"nodes": "n1", "at": 10, "length": 10}]}
    clusters = [grid, {"name": "pool", "cores": 4}]
    shown = simulate({"workload": {"table": jobs}, "clusters": clusters, "broker": "least-loaded"}, label="both")
    chart = make_chart("failures", [shown])
    assert chart.notes[1] == "pool is a number of cores: which of them were down is the picture's choice."
    with pytest.raises(InputError, match="both: the cluster pool is a plain number of cores and has no nodes"):
        make_chart("nodes", [shown])


def test_workflows_are_shown_as_wholes() -> None:
    rows = [
        job(1, 0, 10, 110, workflow="w-1"),
        job(2, 0, 150, 250, workflow="w-1"),
        job(3, 20, 50, 150, workflow="w-2", state="failed"),
    ]
    about = {"name": "chain", "way": "multi", "tasks": 2, "critical_path": 125.0, "work": 200.0}
    chart = make_chart("workflows", [Shown(record(*rows, workflows={"w-1": about, "w-2": about}))])
    assert [panel.y.categories for panel in chart.panels] == [("chain",)] * 4
    means = [float(panel.marks[0].means[0]) for panel in chart.panels]
    assert means == [(10 + 30) / 2, 240, 250, 2]
    assert [int(panel.marks[0].counts[0]) for panel in chart.panels] == [2, 1, 1, 1]


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("fairshare", {}, "no fair-share factors"),
        ("failures", {}, "nothing was ever down"),
        ("nodes", {}, "has no nodes"),
        ("workflows", {}, "has no workflows"),
        ("predictions", {}, "has no plans"),
        ("node-load", {}, "has no nodes"),
        ("boxes", {"by": "account"}, "the jobs tell no account"),
        ("boxes", {"by": "colour"}, "unknown key"),
        ("schedule", {"by": "workflow"}, "tell no workflow"),
        ("schedule", {"begin": 500_000}, "no job ran in this window"),
        ("schedule", {"begin": 50, "end": 20}, "end before it begins"),
        ("cdf", {"of": "weight"}, "unknown quantity"),
        ("cdf", {"bins": 3}, "no such option"),
        ("users", {"most": 0}, "shows 1 to 100"),
        ("boxes", {"most": 500}, "shows 1 to 100"),
        ("winners", {}, "compares two results"),
        ("change", {}, "at least two"),
        ("schedule-diff", {}, "at least two"),
        ("pie", {}, "unknown kind of plot"),
    ],
)
def test_what_a_result_does_not_have_is_refused_by_name(kind: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_chart(kind, [small()], **options)


def test_a_trace_without_waits_and_a_result_without_jobs_are_refused() -> None:
    with pytest.raises(InputError, match="tells no waits"):
        make_chart("recorded", [Shown(record(job(1, 0, 0, 5)))])
    for kind in KINDS:
        with pytest.raises(InputError, match="no jobs"):
            make_chart(kind, [Shown(record())])


def test_panels_of_time_have_one_scale() -> None:
    chart = make_chart("jobs", [small(), small("late", 3000)])
    assert len({(panel.x.low, panel.x.high) for panel in chart.panels}) == 1
    assert len({panel.y.high for panel in chart.panels}) == 1


def test_names_are_short_printable_and_different() -> None:
    assert shorten("a\nb\u202ec") == "a·b·c"
    assert shorten(None) == "(none)"
    assert shorten("  ") == "(blank)"
    long = ["x" * 99 + tail for tail in ("1", "2")] + ["x" * 99 + "1"]
    assert len(set(short_names(long))) == 3
    assert all(len(name) <= 28 for name in short_names(long))


def test_results_with_other_zeros_have_no_calendar_in_common() -> None:
    dated = {"origin": {"epoch": 1_704_067_200.0, "timezone": "Europe/Prague"}}
    later = {"origin": {"epoch": 1_704_672_000.0, "timezone": "Europe/Prague"}}
    axes = {
        name: make_chart("jobs", [small("one", **dated), small("two", **facts)]).panels[0].x.label
        for name, facts in {"the same": dated, "later": later, "none": {}}.items()
    }
    assert axes["the same"] == "date (UTC+1:00), 1 Jan 2024"
    assert axes["later"] == axes["none"] == "hours:minutes since time zero of the trace"


def test_a_clock_is_put_back_in_autumn() -> None:
    """From 3:00 of summer on the 25th of October 2026, 27 hours after the trace's zero, it is an hour less."""
    clock = Clock.of({"epoch": 1_792_792_800.0, "timezone": "Europe/Prague"}, 0.0, 4 * DAY)
    assert clock.changes == ((27 * HOUR, 1_792_792_800.0 + HOUR, "UTC+1:00"),)
    assert clock.describe(0, DAY) == "date (UTC+2:00), 24 Oct to 25 Oct 2026"
    assert clock.describe(2 * DAY, 3 * DAY) == "date (UTC+1:00), 25 Oct to 26 Oct 2026"
    assert clock.describe(DAY, 2 * DAY) == "date (UTC+2:00 / UTC+1:00), 25 Oct 2026"
    axis = Axis("", "time")
    found = [(value / HOUR, text) for value, text in find_ticks(axis, DAY, DAY + 6 * HOUR, 6, clock)]
    assert found == [
        *((24, "25 Oct"), (25, "01:00"), (26, "02:00"), (27, "02:00"), (28, "03:00"), (29, "04:00"), (30, "05:00"))
    ]
    midnights = [value / HOUR for value, _ in find_ticks(axis, 0, 4 * DAY, 4, clock)]
    assert midnights == [0, 24, 49, 73]
    spring = Clock.of({"epoch": 1_774_738_800.0, "timezone": "Europe/Prague"}, 0.0, 2 * DAY)  # the 29th of March
    assert [text for _, text in find_ticks(axis, 0, 5 * HOUR, 5, spring)] == [
        "29 Mar",
        "01:00",
        "03:00",
        "04:00",
        "05:00",
        "06:00",
    ]


def test_a_clock_knows_its_zone() -> None:
    winter = Clock.of({"epoch": 1_704_067_200.0, "timezone": "Europe/Prague"}, 0.0)
    assert (winter.shift, winter.zone) == (1_704_070_800.0, "UTC+1:00")
    assert winter.describe(0, HOUR) == "date (UTC+1:00), 1 Jan 2024"
    assert winter.describe(0, 40 * DAY) == "date (UTC+1:00), 1 Jan to 10 Feb 2024"
    assert winter.describe(-3 * DAY, 0) == "date (UTC+1:00), 29 Dec 2023 to 1 Jan 2024"
    assert Clock.of({"epoch": 0.0, "timezone": "No/Such"}, 0.0).zone == "UTC"
    assert Clock.of({"epoch": None}, 0.0).describe(0, 9 * DAY) == "days since time zero of the trace"
    assert Clock.of({"epoch": None}, 0.0).describe(0, DAY) == "days, hours:minutes since time zero of the trace"


def _phased(label: str, shift: float, experiment_alone: bool) -> Shown:
    """Twenty days of an experiment, each with a job of the fill; `shift` is added to the waits of every job."""
    rows = []
    for number in range(60):
        day, fill = number // 3, number % 3 == 0
        start = day * DAY + 100.0 * number + shift
        times = (day * DAY + 90.0 * number, start, start + (7 if fill else 500))
        common = {
            "user": f"u{number % 2}",
            "queue": "q",
            "recorded_wait": 3.0,
            "phase": "fill" if fill else "experiment",
        }
        rows.append(job(number + 1, *times, 1 + number % 4, **common))
    rows = [row for row in rows if row["phase"] == "experiment"] if experiment_alone else rows
    return Shown(record(*rows), label)


WITH_MORE = ("workflows", "predictions")
"""What needs more of a result than its jobs."""


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if not kind.system and name not in WITH_MORE])
def test_pictures_of_jobs_show_the_experiment_alone(kind: str) -> None:
    """The same as of a result that has no other jobs, and say so."""
    shifts = (0.0, 40.0) if KINDS[kind].several else (0.0,)
    whole, alone = (make_chart(kind, [_phased(f"r{shift:g}", shift, one) for shift in shifts]) for one in (False, True))
    assert "Jobs of the experiment phase alone." in whole.notes
    for one, other in zip(whole.panels, alone.panels, strict=True):
        assert one.y.categories == other.y.categories
        for mark, expected in zip(one.marks, other.marks, strict=True):
            for name, values in vars(mark).items():
                if isinstance(values, np.ndarray) and not (kind == "compare" and one.x.label == "utilization"):
                    np.testing.assert_array_equal(values, getattr(expected, name))


def test_phases_can_be_told_apart_and_the_system_has_all_jobs() -> None:
    result = _phased("r", 0.0, False)
    assert set(make_chart("boxes", [result], by="phase").panels[0].y.categories) == {"fill", "experiment"}
    assert sum(mark.counts.sum() for mark in make_chart("boxes", [result]).marks) == 40
    drawn = make_chart("schedule", [result])
    assert len(drawn.marks[0].schedule.jobs) == 60
    hidden = Shown(record(job(1, 0.0, 0.0, 5.0, phase="fill")), "f")
    with pytest.raises(InputError, match="experiment phase"):
        make_chart("cdf", [hidden])
