"""Alea's extra columns and the files beside its traces."""

from __future__ import annotations

import numpy as np
import pytest

from walltime.core.errors import InputError
from walltime.workload.formats import read, read_batches
from walltime.workload.formats.alea import NodeSpecification, parse_nodes, parse_shape
from walltime.workload.formats.alea_files import (
    AleaQueue,
    Failure,
    Machines,
    Owner,
    find_beside,
    read_failures,
    read_machines,
    read_owners,
    read_queues,
)

GIB = 1 << 30


def line(job, cores=4, memory=-1, extra="", queue=-1, submit=None):
    start = 10 * job if submit is None else submit
    return f"{job} {start} 5 100 {cores} -1 -1 {cores} 200 {memory} 1 3 1 -1 {queue} 1 -1 -1 {extra}".rstrip()


def trace(folder, *lines, name="log.swf"):
    path = folder / name
    path.write_text("".join(f"{text}\n" for text in lines))
    return path


def names(workload, column):
    known = workload.label_names(column)
    return [None if code < 0 else known[code] for code in workload.column(column)]


# Node specifications


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("1:ppn=12", NodeSpecification(1, 12)),
        ("8:ppn=8:x86_64:cl_zegox", NodeSpecification(8, 64, "cl_zegox", unused=("x86_64",))),
        ("1:ppn=64:x86_64:cl_zewura#excl", NodeSpecification(1, 64, "cl_zewura", True, unused=("x86_64",))),
        ("1:ppn=1+3:ppn=2", NodeSpecification(4, 7, parts="1x1+3x2")),
        ("1:ppn=8+1:ppn=1", NodeSpecification(2, 9, parts="1x8+1x1")),
        ("1:ppn=2+1:ppn=2", NodeSpecification(2, 4)),
        ("1:ppn=1:cl_a+1:ppn=8:cl_b", NodeSpecification(2, 9, "cl_a&cl_b", parts="1x1+1x8")),
        ("2:ppn=8:cl_zewura:cl_zewura", NodeSpecification(2, 16, "cl_zewura")),
        ("1:ppn=1:^cl_zewura", NodeSpecification(1, 1, "^cl_zewura")),
        ("1:ppn=1.5:brno", NodeSpecification(1, 1, unused=("brno",))),
        ("1:ppn=1cl_zewura", NodeSpecification(1, 1, "cl_zewura")),
        ("zewura19.cerit-sc.cz:ppn=12", NodeSpecification(1, 12, unused=("zewura19.cerit-sc.cz",))),
        ("1:^host1:ppn=24:mem=3gb", NodeSpecification(1, 24, unused=("^host1", "mem=3gb"))),
        ("2", NodeSpecification(2, 2)),
        ("-1", NodeSpecification()),
    ],
)
def test_a_node_specification(text, request_):
    assert parse_nodes(text) == request_


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("all:excl:2x4", NodeSpecification(2, 8, exclusive=True)),
        ("normal:4x16", NodeSpecification(4, 64, "normal")),
        ("normal", NodeSpecification(constraint="normal")),
        ("all", NodeSpecification()),
    ],
)
def test_a_request_of_aleang(text, request_):
    assert parse_shape(text) == request_


@pytest.mark.parametrize("text", ["0:ppn=4", "1:ppn=0", "99999999:ppn=9999"])
def test_a_specification_of_nothing_is_refused(text):
    with pytest.raises(ValueError, match="without nodes or without processors"):
        parse_nodes(text)


# Traces


def test_the_columns_of_alea(tmp_path):
    path = trace(
        tmp_path,
        line(1, 8, 4 * GIB, "{7,7,7,7,9,9,9,9} q_1d 2:ppn=4:x86_64:cl_one#excl"),
        line(2, 1, 3 * GIB, "{7} q_2h 1:ppn=1:brno:x86_64"),
        line(3, 7, -1, "{1,2,2,3,3,4,4} q_1d 1:ppn=1+3:ppn=2"),
        line(4, 2, GIB, "{1,1} -1 1:ppn=4"),
    )
    jobs = read(path)
    assert names(jobs, "queue") == ["q_1d", "q_2h", "q_1d", None]
    assert names(jobs, "constraint") == ["cl_one", None, None, None]
    assert jobs.column("nodes").tolist() == [2, 1, 4, 1]
    assert names(jobs, "parts") == [None, None, "1x1+3x2", None]
    assert jobs.column("cores").tolist() == [8, 1, 7, 2]
    assert jobs.column("exclusive").tolist() == [1, 0, 0, 0]
    assert jobs.column("memory_per_node").tolist() == [4 * GIB, 3 * GIB, -1, GIB]
    assert jobs.column("memory").tolist() == [8 * GIB, 3 * GIB, -1, GIB]
    assert jobs.notes["extra_columns"] == 0
    assert jobs.notes["unused_properties"] == {"x86_64": 2, "brno": 1}
    assert jobs.notes["other_cores"] == 1
    assert jobs.origin.epoch is None


