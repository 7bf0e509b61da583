"""Winners and losers, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from handmade import job, record
from walltime.analysis.noise import estimate
from walltime.analysis.winners import find_winners
from walltime.api import Result
from walltime.core.errors import InputError

DAY = 86_400.0
WEEK = 7 * DAY


def result(label, *rows, **facts):
    return Result(None, record(*rows, **facts), label)


def waits(label, given, every=DAY, **columns):
    """A job a day, or as often as told, each with the wait given and a run time of 100 s; columns are lists."""
    rows = [
        job(
            place + 1,
            place * every,
            place * every + wait,
            place * every + wait + 100,
            **{k: v[place] for k, v in columns.items()},
        )
        for place, wait in enumerate(given)
    ]
    return result(label, *rows)


def groups(found):
    return {row[found.key]: row for row in found.table.iter_rows(named=True)}


def test_every_figure_of_a_small_change():
    users = ["ann", "bo", "ann", "cy"]
    before, after = waits("a", [100, 0, 300, 50], user=users), waits("b", [0, 60, 300, 50], user=users)
    found = find_winners(before, after, "user")
    assert found.table["user"].to_list() == ["ann", "cy", "bo"]  # who saves most first, who loses most last
    ann, bo, cy = (groups(found)[name] for name in ("ann", "bo", "cy"))
    assert (ann["jobs"], ann["compared"], ann["wait_before"], ann["wait_after"]) == (2, 2, 200.0, 150.0)
    assert (ann["difference"], ann["relative"], ann["effect"], ann["share"]) == (-50.0, -0.25, -100.0, 1.0)
    assert (ann["slowdown_before"], ann["slowdown_after"]) == (3.0, 2.5)  # (2 + 4) / 2, (1 + 4) / 2
    assert (ann["shorter"], ann["longer"], ann["verdict"]) == (1, 0, "few jobs")
    assert (bo["relative"], bo["effect"], bo["share"], bo["longer"]) == (None, 60.0, 1.0, 1)
    assert (cy["effect"], cy["share"], cy["verdict"]) == (0.0, None, "the same")
    balance = found.balance
    assert (balance.groups, balance.gain, balance.lose) == (3, 1, 1)
    assert (balance.saved, balance.added, balance.effect) == (100.0, 60.0, -40.0)
    assert (balance.jobs, balance.jobs_shorter, balance.jobs_longer) == (4, 1, 1)
    assert (balance.only_before, balance.only_after, balance.unpaired) == (0, 0, 0)


def test_jobs_stay_in_the_group_that_the_first_result_has_them_in():
    before = waits("a", [100, 100], queue=["long", "long"])
    after = waits("b", [10, 40], queue=["week", "month"])
    table = find_winners(before, after, "queue").table
    assert (table["queue"].to_list(), table["effect"].to_list()) == (["long"], [-150.0])
    back = find_winners(after, before, "queue").table
    assert (back["queue"].to_list(), back["effect"].to_list()) == (["month", "week"], [60.0, 90.0])


def test_groups_that_only_the_second_result_has():
    table = find_winners(waits("a", [100]), waits("b", [10], queue=["week"]), "queue").table
    assert table["queue"].to_list() == ["week"]


def weekly(label, given, users):
    return waits(label, given, every=WEEK, user=users)


def test_one_job_a_week_gives_the_t_interval_of_the_differences():
    random = np.random.default_rng(1)
    old, new = random.uniform(0, 1000, 40).round(3), random.uniform(0, 800, 40).round(3)
    found = find_winners(weekly("a", old, ["ann"] * 40), weekly("b", new, ["ann"] * 40), "user")
    row, expected = groups(found)["ann"], estimate(list(new - old))
    assert row["difference"] == pytest.approx(expected.mean)
    assert (row["low"], row["high"]) == (pytest.approx(expected.low), pytest.approx(expected.high))
    assert row["verdict"] == ("gains" if expected.high < 0 else "may be noise")


def alike(weeks, change):
    """Before and after: four jobs in each week, those of one week alike."""
    place = np.repeat(np.arange(weeks), 4)
    return [
        result(
            label,
            *(
                job(i + 1, week * WEEK, week * WEEK + wait, week * WEEK + wait + 100, user="ann")
                for i, (week, wait) in enumerate(zip(place, 100 + moved[place], strict=True))
            ),
        )
        for label, moved in (("a", np.zeros(weeks)), ("b", np.asarray(change, float)))
    ]


def test_jobs_of_one_week_count_as_one_observation():
    """Forty jobs in ten weeks, each week's alike: the interval is that of ten numbers, not of forty."""
    change = [-50, 60, -40, 30, -70, 80, -20, 10, 5, -9]
    row = groups(find_winners(*alike(10, change), "user"))["ann"]
    expected = estimate(change)
    assert (row["low"], row["high"]) == (pytest.approx(expected.low), pytest.approx(expected.high))
    assert row["verdict"] == "may be noise"


