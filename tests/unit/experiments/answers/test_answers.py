"""Conditions, who loses, and a search in a store that goes on where it was."""

from __future__ import annotations

import pytest

from walltime.core.errors import InputError
from walltime.experiments.answers.conditions import FigureCondition
from walltime.experiments.answers.losers import Nobody, judge_groups, tell_losers
from walltime.experiments.answers.points import Points
from walltime.experiments.answers.sides import Side, find_sides, judge
from walltime.experiments.answers.solve import make_values, solve
from walltime.experiments.leases import Leases, process_name
from walltime.experiments.schema import runners
from walltime.experiments.store import Store


def test_conditions_as_people_write_them():
    one = FigureCondition.parse("p95_wait of queue gpu < 4h")
    assert (one.figure, one.group, one.below, one.bound) == ("p95_wait", ("queue", "gpu"), True, 14_400.0)
    assert FigureCondition.parse("utilization_window>=80%").bound == 0.8
    assert not FigureCondition.parse("utilization_window>=80%").below
    share = FigureCondition.parse("core_seconds > 99% of present")
    assert (share.relative, share.bound) == (True, 0.99)
    for text in ("mean_wait", "mean_wait of quee gpu < 4h", "mean_wait < 4x", "mean_wait < 90% of then"):
        with pytest.raises(InputError):
            FigureCondition.parse(text)


def test_values_are_exact():
    assert make_values("1", "4", None) == [1, 2, 3, 4]
    assert make_values("0.7", "0.9", "0.1") == [0.7, 0.8, 0.9]
    assert make_values("1h", "2h", "30m") == [3600, 5400, 7200]
    for given in (("0.5", "1", None), ("4", "1", None), ("a", "2", None), ("1", "2", "0")):
        with pytest.raises(InputError):
            make_values(*given)


def tables(*waits, started=100):
    return [{name: {"p95_wait": wait, "started": started} for name, wait in own.items()} for own in waits]


def test_nobody_may_lose_too_much():
    rule = Nobody.parse("p95_wait by user 10%")
    assert (rule.metric, rule.key, rule.worse) == ("p95_wait", "user", 0.1)
    before = tables({"ann": 100.0, "bo": 200.0}, {"ann": 100.0, "bo": 220.0})
    after = tables({"ann": 105.0, "bo": 260.0}, {"ann": 107.0, "bo": 260.0})
    excess, who = rule.find_excess(before, after)
    assert (round(excess, 4), who) == (round(520 / 420 - 1.1, 4), "bo")
    assert rule.find_excess(before, before) == (-0.1, None) or rule.find_excess(before, before)[0] < 0
    few = tables({"ann": 1.0}, started=3), tables({"ann": 9.0}, started=3)
    assert rule.find_excess(*few)[1] is None  # too few jobs to say
    with pytest.raises(InputError, match="FIGURE by KEY PERCENT"):
        Nobody.parse("nobody loses")


def test_losers_are_judged_together():
    before = tables(*({"ann": 100.0 + seed, "bo": 50.0 - seed} for seed in range(8)))
    after = tables(*({"ann": 150.0 + 2 * seed, "bo": 50.0 - seed} for seed in range(8)))
    verdicts = judge_groups(("present", before), ("new", after), "user")
    assert {one.metric: one.outcome for one in verdicts} == {
        "p95_wait of user ann": "more",
        "p95_wait of user bo": "the same",
    }
    assert verdicts[0].sentence.startswith("new loses to present in 95 % wait of user ann by")
    assert tell_losers(verdicts, "user")[0] == "1 of 2 users lose."


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "site.yaml"
    path.write_text("workload: {generate: {jobs: 60, cores: 16, load: 0.9}}\ncluster: {cores: 24}\n")
    return path


def test_a_search_in_a_store_finds_its_value_and_runs_nothing_twice(scenario, tmp_path):
    wanted = {"zone": 0.5, "most": 6, "error": 0.2}
    with (
        Store(tmp_path / "store", create=True) as store,
        Points(store, "solve-site", scenario, groups=["size"], workers=1) as points,
    ):
        found = solve(points, "cluster.cores", [16, 20, 24, 28, 64], "mean_wait < 1h", **wanted)
        assert points._hired._started == 1  # one worker for the whole search
        waits = {found.values[one.place]: one.figure.mean for one in found.solution.trials}
        assert waits[64] == 0.0
        assert found.value is not None
        assert waits[found.value] < 3600 <= waits[[16, 20, 24, 28, 64][found.solution.place - 1]]
        assert found.sentences[0].startswith("the smallest cluster.cores with mean_wait < 1h is")
        assert found.sentences[-1].startswith("What a replay cannot know")
        assert any("sizes lose" in text for text in found.sentences)
        runs = store.find("solve-site").runs
        again = solve(
            Points(store, "solve-site", scenario, groups=["size"]),
            "cluster.cores",
            found.values,
            "mean_wait < 1h",
            **wanted,
        )
        assert (again.value, store.find("solve-site").runs) == (found.value, runs)
        with pytest.raises(InputError, match="did you mean 'mean_wait'"):
            solve(points, "cluster.cores", [16, 20], "mean_wiat < 1h")
        sides = find_sides(store, "solve-site:point=16")
        assert [side.label for side in sides] == ["point=16"]
        (verdict,) = judge("solve-site:point=16", "solve-site:point=64", store=store, metrics=["mean_wait"])
        assert verdict.outcome in ("less", "no difference")
        with pytest.raises(InputError, match="no seed in common"):
            judge(sides[0], Side("other", {99: {"mean_wait": 1.0}}), metrics=["mean_wait"])


