"""Whatever gets in the way of the jobs: what must be true of every schedule, and the engine agrees with its twin."""

from __future__ import annotations

import pytest
from disruption_runs import Run, differences, numbers, run_fast, run_slowly
from disruption_scenarios import draw_disrupted
from site_runs import compare_with_twin
from site_scenarios import KINDS
from test_fairshare_twin import give_order

from twin.outages import make_booking
from twin.preemption import Preemption
from walltime.api import simulate
from walltime.core.time import microseconds
from walltime.scenario import Scenario, parse

ENDED = ("completed", "timeout", "failed", "cancelled", "rejected")


def scenario_of(seed: int, kind: str) -> Scenario:
    site, workload = draw_disrupted(seed, kind)
    if seed % 4 == 3:
        site["cluster"]["requeue_delay"] = 1 + seed % 7
    if seed % 4 == 2 and site["execution"].get("overrun") != "extend" and "core_minutes" not in repr(site):
        site["execution"] |= {"overtime": seed % 3, "limit_check": 1 + seed % 5}
    return parse(site | {"workload": {"table": workload}})


def ordered_scenario_of(seed: int, kind: str) -> Scenario:
    """The same under fair share or multifactor, in one order for all queues."""
    site, workload = draw_disrupted(seed, kind)
    give_order(seed, site["cluster"])
    for queue in site["cluster"].get("queues", {}).values():
        queue.pop("order", None)
    return parse(site | {"workload": {"table": workload}})


def packing_scenario_of(seed: int, kind: str) -> Scenario:
    """The same under lookahead."""
    site, workload = draw_disrupted(seed, kind)
    site["cluster"]["scheduler"]["backfill"] = {"name": "lookahead", "depth": 50 if seed % 2 == 0 else 3}
    return parse(site | {"workload": {"table": workload}})


def cores_of(scenario: Scenario, row: int) -> int:
    return int(scenario.workload.table.column("cores")[row])


def bond_of(scenario: Scenario, row: int) -> str | None:
    table = scenario.workload.table
    code = int(table.column("reservation")[row])
    return None if code < 0 else table.label_names("reservation")[code]


# ---- what must be true


def check_lives(scenario: Scenario, run: Run) -> None:
    """Nobody is lost, and nobody runs twice at once; each who ended did so once, in his last interval."""
    for life in run.lives:
        assert life.state in ENDED or bond_of(scenario, life.row) is not None, life
        outcomes = [span.outcome for span in life.spans]
        assert outcomes.count("completed") == (life.state == "completed"), life
        assert not {"completed", "timeout"} & set(outcomes[:-1]), life
        for before, after in zip(life.spans, life.spans[1:], strict=False):
            assert before.start <= before.end <= after.start, life
            assert after.attempt == before.attempt + (before.outcome != "suspended") or (
                before.outcome == "suspended" and after.attempt == before.attempt + 1  # its node failed meanwhile
            ), life
        if life.spans and life.state in ENDED:
            assert life.start == life.spans[0].start
            assert life.end is not None
            assert life.end >= life.spans[-1].end