def test_few_weeks_give_no_verdict_however_many_jobs():
    row = groups(find_winners(*alike(9, [-60 + place for place in range(9)]), "user"))["ann"]
    assert (row["compared"], row["low"], row["high"], row["verdict"]) == (36, None, None, "few weeks")


@pytest.mark.parametrize(("change", "verdict"), [(-60, "gains"), (60, "loses")])
def test_a_clear_change_is_called_so(change, verdict):
    old = 100 + np.arange(40) % 7
    new = old + change + np.arange(40) % 3
    found = find_winners(weekly("a", old, ["ann"] * 40), weekly("b", new, ["ann"] * 40), "user")
    assert groups(found)["ann"]["verdict"] == verdict
    assert (found.balance.gain_clearly, found.balance.lose_clearly) == ((1, 0) if change < 0 else (0, 1))


def test_many_groups_are_judged_together():
    """What is clear for one group alone may be chance among forty (Holm)."""
    random = np.random.default_rng(6)
    users = [f"u{place % 40}" for place in range(1600)]  # each has one job a week for forty weeks
    old = random.uniform(0, 1000, 1600).round(3)
    new = (old + random.normal(0, 100, 1600)).clip(0).round(3)
    for many, expected in ((users, set()), (["u0"] * 1600, None)):
        rows = [waits(label, given, every=WEEK / 40, user=many) for label, given in (("a", old), ("b", new))]
        table = find_winners(*rows, "user").table
        assert expected is None or {"gains", "loses"} & set(table["verdict"]) == expected
    alone = [row for row in groups(find_winners(*rows, "user")).values() if row["low"] is not None]
    assert alone
    apart = find_winners(*(waits(x, v, every=WEEK / 40, user=users) for x, v in (("a", old), ("b", new))), "user").table
    unadjusted = apart.filter((apart["low"] > 0) | (apart["high"] < 0))
    assert unadjusted.height > 0  # intervals that leave out zero, by chance
    assert set(unadjusted["verdict"]) == {"may be noise"}


def test_jobs_that_started_in_one_result_only_are_told_and_left_out():
    before = result("a", job(1, 0.0, 50.0, 60.0, user="ann"), job(2, 0.0, 0.0, 9.0, user="bo"), job(3, 0.0, user="ann"))
    after = result("b", job(1, 0.0, 10.0, 20.0, user="ann"), job(2, 0.0, user="bo"), job(3, 0.0, 5.0, 9.0, user="ann"))
    found = find_winners(before, after, "user")
    assert (groups(found)["ann"]["jobs"], groups(found)["ann"]["compared"]) == (2, 1)
    assert (groups(found)["bo"]["effect"], groups(found)["bo"]["verdict"]) == (None, None)
    assert (found.balance.only_before, found.balance.only_after, found.balance.effect) == (1, 1, -40.0)


def test_jobs_are_paired_by_number_whatever_their_order():
    before = result("a", job(7, 0.0, 5.0, 9.0), job(7, 0.0, 50.0, 60.0), job(8, 1.0, 2.0, 9.0))
    after = result("b", job(9, 0.0, 0.0, 9.0), job(7, 0.0, 6.0, 9.0), job(7, 0.0, 20.0, 60.0))
    found = find_winners(before, after, "size")
    assert found.table["effect"].to_list() == [1.0 - 30.0]
    assert found.balance.unpaired == 2
    with pytest.raises(InputError, match="no job in common"):
        find_winners(before, result("c", job(1, 0.0, 0.0, 1.0)), "size")
    with pytest.raises(InputError, match="account"):
        find_winners(before, after, "acount")


def test_the_effects_add_up_to_the_change_of_the_mean():
    random = np.random.default_rng(2)
    users = [f"u{i}" for i in random.integers(0, 9, 200)]
    old, new = random.uniform(0, 1000, 200).round(2), random.uniform(0, 1000, 200).round(2)
    found = find_winners(waits("a", old, user=users), waits("b", new, user=users), "user")
    assert found.balance.effect == pytest.approx(float(np.sum(new - old)))
    shares = found.table.filter(found.table["effect"] < 0)["share"].sum()
    assert shares == pytest.approx(1.0)


def test_jobs_outside_of_the_experiment_are_nobodys_gain():
    """Where jobs have phases, only those of the experiment count, also in the figures of each group."""
    phases = ["fill", "experiment", "experiment"]
    users = ["ann", "ann", "bo"]
    before = waits("a", [900, 100, 50], user=users, phase=phases)
    after = waits("b", [0, 160, 50], user=users, phase=phases)
    found = find_winners(before, after, "user")
    assert (groups(found)["ann"]["jobs"], groups(found)["ann"]["effect"]) == (1, 60.0)
    assert (found.balance.jobs, found.balance.jobs_shorter, found.balance.effect) == (2, 0, 60.0)
    assert after.by("user")["jobs"].to_list() == [1, 1]
    assert after.summary["longest_wait_by_size"] == {"1": 160.0}
    assert after.summary["jain_fairness"] == pytest.approx((2.6 + 1.5) ** 2 / (2 * (2.6**2 + 1.5**2)))
