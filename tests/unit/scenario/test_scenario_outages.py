"""Mistakes in reservations, failures and preemption are told at load, by name and line."""

from __future__ import annotations

from itertools import islice

import pytest

from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.scenario import Reservation, load
from walltime.scenario.outages import occurrences

NODES = "nodes: 4x4"
MISTAKES = [
    (
        NODES,
        "reservations: [{name: m, start: 1h, length: 1h, nodes: x9}]",
        "no node or group of nodes has the name: 'x9'",
    ),
    (NODES, "reservations: [{name: m, start: 1h, length: 2h}, {name: k, start: 2h, length: 1h}]", "overlaps .* m.*'k'"),
    (
        NODES,
        "reservations: [{name: m, start: 1h, length: 1h, every: 2d}, {name: k, start: 3d, length: 2h, every: 3d}]",
        "overlaps with reservation m",
    ),
    (NODES, "reservations: [{name: m, start: 0, length: 1h}, {name: m, start: 5h, length: 1h}]", "the same name: 'm'"),
    (NODES, "reservations: [{name: m, start: 0, length: 2h, every: 1h}]", "recurs before it is over"),
    (NODES, "reservations: [{name: m, start: -1h, length: 1h}]", "start is not a duration"),
    (NODES, "reservations: [{name: m, start: 0, length: 1h, count: 5}]", "only 4 nodes: 5"),
    (NODES, "reservations: [{name: m, start: 0, length: 1h, cores: 5}]", "the cluster has nodes; give nodes or count"),
    ("cores: 8", "reservations: [{name: m, start: 0, length: 1h, cores: 9}]", "has only 8: 9"),
    (
        "cores: 8",
        "reservations: [{name: m, start: 0, length: 1h, cores: 5}, {name: k, start: 0, length: 1h, cores: 4}]",
        "overlaps with reservation m",
    ),
    (NODES, "failures: [{between: {mean: 1d}, repair: -5}]", r"repair\.mean is not a duration .*: -5"),
    (NODES, "failures: [{between: {distribution: weibull, mean: 1d}, repair: 1h}]", "weibull needs shape"),
    (NODES, "failures: [{at: 1h}]", "needs both at and length"),
    (NODES, "interrupted: checkpoint", "interrupted: no execution.checkpoint .*'checkpoint'"),
    (
        NODES,
        "scheduler: {preempt: {name: qos, mode: checkpoint, ranks: {high: 1}}}",
        "mode: no execution.checkpoint says that jobs write any",
    ),
    (
        "cores: 8",
        "{reservations: [{name: m, start: 0, length: 1h, cores: 7, users: [u]}], "
        "failures: [{at: 1h, length: 1h, cores: 2}]}",
        "only 1 cores are not kept for jobs by reservations, and these do not fail: 2",
    ),
    (NODES, "failures: [{file: nowhere.failures}]", "no such file"),
    (NODES, "failures: [{nodes: n9, at: 1h, length: 1h}]", "no node or group of nodes has the name: 'n9'"),
    ("cores: 8", "failures: [{nodes: n1, at: 1h, length: 1h}]", "a plain number of cores; give cores"),
    (NODES, "scheduler: {preempt: queue}", "the cluster has no queues"),
    (
        NODES,
        "{queues: {a: {default: true}}, scheduler: {preempt: {name: queue, ranks: {b: 1}}}}",
        r"a rank for a queue that is not there: 'b' \(choices: a\)",
    ),
]


@pytest.mark.parametrize(("size", "text", "message"), MISTAKES, ids=range(len(MISTAKES)))
def test_mistakes_are_told_with_their_line(tmp_path, size, text, message):
    path = tmp_path / "s.yaml"
    inside = text.removeprefix("{").removesuffix("}") if text.startswith("{") else text
    path.write_text(f"workload: {{generate: {{jobs: 5, cores: 4}}}}\ncluster: {{{size}, {inside}}}\n")
    with pytest.raises(InputError, match=rf"s\.yaml:2: .*{message}"):
        load(path)


def test_what_only_touches_does_not_overlap(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text(
        "workload: {generate: {jobs: 5, cores: 4}}\n"
        "cluster:\n  nodes: 4x4\n  reservations:\n"
        "    - {name: a, start: 1h, length: 1h, every: 1d}\n"
        "    - {name: b, start: 2h, length: 1h, every: 1d}\n"
        "    - {name: c, start: 3h, length: 5h, users: ann}\n"
    )
    assert len(load(path).clusters[0].reservations) == 3


def test_occurrences():
    once = Reservation(name="m", start=5, length=2)
    assert list(occurrences(once)) == [(5 * SECOND, 7 * SECOND)]
    thrice = Reservation(name="m", start=0, length=2, every=10, times=3)
    assert [start // SECOND for start, _ in occurrences(thrice)] == [0, 10, 20]
    ever = Reservation(name="m", start=1, length=2, every=10)
    assert [start // SECOND for start, _ in islice(occurrences(ever), 4)] == [1, 11, 21, 31]
