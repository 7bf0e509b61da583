"""Each order on jobs whose sequence was worked out by hand; formulas, and how their mistakes are explained."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import walltime
from walltime.core.errors import InputError, PolicyError
from walltime.kernel.jobs import JobTable
from walltime.policies.order import elementary
from walltime.policies.order.expression import Expression
from walltime.policy import registry
from walltime.policy.api import float_key
from walltime.policy.functions import float_keys
from walltime.scenario import Part

# Everybody waits for a job that fills the machine until 100; then one at a time in the order's sequence.
# (submit, cores, requested, priority, deadline): each needs more than half of the machine.
JOBS = {
    "a": (1, 8, 40, 1, None),
    "b": (10, 6, 10, 5, 300),
    "c": (20, 5, 90, 3, 200),
    "d": (90, 7, 20, 3, None),
}


def sequence(order: Any) -> str:
    """The jobs' letters in the order of their starts."""
    submit, cores, requested, priority, deadline = zip((0, 8, 100, 0, None), *JOBS.values(), strict=True)
    jobs = walltime.Workload.from_columns(
        submit=submit,
        cores=cores,
        run_time=requested,
        requested_time=requested,
        priority=priority,
        deadline=deadline,
    )
    done = walltime.simulate(jobs, cores=8, policy={"order": order, "backfill": "none"}).jobs
    starts = done["start"].to_list()[1:]
    return "".join(letter for _, letter in sorted(zip(starts, JOBS, strict=True)))


@pytest.mark.parametrize(("order", "expected"), [("fcfs", [2, 3, 1]), ("submission", [1, 2, 3])])
def test_jobs_that_are_eligible_only_later_come_by_that_time_or_by_their_submission(order, expected):
    jobs = walltime.Workload.from_columns(
        job_id=[9, 1, 2, 3],
        submit=[0, 10, 20, 30],
        run_time=[100] * 4,
        requested_time=[100] * 4,
        begin=[None, 60, None, 50],
    )
    done = walltime.simulate(jobs, cores=1, policy={"order": order, "backfill": "none"}).jobs
    assert done.sort("start")["job_id"].to_list() == [9, *expected]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("fcfs", "abcd"),
        ("sjf", "bdac"),
        ("ljf", "cadb"),
        ("smallest", "cbda"),
        ("largest", "adbc"),
        ("smallest-area", "bdac"),  # 60, 140, 320, 450
        ("largest-area", "cadb"),
        ("edf", "cbad"),
        ("priority", "bcda"),
        # At 100 the waits are 99, 90, 80, 10: b expands tenfold; at 110 a (109 + 40) / 40; at 150 d 4, c 2.4.
        ("expansion", "badc"),
        # b 9^3 x 6; at 110 a 2.7^3 x 8 = 162, c 5, d 7; at 150 d 27 x 7, c 15.
        ("wfp3", "badc"),
        # b 90 / (2.58 x 10); a 109 / (3 x 40) = 0.91, c 0.43, d 0.36; at 150 d 1.1, c 0.6.
        ("unicef", "badc"),
        ("f3", "abcd"),  # the time of arrival outweighs everything this small
        ({"name": "formula", "value": "requested_time", "first": "lowest"}, "bdac"),
        ({"name": "formula", "value": "wait / requested_time"}, "badc"),
        ({"name": "formula", "value": "priority * 1000 + cores"}, "bdca"),
        ({"name": "formula", "value": "0 / 0"}, "abcd"),
        ({"name": "formula", "value": "1 / (cores - 6)"}, "bdac"),  # b infinite, a 1/2, d 1, c -1
    ],
)
def test_sequence(order, expected):
    assert sequence(order) == expected


def test_nan_is_last_whatever_is_first():
    for first in ("highest", "lowest"):
        assert sequence({"name": "formula", "value": "log(priority - 3)", "first": first})[-1] == "a"


def test_f1_prefers_a_later_short_job_where_the_difference_is_large():
    """Seconds 1 and 2: 870 x log10(2) = 262, and log10 of the estimates times the cores is 400 and 100."""
    jobs = walltime.Workload.from_columns(
        submit=[0, 0, 1], run_time=[9, 9, 9], requested_time=[9, 10_000, 10], cores=[100, 100, 100]
    )
    starts = walltime.simulate(jobs, cores=100, policy={"order": "f1", "backfill": "none"}).jobs["start"].to_list()
    assert starts == [0, 18, 9]


def test_learned_functions_have_the_published_constants():
    table = JobTable()
    first = table.add(0, 1, 1, 1)
    slot = table.add(99_000_000, 1, 10_000_000_000, 16)  # s = 100, r = 10,000, n = 16
    table.eligible[[first, slot]] = [0, 99_000_000]
    expected = {"f1": 4 * 16 + 870 * 2, "f2": 100 * 16 + 51_200, "f3": 160_000 + 13_720_000, "f4": 40_000 + 1_060_000}
    for name, value in expected.items():
        order = registry.build("order", Part(name=name))
        order.key(table, first)
        assert order.key(table, slot) == float_key(float(value)), name


# ---- keys of floats


