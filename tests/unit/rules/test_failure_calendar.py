"""Failures one after the other, as both engines follow them."""

from walltime.core.time import NEVER, SECOND
from walltime.rules.failures import DOWN, NOTICE, UP, FailureCalendar
from walltime.scenario import parse


def make(*failures):
    cluster = {"nodes": "4x2", "failures": list(failures)}
    return FailureCalendar(parse({"workload": "none.swf", "cluster": cluster}).clusters[0], seed=1)


def follow(calendar, most=20):
    found = []
    while calendar.next != NEVER and len(found) < most:
        event = calendar.pop()
        found.append((event.time // SECOND, event.what, event.nodes.tolist(), event.noticed))
    return found


def test_nodes_are_drained_fail_and_come_back():
    calendar = make({"nodes": "n[1-2]", "at": 100, "length": 60, "notice": 40, "known": False})
    assert calendar.finite == 1
    assert follow(calendar) == [
        (60, NOTICE, [1, 2], False),
        (100, DOWN, [1, 2], True),
        (160, UP, [1, 2], False),
    ]
    assert calendar.finite == 0


def test_a_failure_at_the_first_instant_has_no_notice():
    assert follow(make({"nodes": "n0", "at": 0, "length": 60, "notice": 40, "known": False})) == [
        (0, DOWN, [0], False),
        (60, UP, [0], False),
    ]


def test_a_return_comes_before_a_failure_of_the_same_instant():
    first = {"nodes": "n1", "at": 10, "length": 50, "known": False}
    second = {"nodes": "n2", "at": 60, "length": 5, "known": False}
    assert [(time, what) for time, what, _, _ in follow(make(second, first))] == [
        (10, DOWN),
        (60, UP),
        (60, DOWN),
        (65, UP),
    ]


def test_what_is_drawn_goes_on_for_ever_one_after_the_other():
    source = {"between": {"mean": 100}, "repair": {"mean": 10}, "known": False}
    calendar = make(source)
    events = follow(calendar, 200)
    assert len(events) == 200
    assert calendar.finite == 0
    assert [time for time, *_ in events] == sorted(time for time, *_ in events)
    down: set[int] = set()
    for _, what, nodes, _ in events:
        assert set(nodes).isdisjoint(down) if what == DOWN else set(nodes) <= down
        down ^= set(nodes)