def test_a_search_takes_up_what_a_killed_one_was_at(scenario, tmp_path):
    with (
        Store(tmp_path / "store", create=True) as store,
        Points(store, "solve-site", scenario, workers=1) as points,
    ):
        points.add("small", {"cluster.cores": 20}, 2)
        experiment = points._experiment(points.settings, 2, weeks=False)
        gone = Leases(store)
        assert len(gone.take(store.register(experiment, points._plan(experiment)), 9)) == 2  # none waits any more
        here, _, _ = process_name().rsplit("/", 2)
        dead = runners.update().where(runners.c.id == gone.runner).values(process=f"{here}/4194304/1")
        store.database.write(lambda connection: connection.execute(dead))
        points.run()
        assert len(points.values("small", "mean_wait")) == 2


def test_an_answer_by_which_no_group_loses(scenario, tmp_path):
    """By the mean wait alone some 16 cores would do; those in large jobs would wait longer than with the present 24."""
    rule = Nobody.parse("p95_wait by size 10%")
    wanted = {"zone": 0.5, "most": 6, "error": 0.2}
    values = [16, 20, 24, 28, 64]
    with (
        Store(tmp_path / "store", create=True) as store,
        Points(store, "solve-site", scenario, groups=["size"], workers=1) as points,
    ):
        free = solve(points, "cluster.cores", values, "mean_wait < 10h", **wanted)
        found = solve(points, "cluster.cores", values, "mean_wait < 10h", nobody=rule, **wanted)
    assert free.value < found.value <= 24
    assert any(text.startswith(f"At {free.value}, size ") for text in found.sentences)
    assert "no size's p95_wait more than 10 % worse" in found.sentences[0]


def test_a_bound_of_the_present_is_judged_repetition_by_repetition(scenario, tmp_path):
    """The same work is done on more cores, however much it differs from seed to seed."""
    with (
        Store(tmp_path / "store", create=True) as store,
        Points(store, "solve-site", scenario, groups=["size"], workers=1) as points,
    ):
        found = solve(
            points, "cluster.cores", [24, 64], "core_seconds > 99% of present", zone=0.001, error=0.1, most=10
        )
    assert found.value == 24
    assert not any("not all decisions are sure" in text for text in found.sentences)


def test_a_trace_is_answered_over_its_weeks(tmp_path):
    """One job of an hour at each full hour, for two cores: from two cores on none waits."""
    rows = ["job_id,submit,run_time,requested_time,cores"]
    rows += [f"{2 * hour + place},{3600 * hour},3000,3000,1" for hour in range(24 * 15) for place in (1, 2)]
    (tmp_path / "hours.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "hours.yaml").write_text("workload: {trace: hours.csv}\ncluster: {cores: 3}\n")
    with (
        Store(tmp_path / "store", create=True) as store,
        Points(store, "solve-hours", tmp_path / "hours.yaml", groups=["size"], workers=1) as points,
    ):
        found = solve(points, "cluster.cores", [1, 2, 3], "mean_wait < 1min")
        assert (found.value, found.basis, points.count("2")) == (2, "weeks", 2)
        waits = points.values("1", "mean_wait")
        # A core that gets two jobs of 50 minutes an hour is 40 minutes later each hour: 2,400 s an hour.
        middle = [24 * 7 * week + 24 + (24 * 6 - 1) / 2 for week in range(2)]
        assert waits == pytest.approx([2400 * hour + 1500 for hour in middle])
    assert any("2 weeks are sensitivity only" in text for text in found.sentences)


def test_a_trace_of_less_than_a_week_is_one_repetition(tmp_path):
    """A hundred jobs of one core at once, for 100 s each: on c cores the mean wait is 50 (100 / c - 1) s."""
    rows = ["job_id,submit,run_time,requested_time,cores", *(f"{number},0,100,100,1" for number in range(1, 101))]
    (tmp_path / "burst.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "burst.yaml").write_text("workload: {trace: burst.csv}\ncluster: {cores: 10}\n")
    with (
        Store(tmp_path / "store", create=True) as store,
        Points(store, "solve-burst", tmp_path / "burst.yaml", groups=["size"], workers=1) as points,
    ):
        found = solve(points, "cluster.cores", [5, 10, 20, 25, 50], "mean_wait < 3min")
    assert found.value == 25
    assert found.solution.trials[1].figure.mean == pytest.approx(450)
    assert any("one week is sensitivity only" in text for text in found.sentences)