def test_batches_share_their_labels(tmp_path):
    rows = [line(i, 1, 1024, f"{{1}} q_{i % 3} 1:ppn=1:cl_{i % 2}:brno") for i in range(1, 12)]
    path = trace(tmp_path, *rows)
    whole, parts = read(path), list(read_batches(path, 3))
    assert [len(part) for part in parts] == [3, 3, 3, 2]
    assert [name for part in parts for name in names(part, "queue")] == names(whole, "queue")
    assert [name for part in parts for name in names(part, "constraint")] == names(whole, "constraint")
    assert sum(part.notes["unused_properties"]["brno"] for part in parts) == 11


def test_left_out_records_do_not_shift_the_columns(tmp_path):
    left_out = "2 20 -1 -1 4 -1 -1 4 200 -1 0 3 1 -1 -1 1 -1 -1 {5} q_b 1:ppn=4"
    jobs = read(trace(tmp_path, line(1, 4, -1, "{5} q_a 1:ppn=4"), left_out, line(3, 4, -1, "{5} q_c 2:ppn=2")))
    assert names(jobs, "queue") == ["q_a", "q_c"]
    assert jobs.column("nodes").tolist() == [1, 2]


def test_the_columns_of_aleang(tmp_path):
    path = trace(
        tmp_path,
        line(1, 8, 1 << 20, "4 80 all:excl:2x4", queue=0),
        line(2, 16, 1 << 20, "0 90 normal:1x16", queue=1),
    )
    (tmp_path / "log.swf.queues").write_text("; id\tname\tquota\tpriority\n0\tfirst \t 100 \t 50\n")
    (tmp_path / "log.users").write_text("3 carl 1 64\n")
    jobs = read(path)
    assert names(jobs, "queue") == ["first", "1"]  # the file knows only one of them
    assert names(jobs, "user") == ["carl", "carl"]
    assert names(jobs, "constraint") == [None, "normal"]
    assert jobs.column("gpus").tolist() == [4, 0]
    assert jobs.column("nodes").tolist() == [2, 1]
    assert jobs.column("memory_per_node").tolist() == [GIB, GIB]
    assert jobs.column("memory").tolist() == [2 * GIB, GIB]
    assert jobs.column("exclusive").tolist() == [1, 0]


@pytest.mark.parametrize("extra", ["7", "7 8", "7 8 9", "a b c", "1 2 3.5", "{1} q 1 x"])
def test_other_extra_columns_are_left_alone(tmp_path, extra):
    jobs = read(trace(tmp_path, line(1, 4, 1, extra)))
    assert jobs.notes["extra_columns"] == len(extra.split())
    assert not jobs.has("nodes")
    assert jobs.column("memory").tolist() == [4096]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("", r"lacks the 3 extra columns of the others: 2"),
        ("{1} q_a", r"log\.swf:2: not the extra columns"),
        ("4 5 all:1x4", r"log\.swf:2: not the extra columns"),
        ("{1} q_a 0:ppn=4", r"log\.swf:2: .*without nodes.*'0:ppn=4'"),
    ],
)
def test_columns_that_change_on_the_way_are_refused(tmp_path, second, message):
    path = trace(tmp_path, line(1, 4, 1, "{1} q_a 1:ppn=4"), line(2, 4, 1, second))
    with pytest.raises(InputError, match=message):
        read(path)


def test_times_that_count_from_1970(tmp_path):
    jobs = read(trace(tmp_path, line(1, 1, -1, "{1} q 1:ppn=1", submit=1356996147)))
    assert jobs.origin.epoch == 0.0
    assert read(trace(tmp_path, line(1, 1, -1, "", submit=1356996147))).origin.epoch is None


def test_a_season_of_two_clusters(external):
    """What the trace itself shows of its columns; the machines are 20 nodes of 80 cores and 48 of 12."""
    jobs = read(external("traces/wagap-2013.swf"))
    nodes, memory = jobs.column("nodes"), jobs.column("memory_per_node")
    assert len(jobs) == 17_898
    assert jobs.notes["other_cores"] == 0
    assert set(names(jobs, "constraint")) == {None, "cl_zewura", "cl_zegox", "^cl_zewura"}
    assert len(set(names(jobs, "queue"))) == 11
    small, large = 94035968 * 1024, 529426432 * 1024
    assert int(np.count_nonzero(memory > large)) == 1  # one job asks for more than any node has
    assert not np.any(memory[nodes > 1] > small)  # of each node: not one job on several nodes asks for more
    sixth = jobs.column("job_id").tolist().index(6)
    assert (int(nodes[sixth]), int(memory[sixth]), int(jobs.column("memory")[sixth])) == (8, 8 * GIB, 64 * GIB)


