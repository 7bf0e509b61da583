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


def result(label, *rows, **facts):
    return Result(None, record(*rows, **facts), label)


def daily(label, waits, **columns):
    """A job a day, each with the wait given and a run time of 100 s."""
    rows = []
    for place, wait in enumerate(waits):
        begin = place * DAY + wait
        rows.append(job(place + 1, place * DAY, begin, begin + 100, **{k: v[place] for k, v in columns.items()}))
    return result(label, *rows)


def judge(old, new):
    """The judgements of each figure, by its key."""
    (found,) = compare_headlines([daily("a", old), daily("b", new)])
    return {change.figure.key: change.judgement for change in found.changes}, found


def test_the_interval_of_the_mean_wait_is_that_of_the_days():
    random = np.random.default_rng(4)
    old = random.uniform(0, 1000, 40).round(3)
    for shift, words in ((0.0, "may be noise"), (5000.0, "not noise")):
        new = (random.uniform(0, 1000, 40) + shift).round(3)
        judged, found = judge(old, new)
        expected = estimate(list(new - old))
        assert judged["mean_wait"].mean == pytest.approx(expected.mean)
        assert judged["mean_wait"].low == pytest.approx(expected.low)
        assert judged["mean_wait"].high == pytest.approx(expected.high)
        assert (judged["mean_wait"].verdict == "may be noise") == (expected.low < 0 < expected.high)
        slow = [np.maximum(1, (wait + 100) / 100) for wait in (old, new)]
        assert judged["mean_bounded_slowdown"].low == pytest.approx(estimate(list(slow[1] - slow[0])).low)
        assert f"({words})" in found.tell_noise().partition(", bounded slowdown")[0]
        assert judged["max_wait"] is None  # no mean over jobs


def test_what_cannot_be_judged_is_not():
    _, few = judge([10, 20, 30], [90, 80, 70])
    assert few.tell_noise() == "Too few jobs, or on too few days, to tell a change from noise."
    assert few.tell_jobs() == "Of 3 jobs, 0 wait less, 3 wait longer, 0 just as long."
    _, same = judge([10] * 40, [10] * 40)
    assert (same.tell_changes(), same.tell_noise()) == ("b against a: the same figures.", None)
    assert same.tell_jobs() == "Every job waits exactly as long as before."
    _, zero = judge([0] * 40, [10] * 40)
    assert "mean wait 10 s instead of 0.0 s" in zero.tell_changes()


def test_jobs_of_other_workloads_are_not_paired():
    """Two seeds of a generator: the same numbers of jobs, but other jobs."""
    one, other = (walltime.simulate(generate(60, 16, 0.9, seed), cores=16, label=f"s{seed}") for seed in (1, 2))
    (found,) = compare_headlines([one, other])
    assert (found.judged, found.tell_noise(), found.tell_jobs()) == (False, None, None)
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
    assert found.tell_noise() in words
    assert "may be noise" in found.tell_noise()
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
