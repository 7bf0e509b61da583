"""The headline: one figure, one word, wherever it is shown."""

from __future__ import annotations

import re

import numpy as np
import pytest

import walltime
from handmade import job, record
from walltime.analysis.headline import FIGURES, compare_headlines, find_best, find_remarks, write_brief
from walltime.analysis.noise import estimate
from walltime.analysis.report.words import describe
from walltime.analysis.winners import find_winners
from walltime.api import Result
from walltime.workload.generate import generate

DAY = 86_400.0
WEEK = 7 * DAY


def result(label, *rows, **facts):
    return Result(None, record(*rows, **facts), label)


def spaced(label, waits, every=WEEK, first=2 * DAY):
    """A job each week, after its warm-up, with the wait given and a run time of 100 s; one at the very beginning and
    one after the last week, which count in no figure."""
    rows = [job(1, 0.0, 0.0, 100.0)]
    for place, wait in enumerate(waits):
        submit = place * every + first
        rows.append(job(place + 2, submit, submit + wait, submit + wait + 100))
    end = len(waits) * every
    return result(label, *rows, job(len(waits) + 2, end, end, end + 100))


def judge(old, new, **options):
    """The verdicts of each figure, by its key."""
    (found,) = compare_headlines([spaced("a", old, **options), spaced("b", new, **options)])
    return {verdict.metric: verdict for verdict in found.verdicts}, found


def test_the_interval_of_the_mean_wait_is_that_of_the_weeks():
    random = np.random.default_rng(4)
    old = random.uniform(0, 1000, 40).round(3)
    for shift in (0.0, 5000.0):
        new = (random.uniform(0, 1000, 40) + shift).round(3)
        judged, found = judge(old, new)
        expected = estimate(list(new - old))
        assert judged["mean_wait"].count == 40
        assert judged["mean_wait"].difference.mean == pytest.approx(expected.mean)
        assert judged["mean_wait"].difference.low == pytest.approx(expected.low)
        assert judged["mean_wait"].difference.high == pytest.approx(expected.high)
        assert (judged["mean_wait"].outcome == "more") == (shift > 0)
        slow = [np.maximum(1, (wait + 100) / 100) for wait in (old, new)]
        low = judged["mean_bounded_slowdown"].difference.low
        assert low == pytest.approx(estimate(list(slow[1] - slow[0])).low)
        assert judged["p95_wait"].difference.mean == pytest.approx(expected.mean)  # of the only job of each week
        assert ("b loses to a in mean wait" in found.tell_verdicts()) == (shift > 0)
        assert judged["mean_wait"].comparisons == 3  # the utilization is the same, which is no comparison


def test_a_weeks_first_day_is_warm_up():
    """Jobs of the first day of a week are in no verdict."""
    judged, _ = judge([10] * 12, [90] * 12, first=0.5 * DAY)
    assert "mean_wait" not in judged


def test_what_cannot_be_judged_is_not():
    judged, few = judge([10, 20, 30], [90, 80, 75])
    assert "3 weeks of one trace cannot tell a change from chance; 10 may" in few.tell_verdicts()
    assert judged["mean_wait"].difference.low is None
    assert few.tell_jobs() == "Of 5 jobs, 0 wait less, 3 wait longer, 2 just as long."
    _, same = judge([10] * 40, [10] * 40)
    assert (same.tell_changes(), same.tell_verdicts()) == ("b against a: the same figures.", None)
    assert same.tell_jobs() == "Every job waits exactly as long as before."
    _, zero = judge([0] * 40, [10] * 40)
    assert "mean wait 9.5 s instead of 0.0 s" in zero.tell_changes()


def test_jobs_of_other_workloads_are_not_paired():
    """Two seeds of a generator: the same numbers of jobs, but other jobs."""
    one, other = (walltime.simulate(generate(60, 16, 0.9, seed), cores=16, label=f"s{seed}") for seed in (1, 2))
    (found,) = compare_headlines([one, other])
    assert (found.judged, found.tell_verdicts(), found.tell_jobs()) == (False, None, None)
    assert any("differ in submission or cores" in remark for remark in find_remarks([one, other]))
    strangers = result("x", job(999, 0.0, 0.0, 9.0))
    assert compare_headlines([one, strangers])[0].jobs == 0
    assert any("no job in common" in remark for remark in find_remarks([one, strangers]))