# Files beside a trace


def test_machines(tmp_path):
    path = tmp_path / "log.swf.machines"
    path.write_text("0\tzewura\t20\t80\t1\t529426432\r\n1\tzegox\t48\t12\t1\t94035968\r\n")
    assert read_machines(path) == [
        Machines("zewura", 20, 80, 1.0, 529426432 * 1024, (), 0),
        Machines("zegox", 48, 12, 1.0, 94035968 * 1024, (), 0),
    ]
    path.write_text(";cl_id name nodes\n;----\n0\tcl_big \t 4 \t 16 \t 2 \t 256 \t fast:ib \t 8\n1 plain 2 4 1\n")
    assert read_machines(path) == [
        Machines("cl_big", 4, 16, 2.0, 256 * GIB, ("fast", "ib"), 8),
        Machines("plain", 2, 4, 1.0, None, (), 0),
    ]


def test_queues_users_and_groups(tmp_path):
    queues, users = tmp_path / "log.queues", tmp_path / "log.users"
    queues.write_text("short\t100\t5\nlong\t40\t-1\n")
    assert read_queues(queues) == [AleaQueue(None, "short", 100, 5), AleaQueue(None, "long", 40, -1)]
    queues.write_text("; id name quota priority\n0\tfirst \t 500 \t 50\n")
    assert read_queues(queues) == [AleaQueue("0", "first", 500, 50)]
    users.write_text("0\tann\t2\t96\n12 bo 1 64\n")
    assert read_owners(users) == [Owner("0", "ann", 2, 96), Owner("12", "bo", 1, 64)]


def test_failures(tmp_path):
    path = tmp_path / "log.failures"
    path.write_text("1000\tzewura\t3600\t0 3 19\n2000\tzegox\t60\n")
    machines = {"zewura": 20, "zegox": 48}
    assert read_failures(path, machines) == [Failure(1000, "zewura", 3600, (0, 3, 19)), Failure(2000, "zegox", 60, ())]
    path.write_text("1000 zewura 3600 0\n1000 zegox 3600 48\n")
    with pytest.raises(InputError, match=r"log\.failures:2: zegox has the nodes 0 to 47, not: 48"):
        read_failures(path, machines)
    path.write_text("1000 zewra 3600 0\n")
    with pytest.raises(InputError, match=r":1: .*did you mean 'zewura'"):
        read_failures(path, machines)


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("machines", "0 a 2\n", r"log\.machines:1: the line has 3 fields, not 5 to 8"),
        ("machines", ";\n0 a x 2 1\n", r":2: the number of nodes is not a whole number: 'x'"),
        ("machines", "0 a 0 2 1\n", r":1: the number of nodes is below 1"),
        ("machines", "0 a 1 2 0\n", r":1: the speed is not a number above 0"),
        ("machines", "0 a 1 2 1 1\n1 a 1 2 1 1\n", r":2: there is a second cluster with this name: 'a'"),
        ("machines", "; nothing\n", "no clusters in this file"),
        ("queues", "a 0 1\n", r":1: the limit of cores is below 1"),
        ("queues", "0 a 5 1\n0 b 5 1\n", r":2: there is a second number of a queue"),
        ("queues", "a 5 high\n", r":1: the priority is not a whole number: 'high'"),
        ("users", "0 a 1 5\n1 a 1 5\n", r":2: there is a second user with this name: 'a'"),
        ("groups", "0 a 5\n", r":1: the line has 3 fields, not 4"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path, kind, text, message):
    path = tmp_path / f"log.{kind}"
    path.write_text(text)
    reader = {"machines": read_machines, "queues": read_queues}.get(kind, read_owners)
    with pytest.raises(InputError, match=message):
        reader(path)


def test_files_are_found_by_the_name_of_the_trace(tmp_path):
    path = tmp_path / "a.swf.gz"
    assert find_beside(path, "machines") is None
    for name in ("a.machines", "a.swf.machines", "a.swf.gz.machines"):  # the closest name is taken first
        (tmp_path / name).write_text("0 a 1 1 1\n")
        assert find_beside(path, "machines") == tmp_path / name
    assert find_beside(tmp_path / "a", "machines") == tmp_path / "a.machines"
    assert find_beside(tmp_path / "b.swf", "machines") is None
