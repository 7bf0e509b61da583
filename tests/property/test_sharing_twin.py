"""Fair shares and the clock of activities against their slow twin, on thousands of random networks."""

import math

import numpy as np
import pytest

from twin.sharing import Activity, Flow, play, share
from walltime.programs.activities import Activities, Waiter
from walltime.programs.sharing import FairShares

CASES = 3000
CLOSE = 1e-9


def draw_flow(rng, resources):
    """A flow over some of the resources; where it has none it has a bound."""
    count = int(rng.integers(0, min(4, resources) + 1))
    used = rng.choice(resources, count, replace=False)
    plain = rng.random() < 0.5
    uses = {int(r): 1.0 if plain else float(rng.choice([0.5, 1.0, 2.0, 7.0])) for r in used}
    weight = 1.0 if rng.random() < 0.6 else float(rng.integers(1, 9))
    bound = float(rng.uniform(0.1, 10)) if rng.random() < 0.4 or not uses else math.inf
    return Flow(uses, weight, bound)


def add(shares, number, flow):
    shares.open(number, flow.weight, flow.bound)
    for resource, coefficient in flow.uses.items():
        shares.use_resource(number, resource, coefficient)
    shares.start(number)


@pytest.mark.parametrize("part", range(3))
def test_rates_are_those_of_the_twin_after_any_change(part):
    """Flows come and go, several at a time, and capacities change; only what changed is solved again."""
    partly = 0
    for case in range(part, CASES, 3):
        rng = np.random.default_rng([23, case])
        count = int(rng.integers(1, 9))
        capacities = [float(rng.choice([1.0, 2.0, 10.0, rng.uniform(0.1, 50)])) for _ in range(count)]
        shares = FairShares()
        for capacity in capacities:
            shares.add_resource(capacity)
        active, number = {}, 0
        for _ in range(6):
            for _ in range(int(rng.integers(1, 5))):
                if active and rng.random() < 0.4:
                    gone = int(rng.choice(list(active)))
                    del active[gone]
                    shares.drop(gone)
                elif rng.random() < 0.1:
                    r = int(rng.integers(count))
                    capacities[r] = float(rng.uniform(0.1, 50))
                    shares.set_capacity(r, capacities[r])
                else:
                    active[number] = draw_flow(rng, count)
                    add(shares, number, active[number])
                    number += 1
            shares.settle()
            partly += 0 < shares.grouped < len(active)
            found = [shares.rate_of(i) for i in active]
            assert found == pytest.approx(share(capacities, list(active.values())), rel=CLOSE), case
    assert partly > CASES / 4  # otherwise nothing was tested of what is left alone


class Ends(Waiter):
    """Notes when activities end."""

    def __init__(self, activities):
        self.activities, self.ends, self.order, self.token = activities, {}, [], {}

    def wake(self, a):
        token = self.token.pop(a)
        self.ends[token] = self.activities.now / 1e6
        self.order.append(token)
        return 0


def play_fast(capacities, given):
    activities = Activities()
    for capacity in capacities:
        activities.shares.add_resource(capacity)
    ends = Ends(activities)
    for token in sorted(range(len(given)), key=lambda i: (given[i].begin, i)):
        one = given[token]
        activities.advance(one.begin * 1e6)
        a = activities.open(one.amount, one.delay, one.flow.weight, one.flow.bound, ends)
        ends.token[a] = token
        for resource, coefficient in one.flow.uses.items():
            activities.use_resource(a, resource, coefficient)
        activities.go(a)
    activities.advance(1e15)
    assert activities.live == 0
    return ends


def test_activities_end_when_the_twin_says():
    for case in range(600):
        rng = np.random.default_rng([24, case])
        count = int(rng.integers(1, 6))
        capacities = [float(rng.uniform(0.5, 20)) for _ in range(count)]
        given = [
            Activity(
                float(rng.choice([0.0, 1.0, rng.uniform(0, 10)])),
                float(rng.uniform(0.1, 30)),
                draw_flow(rng, count),
                float(rng.choice([0.0, 0.5, rng.uniform(0, 3)])),
            )
            for _ in range(int(rng.integers(1, 10)))
        ]
        ends = play_fast(capacities, given).ends
        assert [ends[i] for i in range(len(given))] == pytest.approx(play(capacities, given), rel=CLOSE), case


def test_activities_that_end_together_are_told_in_the_order_in_which_they_began():
    given = [Activity(0.0, 3.0, Flow({0: 1.0})) for _ in range(50)]
    assert play_fast([10.0], given).order == list(range(50))


def test_cancelled_activities_leave_their_shares_and_are_not_told():
    activities = Activities()
    activities.shares.add_resource(10.0)
    ends = Ends(activities)
    numbers = []
    for token in range(2):
        numbers.append(activities.open(10.0, 0.0, 1.0, math.inf, ends))
        ends.token[numbers[-1]] = token
        activities.use_resource(numbers[-1], 0, 1.0)
        activities.go(numbers[-1])
    activities.advance(1e6)
    assert activities.left_of(numbers[0]) == pytest.approx(5.0)
    activities.cancel(numbers[0])
    activities.advance(10e6)
    assert ends.ends == {1: pytest.approx(1.5)}