def test_keys_sort_as_the_floats_do():
    values = [-math.inf, -1e300, -2.5, -1e-300, 0.0, 1e-300, 1.0, 1.0 + 2**-52, 1e300, math.inf, math.nan]
    keys = [float_key(value) for value in values]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)
    assert float_key(-0.0) == float_key(0.0)
    assert float_key(-math.nan) == float_key(math.nan) == max(keys)
    assert float_keys(np.array([*values, -0.0])).tolist() == [*keys, float_key(0.0)]


# ---- formulas


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cors + 1", "unknown name in the formula: 'cors'; did you mean 'cores'"),
        ("run_time", r"unknown name in the formula: 'run_time'.*choices: wait, now"),
        ("sin(wait)", r"unknown function in the formula: 'sin'.*choices: sqrt, log"),
        ("wait +", "not a formula"),
        ("wait > 3", "not wait > 3"),
        ("wait if cores else 2", "not wait if cores else 2"),
        ("__import__('os')", "unknown function in the formula: '__import__'"),
        ("wait.real", "not wait.real"),
        ("[wait]", "not"),
        ("'wait'", "not"),
        ("True", "not True"),
        ("sqrt(wait, 2)", "sqrt takes 1"),
        ("min(wait)", "min takes 2 or more"),
        ("max(wait, key=cores)", "not max"),
        ("", "1 to 1000 characters"),
        ("wait" + " + wait" * 300, "1 to 1000 characters"),
        ("(" * 60 + "wait" + " + 1)" * 60, "nested"),
        (3, "1 to 1000 characters"),
        ("wait" + ".a" * 490, "not wait.a.a"),
        ("wait" + "()" * 490, "not wait"),
        ("~" * 990 + "1", "not ~~~"),
        ("9" * 400, "too large"),
        ("1if 1else 2", "not 1if"),
    ],
)
def test_wrong_formulas_are_explained(text, words):
    with pytest.raises(InputError, match=words):
        registry.build("order", Part(name="formula", parameters={"value": text}))


def test_first_has_two_choices():
    with pytest.raises(InputError, match="did you mean 'highest'"):
        registry.build("order", Part(name="formula", parameters={"value": "wait", "first": "higest"}))


def test_a_formula_changes_with_time_only_if_it_says_so():
    for text, dynamic in [("cores", False), ("submit + deadline", False), ("wait", True), ("sqrt(now)", True)]:
        assert registry.build("order", Part(name="formula", parameters={"value": text})).dynamic is dynamic


def test_arithmetic_follows_ieee_for_one_job_and_for_many():
    x = np.array([4.0, 0.0, -8.0, 3.0])
    cases = {
        "x / 0": [math.inf, math.nan, -math.inf, math.inf],
        "log2(x)": [2, -math.inf, math.nan, math.log2(3)],
        "log(x) + log10(x)": [math.log(4) + math.log10(4), -math.inf, math.nan, math.log(3) + math.log10(3)],
        "sqrt(x)": [2, 0, math.nan, math.sqrt(3)],
        "x ** -1": [0.25, math.inf, -0.125, 1 / 3],
        "x ** 0.5": [2, 0, math.nan, 3**0.5],
        "exp(x * 1000)": [math.inf, 1, 0, math.inf],
        "x % 3": [1, 0, 1, 0],
        "x % 0": [math.nan] * 4,
        "min(x, 1, 2) - -max(x, 1) + abs(x)": [9, 1, 1, 7],
        "2 ** 3 ** 2 + +x": [516, 512, 504, 515],
    }
    for text, expected in cases.items():
        formula = Expression(text, ("x",))
        with np.errstate(all="ignore"):
            many = formula.evaluate({"x": x})
            single = [float(formula.evaluate({"x": value})) for value in x]
        np.testing.assert_array_equal(np.broadcast_to(many, 4), expected, text)
        np.testing.assert_array_equal(single, expected, text)


def test_elementary_functions_are_those_of_the_c_library():
    values = np.random.default_rng(1).lognormal(3, 4, 2000)
    assert elementary.logarithm(values, 10).tolist() == [math.log10(value) for value in values]
    assert elementary.logarithm(values, 2).tolist() == [math.log2(value) for value in values]
    assert elementary.logarithm(values, 0).tolist() == [math.log(value) for value in values]
    assert elementary.exponential(-values).tolist() == [math.exp(-value) for value in values]
    assert elementary.power(values, 1.7).tolist() == [math.pow(value, 1.7) for value in values]


# ---- functions


def test_an_order_function_sees_the_waiting_jobs_as_arrays():
    seen = []

    def newest(waiting):
        seen.append((len(waiting), waiting.now, sorted(waiting.wait.tolist()), sorted(waiting.cores.tolist())))
        assert set(waiting.deadline.tolist()) <= {math.inf, 300.0, 200.0}
        return -waiting.submit

    assert sequence(newest) == "dcba"
    assert (4, 100.0, [10.0, 80.0, 90.0, 99.0], [5, 6, 7, 8]) in seen


def test_wrong_scores_are_explained():
    with pytest.raises(PolicyError, match=r"<lambda>: [13] jobs wait, but the scores have the shape \(2,\)"):
        sequence(lambda waiting: [1, 2])
    with pytest.raises(PolicyError, match="not an array of numbers"):
        sequence(lambda waiting: ["first"] * len(waiting))
    with pytest.raises(ZeroDivisionError):
        sequence(lambda waiting: 1 / 0)