@pytest.fixture(scope="module")
def pair():
    """Two policies on a month of jobs that differ little."""
    jobs = generate(1500, 64, 0.95, 3)
    return [walltime.simulate(jobs, cores=64, policy=policy) for policy in ("easy", "aggressive")]


def test_everything_that_shows_a_headline_says_the_same(pair):
    """The command's table and sentences, the report's words, `repr`: the same figures and verdicts."""
    words = " ".join(describe(pair))
    (found,) = compare_headlines(pair)
    assert found.tell_verdicts() in words
    assert "sensitivity" in found.tell_verdicts()  # a month
    assert found.tell_jobs() in words
    use = next(figure for figure in FIGURES if figure.words == "utilization")
    shown = [use.text(one.summary["utilization_window"]) for one in pair]
    assert f"utilization is {shown[1]} instead of {shown[0]}" in words or shown[0] == shown[1]
    for one, text in zip(pair, shown, strict=True):
        assert f"utilization {text}" in repr(one)
        assert f"<td>{text}</td>" in one._repr_html_()
        assert f"used to {text} in the observation window" in " ".join(describe([one]))
        assert write_brief(one.summary)["utilization"] == text
        assert one.summary["utilization"] != one.summary["utilization_window"]  # two definitions: one is told
    balance = find_winners(*pair, "user").balance
    assert f"{balance.lose} of {balance.groups} users lose" in words
    loser = find_winners(*pair, "user").table.row(-1, named=True)
    told = re.search(r"User (\S+) loses most \((.+?) more on average(?:, ([\w ]+))?\)", words)
    assert told.group(1, 2) == (loser["user"], walltime.core.time.format_duration(loser["difference"]))
    assert (told[3] or "loses") == loser["verdict"]
    assert (found.jobs, found.shorter, found.longer) == (balance.jobs, balance.jobs_shorter, balance.jobs_longer)


def test_unfinished_and_rejected_jobs_stand_with_the_headline():
    before = result("a", job(1, 0.0, 5.0, 9.0), job(2, 0.0, 6.0, 9.0), job(3, 0.0, 7.0))
    after = result("b", job(1, 0.0, 5.0, 9.0), job(2, 0.0), job(3, 0.0, state="rejected"))
    remarks = find_remarks([before, after])
    assert remarks[0] == (
        "unfinished or rejected jobs are missing from the means: "
        "under a 1 still run, under b 1 were rejected and 1 still wait"
    )
    assert remarks[1] == "2 jobs started under a alone and 0 under b alone; changes job by job are over the others"
    assert find_best(FIGURES[0], [before.summary, after.summary]) is None
    turned = [result(label, job(1, 0.0, 5.0, 9.0), job(2, 0.0, state="rejected")) for label in ("a", "b")]
    assert find_remarks(turned) == []  # the same in both: the comparison is fair


def test_a_group_that_waits_for_ever_is_in_the_totals():
    """Ann's jobs never start after the change: that is not "the same", and her waiting so far is told."""
    users = ["ann", "ann", "bo", "cy"]
    before = result("a", *(job(i + 1, 0.0, 5.0, 9.0, user=user) for i, user in enumerate(users)))
    later = [job(1, 0.0, user="ann"), job(2, 0.0, user="ann"), job(3, 0.0, 9.0, 13.0, user="bo")]
    after = result("b", *later, job(4, 0.0, 5.0, 9.0, user="cy"), until=50.0)
    found = find_winners(before, after, "user")
    balance = found.balance
    assert (balance.groups, balance.gain, balance.lose, balance.apart) == (3, 0, 1, 1)
    assert (balance.waiting_before, balance.waiting_after, balance.waiting_groups) == (0, 2, 1)
    assert (balance.waited_before, balance.waited_after) == (0.0, 100.0)
    ann = found.table.filter(found.table["user"] == "ann").row(0, named=True)
    assert (ann["jobs"], ann["compared"], ann["only_before"], ann["waiting_after"]) == (2, 0, 2, 2)
