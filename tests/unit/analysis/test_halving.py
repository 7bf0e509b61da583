"""Searches by halving on responses that are known: what is found, how often one looks, and what is told."""

from __future__ import annotations

import numpy as np
import pytest

from walltime.analysis.solving import FIRST, SearchGoal, solve

NOISE = np.random.Generator(np.random.Philox(3)).normal(0, 1, (200, 400))


def respond(truth, spread=0.0, asked=None):
    """Figures of a response with noise; what is asked for is noted."""

    def answer(place, count):
        if asked is not None:
            asked.append((place, count))
        return truth(place) + spread * NOISE[place, :count]

    return answer


@pytest.mark.parametrize("edge", [0, 1, 17, 50, 98, 99])
@pytest.mark.parametrize("smallest", [True, False])
def test_the_edge_is_found_in_few_steps(edge, smallest):
    """The condition holds from the edge on, or up to it."""
    asked = []
    truth = (lambda x: float(edge - x)) if smallest else (lambda x: float(x - edge))
    found = solve(respond(truth, asked=asked), 100, SearchGoal(bound=0.5, zone=0.2), smallest=smallest)
    assert found.place == edge
    assert not found.warnings
    assert len(asked) <= 10
    assert {count for _, count in asked} == {FIRST}  # without noise nothing is repeated


def test_a_figure_that_is_to_be_above():
    found = solve(respond(lambda x: float(x)), 50, SearchGoal(bound=19.5, below=False))
    assert found.place == 20


def test_repetitions_are_added_only_near_the_bound():
    asked = []
    found = solve(respond(lambda x: 100.0 - x, 3.0, asked), 60, SearchGoal(bound=60.0, zone=0.02, most=400))
    assert 38 <= found.place <= 42
    many = {place for place, count in asked if count > FIRST}
    assert many
    assert all(abs(place - 40) < 15 for place in many)
    assert next(one for one in found.trials if one.place == 0).figure.count == FIRST


def test_it_holds_nowhere_or_everywhere():
    nowhere = solve(respond(lambda x: 9.0), 10, SearchGoal(bound=1.0))
    assert (nowhere.place, nowhere.warnings) == (None, [])
    everywhere = solve(respond(lambda x: 0.0), 10, SearchGoal(bound=1.0))
    assert everywhere.place == 0


def test_a_response_that_is_not_monotone_is_told():
    hill = solve(respond(lambda x: 10.0 - abs(x - 20.0) / 4), 41, SearchGoal(bound=7.0))
    assert any("holds, fails and holds again" in text for text in hill.warnings)
    assert hill.place == 33  # from here on all that were tried hold
    dent = solve(respond(lambda x: 10.0 + (5.0 if x == 20 else 0.0) - x / 10), 41, SearchGoal(bound=6.55))
    assert any("not monotone" in text for text in dent.warnings)
    valley = solve(respond(lambda x: abs(x - 20.0)), 41, SearchGoal(bound=3.5))
    assert valley.place is None
    assert any("not at the end" in text for text in valley.warnings)


def test_too_few_repetitions_are_told():
    found = solve(respond(lambda x: 50.0 - x, 30.0), 40, SearchGoal(bound=30.0, zone=0.01, most=6))
    assert any("6 repetitions did not suffice" in text for text in found.warnings)
