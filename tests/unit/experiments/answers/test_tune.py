"""Tuning: a planted optimum is found, for any number of workers, also after a stop; and judged on other repetitions."""

from __future__ import annotations

import sys

import pytest

from walltime.core.errors import InputError
from walltime.experiments.answers.choices import Choice, find_present, name_setting
from walltime.experiments.answers.conditions import FigureCondition
from walltime.experiments.answers.losers import Nobody
from walltime.experiments.answers.points import Points
from walltime.experiments.answers.proposals import Proposals
from walltime.experiments.answers.tune import Objective, Wish, tune
from walltime.experiments.store import Store

pytest.importorskip("optuna")


def test_keys_as_people_write_them():
    one = Choice.parse("cluster.scheduler.order.weights.age=0..10000")
    assert (one.key, one.low, one.high, one.whole, one.log) == (
        "cluster.scheduler.order.weights.age",
        0,
        10_000,
        True,
        False,
    )
    assert one.spread() == [0, 5000, 10000]
    assert Choice.parse("a=1..100 log").spread() == [1, 10, 100]
    steps = Choice.parse("a=0.1..0.5:0.1")
    assert (steps.whole, steps.step) == (False, 0.1)
    assert steps.spread() == [0.1, 0.3, 0.5]
    words = Choice.parse("order=fcfs,{name: depth, depth: 4},1h")
    assert words.values == ("fcfs", {"name": "depth", "depth": 4}, "1h")
    assert words.settle(1) == {"name": "depth", "depth": 4}
    for text in ("a", "a=", "a=1", "a=1,1", "a=5..1", "a=0..9 log", "a=1..2:5", "a=1,,2", "=1..2"):
        with pytest.raises(InputError):
            Choice.parse(text)


def test_the_present_setting_where_it_is_among_the_choices():
    choices = [Choice.parse("cluster.cores=8..64:8"), Choice.parse("cluster.order=fcfs,sjf")]
    assert find_present(choices, {"cluster": {"cores": 16, "order": "sjf"}}) == {
        "cluster.cores": 16,
        "cluster.order": 1,
    }
    for cluster in ({"cores": 17, "order": "sjf"}, {"cores": 128, "order": "sjf"}, {"cores": 16}, {}):
        assert find_present(choices, {"cluster": cluster}) is None
    assert name_setting(choices, {"cluster.cores": 16, "cluster.order": "sjf"}) == "cores=16 order=sjf"


def test_a_wish_that_cannot_be():
    choice, objective = Choice.parse("cluster.cores=1..4"), Objective.parse("mean_wait")
    with pytest.raises(InputError, match="a key to tune, and an objective"):
        Wish([choice], [])
    with pytest.raises(InputError, match="tuned twice"):
        Wish([choice, choice], [objective])
    with pytest.raises(InputError, match="a figure is"):
        Objective.parse("mean_wait of")


def test_without_optuna_it_says_what_to_install(monkeypatch, tmp_path, trace):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with (
        Store(tmp_path / "store", create=True) as store,
        Points(store, "tune", trace, groups=["size"]) as points,
        pytest.raises(InputError, match=r"pip install 'walltime\[tune\]'"),
    ):
        tune(points, WISH, trials=2)


DAY = 86_400
WEEKS = 2
WISH = Wish(
    [
        Choice.parse(f"cluster.reservations.0.start=0..{20 * 3600}:3600"),
        Choice.parse("cluster.scheduler.order=fcfs,sjf,ljf"),
    ],
    [Objective.parse("mean_wait")],
    nobody=Nobody.parse("p95_wait by queue 10%"),
)


@pytest.fixture
def trace(tmp_path):
    """One core that is busy each day until 15:00 and from 19:00 on: a maintenance of four hours fits nowhere else, and
    shortest first is the best order of what comes together at noon (W. E. Smith, 1956)."""
    rows = ["job_id,submit,run_time,requested_time,cores,queue"]
    for day in range(7 * WEEKS + 1):
        at = [(hour, 3000) for hour in (*range(12), *range(19, 24))] + [(12, 7200), (12, 1800), (12, 600)]
        rows += [
            f"{len(rows) + number},{day * DAY + hour * 3600},{run},{run},1,q"
            for number, (hour, run) in enumerate(sorted(at, key=lambda one: one[0]))
        ]
    (tmp_path / "days.csv").write_text("\n".join(rows) + "\n")
    path = tmp_path / "days.yaml"
    path.write_text(
        "workload: {trace: days.csv}\n"
        "cluster:\n"
        "  cores: 1\n"
        "  scheduler: {order: fcfs, backfill: none}\n"
        "  reservations: [{name: works, start: 0, length: 4h, every: 1d, cores: 1}]\n"
    )
    return path