def check_work(scenario: Scenario, run: Run) -> None:
    """Core-seconds held are useful, overhead of checkpoints, or lost."""
    habits = scenario.execution.checkpoint
    period, cost, restart = (
        (0, 0, 0) if habits is None else (microseconds(x) for x in (habits.interval, habits.cost, habits.restart))
    )
    even = all(group.speed == 1 for group in scenario.clusters[0].nodes or ())
    for life in run.lives:
        held = sum(span.end - span.start for span in life.spans)
        kept, odd = divmod(cores_of(scenario, life.row) * held - life.lost, cores_of(scenario, life.row))
        assert kept >= 0, life
        assert odd == 0, life
        if life.state == "completed" and even:
            work = int(scenario.workload.table.column("run_time")[life.row])
            overhead = cost * max(0, -(-work // period) - 1) if period else 0
            assert kept - work - overhead in ((0, restart) if life.restarts else (0,)), life
        if life.restarts == 0 and life.state in ("completed", "timeout"):
            assert life.lost == 0, life


def check_reservations(scenario: Scenario, run: Run) -> None:
    """Nothing in a reservation that is not its own, and its own nowhere else."""
    for rule in scenario.clusters[0].reservations:
        booking = make_booking(scenario.clusters[0], rule)
        horizon = max((span.end for life in run.lives for span in life.spans), default=0)
        for start, end in booking.occurrences(0, horizon):
            if booking.nodes:
                for life in run.lives:
                    for span in life.spans:
                        there = span.start < end and start < span.end and booking.nodes & numbers(span.nodes).keys()
                        assert not there or bond_of(scenario, life.row) == rule.name, (rule, life)
            else:
                check_pool(scenario, run, rule.name, booking.cores, start, end)
        for life in run.lives:
            if bond_of(scenario, life.row) == rule.name:
                for span in life.spans:
                    assert not booking.nodes or numbers(span.nodes).keys() <= booking.nodes, (rule, life)
                    inside = booking.occurrences(span.start, span.start)
                    assert any(start <= span.start and span.end <= end for start, end in inside), (rule, life)


def check_pool(scenario: Scenario, run: Run, name: str, kept: int, start: int, end: int) -> None:
    """Of a plain number of cores the others leave those that are kept."""
    total = scenario.clusters[0].cores
    assert total is not None
    spans = [
        (span, cores_of(scenario, life.row))
        for life in run.lives
        for span in life.spans
        if bond_of(scenario, life.row) != name
    ]
    for moment in [start, *(span.start for span, _ in spans if start <= span.start < end)]:
        used = sum(cores for span, cores in spans if span.start <= moment < span.end)
        assert used + kept <= total, (name, moment)


def check_failures(scenario: Scenario, run: Run) -> None:
    """A node that has failed runs nothing; of a plain number of cores no more than are up are in use."""
    failures = [gap for gap in run.gaps if gap.kind == "failure"]
    for gap in failures:
        assert gap.end is None or gap.end > gap.start
        for life in run.lives:
            for span in life.spans:
                here = span.end > gap.start and (gap.end is None or span.start < gap.end)
                assert not here or not gap.nodes & numbers(span.nodes).keys(), (gap, life)
    if scenario.clusters[0].cores is not None:
        spans = [(span, cores_of(scenario, life.row)) for life in run.lives for span in life.spans]
        for moment in {gap.start for gap in failures} | {span.start for span, _ in spans}:
            used = sum(cores for span, cores in spans if span.start <= moment < span.end)
            down = sum(gap.cores for gap in failures if gap.start <= moment and (gap.end is None or moment < gap.end))
            assert not used or used + down <= scenario.clusters[0].cores, moment


def check_drains(run: Run) -> None:
    """Nothing starts on a node that drains."""
    for gap in run.gaps:
        if gap.kind == "drain":
            for life in run.lives:
                for span in life.spans:
                    starts = gap.start < span.start and (gap.end is None or span.start < gap.end)
                    assert not starts or not gap.nodes & numbers(span.nodes).keys(), (gap, life)


CHECKS = (check_lives, check_work, check_reservations, check_failures)


@pytest.mark.parametrize("kind", KINDS)
def test_no_victim_too_many_and_none_of_equal_rank(kind, monkeypatch):
    """Whenever the twin chooses victims: each is of lower rank, and without any one of them the job does not fit."""
    found = Preemption.find_victims
    chosen = []

    def find(self, domain, job, queue):
        victims = found(self, domain, job, queue)
        free = self.leaving(domain, job)
        for victim in victims:
            assert self.rank(victim) < self.rank(job)
            rest = [other for other in victims if other is not victim]
            assert not self.fits_without(job, queue, free + rest)
            chosen.append(victim)
        return victims

    monkeypatch.setattr(Preemption, "find_victims", find)
    for seed in range(80):
        scenario = scenario_of(seed, kind)
        if scenario.clusters[0].scheduler.preempt is not None:
            run_slowly(scenario)
    assert len(chosen) > 20


@pytest.mark.parametrize("kind", KINDS)
def test_other_policies_see_the_same_failures(kind):
    for seed in range(0, 60, 3):
        site, workload = draw_disrupted(seed, kind)
        if "failures" not in site["cluster"]:
            continue
        seen = []
        for backfill in ("none", "easy", "conservative"):
            site["cluster"]["scheduler"]["backfill"] = backfill
            scenario = parse(site | {"workload": {"table": workload}})
            seen.append([gap for gap in run_slowly(scenario).gaps if gap.kind == "failure"])
        least = min(len(gaps) for gaps in seen)  # who is through earlier sees fewer
        assert seen[0][:least] == seen[1][:least] == seen[2][:least]


# ---- the engine


def compare(seed: int, kind: str) -> None:
    """Engine and twin agree, keep every rule, and are legal. Others each day: soak_twins.py."""
    scenario = scenario_of(seed, kind)
    fast, slow = run_fast(scenario), run_slowly(scenario)
    for check in CHECKS:
        check(scenario, fast)
        check(scenario, slow)
    check_drains(slow)
    found = differences(fast, slow)
    if found:
        site = draw_disrupted(seed, kind)[0]
        pytest.fail(f"engine {found[0][0]}, twin {found[0][1]}; draw_disrupted({seed}, {kind!r}): {site}", False)
    violations = simulate(scenario).audit()
    assert not violations, f"draw_disrupted({seed}, {kind!r}): {violations[0]}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", range(2))
def test_the_engine_agrees_with_its_twin(kind, part):
    for seed in range(part * 20, part * 20 + 20):
        compare(seed, kind)


@pytest.mark.parametrize(
    ("seed", "kind"),
    [
        (600000, "vectors"),
        (600029, "vectors"),
        (600035, "plain"),
        (719, "vectors"),
        (892, "plain"),
        (1017, "plain"),
        (1220, "plain"),
        (1232, "vectors"),
        (1392, "vectors"),
        (1429, "cores"),
        (1472, "cores"),
        (1527, "plain"),
        (1581, "vectors"),
        (2259, "vectors"),
        (2407, "vectors"),
        (2514, "plain"),
        (2654, "vectors"),
        (2815, "plain"),
        (2857, "cores"),
        (3069, "vectors"),
        (3322, "plain"),
        (3554, "vectors"),
        (3674, "cores"),
        (3716, "vectors"),
        (4359, "vectors"),
        (4657, "vectors"),
        (4682, "cores"),
        (4911, "plain"),
    ],
)
def test_they_agree_where_they_once_did_not(seed, kind):
    """On nodes that are shut, on jobs in a reservation, on pauses, on victims' times, on limits that time moves."""
    scenario = scenario_of(seed, kind)
    assert differences(run_fast(scenario), run_slowly(scenario)) == []


@pytest.mark.parametrize("kind", KINDS)
def test_they_agree_under_orders_that_change(kind):
    for seed in range(30):
        scenario = ordered_scenario_of(seed, kind)
        assert differences(run_fast(scenario), run_slowly(scenario)) == [], seed


@pytest.mark.parametrize(
    ("seed", "kind"),
    [(1890, "cores"), (2259, "vectors"), (2542, "cores"), (2939, "cores"), (3712, "plain")],
)
def test_they_agree_under_orders_where_they_once_did_not(seed, kind):
    """On promises and claims at limits, and on passes for a limit that has not moved."""
    scenario = ordered_scenario_of(seed, kind)
    assert differences(run_fast(scenario), run_slowly(scenario)) == []


@pytest.mark.parametrize(
    ("kind", "seeds"), [("cores", range(180, 200)), ("plain", range(20, 40)), ("vectors", range(75, 95))]
)
def test_the_best_set_fills_what_is_there(kind, seeds):
    compare_with_twin(packing_scenario_of, kind, seeds)
