"""The conformance check: it lets good parts pass, and says what is wrong with bad ones."""

from __future__ import annotations

import numpy as np
import pytest

from walltime.core.errors import InputError
from walltime.policy import conformance
from walltime.policy.api import Estimate, Order, Policy
from walltime.policy.conformance import ConformanceError, check_part, registered


@pytest.mark.parametrize(("kind", "name"), list(registered()))
def test_built_in_parts_conform(kind, name, monkeypatch):
    """On a third of the workloads, as large as any: the twin has thousands of cases of each of them."""
    monkeypatch.setattr(conformance, "_draw", lambda number, draw=conformance._draw: draw(number * 3 + 2))
    monkeypatch.setattr(conformance, "WORKLOADS", 4)
    check_part(kind, name)


def test_parameters_are_passed_on():
    check_part("order", "formula", value="wait * cores")
    check_part("estimate", "factor", factor=1.5)
    check_part("backfill", "easy", candidates="wfp3", alpha=1)
    with pytest.raises(ConformanceError, match="needs the parameter value"):
        check_part("order", "formula")
    with pytest.raises(ConformanceError, match="no such parameter: 'dept'"):
        check_part("backfill", "depth", dept=2)


# ---- parts in Python


class Greedy(Policy):
    """Start whatever fits."""

    def schedule(self, p):
        for slot in p.waiting():
            if p.fits(slot):
                p.start(slot)


class ByCores(Order):
    def key(self, jobs, slot):
        return -int(jobs.cores[slot])


class Doubled(Estimate):
    def estimate(self, jobs, slot):
        return 2 * int(jobs.requested[slot])


def heads_only(p):
    while p.head() >= 0 and p.fits(p.head()):
        p.start(p.head())


def score_age(waiting):
    return -waiting.wait * waiting.cores


def score_weighted(waiting, weight=2):
    return waiting.estimate - weight * waiting.wait


def halve(job):
    return job.requested_time / 2


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("backfill", Greedy),
        ("backfill", heads_only),
        ("order", ByCores),
        ("order", score_age),
        ("order", score_weighted),
        ("estimate", Doubled),
        ("estimate", halve),
    ],
)
def test_good_parts_conform(kind, part):
    check_part(kind, part)


# ---- bad ones


class Overbooks(Policy):
    def schedule(self, p):
        for slot in p.waiting():
            p.start(slot)


class Never(Policy):
    def schedule(self, p):
        pass


class OnlySmall(Policy):
    def schedule(self, p):
        for slot in p.waiting():
            if p.cores(slot) == 1 and p.fits(slot):
                p.start(slot)


class Forgets(Policy):
    """Keeps state of its class, so that a second run differs."""

    calls = 0

    def schedule(self, p):
        type(self).calls += 1
        waiting = p.waiting()
        for slot in waiting if type(self).calls % 3 else reversed(waiting):
            if p.fits(slot):
                p.start(slot)


class Buggy(Policy):
    def schedule(self, p):
        return {}["nothing"]


def ranks(waiting):
    return np.arange(len(waiting))


def too_few(waiting):
    return [1.0]


def words(waiting):
    return ["first"] * len(waiting)


def negative(job):
    return -1


def nothing(job):
    return None


class NotAnOrder:
    pass


@pytest.mark.parametrize(
    ("kind", "part", "words"),
    [
        ("backfill", Overbooks, "broke a rule: .*does not fit"),
        ("backfill", Never, "never starts job"),
        ("backfill", OnlySmall, "never starts job"),
        ("backfill", Forgets, "two schedules"),
        ("backfill", Buggy, "raised KeyError: 'nothing'"),
        ("order", ranks, "by its place"),
        ("order", too_few, "the shape"),
        ("order", words, "could not convert|not an array of numbers"),
        ("estimate", negative, "not a number of seconds"),
        ("estimate", nothing, "not a number of seconds"),
        ("order", NotAnOrder, "not a walltime.policy.api.Order"),
        ("order", "no_such:thing", "cannot be made"),
    ],
)
def test_bad_parts_are_told_what_is_wrong(kind, part, words):
    with pytest.raises(ConformanceError, match=words):
        check_part(kind, part)


def test_other_kinds_are_refused():
    with pytest.raises(InputError, match="choices: order, estimate, backfill, broker"):
        check_part("rhythm", Greedy)