def run(folder, trace, workers, **more):
    with (
        Store(folder, create=True) as store,
        Points(store, "tune-days", trace, groups=["queue"], workers=workers, **more) as points,
    ):
        return tune(points, WISH, trials=36, batch=6, losers="queue"), store.find("tune-days").counts


def test_a_planted_optimum_is_found_and_judged_on_other_weeks(tmp_path, trace):
    found, counts = run(tmp_path / "one", trace, 1)
    best = found.best.tried.setting
    assert best == {"cluster.reservations.0.start": 15 * 3600, "cluster.scheduler.order": "sjf"}
    assert (found.basis, found.counts) == ("weeks", (1, 1))
    assert found.best.holds
    assert found.best.verdicts[0].count == 1
    assert found.best.verdicts[0].outcome == "sensitivity"  # one week gives no verdict
    assert next(one.key for one in found.effects) == "cluster.reservations.0.start"
    assert found.sentences[-1].startswith("What a replay cannot know")
    assert any("0 of 1 queues wait longer" in text for text in found.sentences)
    assert found.effects[0].sentence.startswith("start (at 54000) changes mean wait: +")

    class StopError(Exception): ...

    def stop(progress):
        if progress.counts["done"] > counts["done"] // 2:
            raise StopError

    with pytest.raises(StopError):
        run(tmp_path / "two", trace, 1, show=stop)
    again, more = run(tmp_path / "two", trace, 2)
    assert again.as_dict() == found.as_dict()
    assert more["done"] == counts["done"]


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "site.yaml"
    path.write_text("workload: {generate: {jobs: 80, cores: 16, load: 0.9}}\ncluster: {cores: 24}\n")
    return path


def test_a_front_of_two_objectives_under_a_constraint(scenario, tmp_path):
    wish = Wish(
        [Choice.parse("cluster.cores=16..64:4"), Choice.parse("policy=fcfs,easy")],
        [Objective.parse("mean_wait"), Objective.parse("utilization_window", least=False)],
        [FigureCondition.parse("mean_wait < 100% of present")],
    )
    with (
        Store(tmp_path / "store", create=True) as store,
        Points(store, "tune-site", scenario, groups=["size"], workers=1) as points,
    ):
        found = tune(points, wish, trials=16, repetitions=2, others=3)
        waits = [one.figures[0].mean for one in found.front]
        use = [one.figures[1].mean for one in found.front]
        assert waits == sorted(waits)
        assert use == sorted(use)  # less wait costs use, else it would not be a front
        assert len(found.front) > 1
        assert all(one.holds and one.figures[0].mean <= found.present.figures[0].mean for one in found.front)
        for one in found.tried:
            assert one.holds == (one.figures[0].mean <= found.present.figures[0].mean)
            beaten = [a <= one.figures[0].mean and b >= one.figures[1].mean for a, b in zip(waits, use, strict=True)]
            assert not one.holds or any(beaten)
        verdict = found.best.verdicts[0]
        assert (verdict.baseline, verdict.count) == ("present", 3)
        assert verdict.before == pytest.approx(sum(points.values("present", "mean_wait")[2:5]) / 3)
        assert found.as_dict()["front"] == [one.number for one in found.front]
        assert [panel.x.label for panel in found.draw().panels] == ["mean_wait"]


def test_no_setting_is_tried_again_while_others_are_left():
    choices = [Choice.parse("a=x,y,z"), Choice.parse("b=1..7:2"), Choice.parse("c=1..2 log")]
    for seed in range(3):
        proposals = Proposals(choices, [True], seed=seed, batch=5)
        proposals.begin_with({"a": 1, "b": 3, "c": 2})
        tried = []
        for _ in range(5):
            asked = proposals.ask()
            tried += [tuple(one.values()) for one in asked]
            proposals.tell([([float(one["b"] * one["c"])], []) for one in asked])
        assert tried[0] == ("y", 3, 2)
        assert len(set(tried[:24])) == 24  # all there are
        assert tried[24] in tried[:24]
