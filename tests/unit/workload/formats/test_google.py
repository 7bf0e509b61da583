"""Google's trace of 2019: executions out of events, whole and as a stream."""

import json

import pytest

from walltime.core.errors import InputError
from walltime.workload.formats import blocks as blocks_module
from walltime.workload.formats import find_format, read, read_batches
from walltime.workload.formats import spool as spool_module

HEAD = (
    "time,type,collection_id,scheduling_class,missing_type,collection_type,priority,alloc_collection_id,"
    "instance_index,machine_id,alloc_instance_index,resource_request.cpus,resource_request.memory,constraint"
)
SUBMIT, ENABLE, SCHEDULE, EVICT, FAIL, FINISH, KILL, LOST, UPDATE = 0, 2, 3, 4, 5, 6, 7, 8, 10


def row(time, kind, collection, index=0, cpus=0.25, memory=0.125, *, kinds=0, priority=103):
    return f"{time},{kind},{collection},2,,{kinds},{priority},0,{index},,,{cpus},{memory},"


EVENTS = [
    row(0, SUBMIT, 7),
    row(1_000_000, SUBMIT, 9, 0, 0.0, 0.5),
    row(1_000_000, SUBMIT, 9, 1, 0.5, 0.0),
    row(2_000_000, SCHEDULE, 7),
    row(2_500_000, ENABLE, 9, 1, 0.5, 0.0),
    row(3_000_000, SCHEDULE, 9, 1),
    row(3_000_000, SUBMIT, 5, kinds=1),  # an alloc set
    row(4_000_000, EVICT, 9, 1),
    row(4_000_000, SUBMIT, 9, 1, 0.5, 0.25),
    row(5_000_000, SCHEDULE, 9, 1, 0.5, 0.25),
    row(6_000_000, UPDATE, 9, 1, 0.75, 0.25),
    row(7_000_000, FINISH, 9, 1),
    row(8_000_000, KILL, 9, 0),  # never scheduled
    row(9_000_000, FAIL, 7),
    row(9_500_000, SUBMIT, 7),  # again, to the end of the trace
    f"{(1 << 63) - 1},6,7,2,,0,103,0,0,,,,,",
    ",6,7,2,,0,103,0,0,,,,,",
    "9900000,,7,2,,0,103,0,0,,,,,",
]
JOBS = [  # submit, run time, cores and memory of 8x1000, name, wait
    (0, 7_000_000, 2, 125, "7-0", 2_000_000),
    (4_000_000, 2_000_000, 6, 250, "9-1", 1_000_000),
]
SKIPPED = {
    "event without a time, a type or an instance": 3,
    "instance of an alloc set": 1,
    "evicted or lost": 1,
    "ended before it was scheduled": 1,
    "not ended within the trace": 1,
}


def write(tmp_path, rows, name="instance_events.csv"):
    (tmp_path / name).write_text("\n".join([HEAD, *rows]) + "\n", encoding="utf-8")
    return tmp_path / name


def told(jobs):
    columns = [jobs.column(name) for name in ("submit", "run_time", "cores", "memory", "name", "recorded_wait")]
    return list(zip(*columns, strict=True))


def test_an_execution_is_from_its_submission_to_its_end(tmp_path):
    path = write(tmp_path, EVENTS)
    jobs = read(path, host="8x1000")
    assert find_format(path) == "google"
    assert told(jobs) == JOBS
    assert jobs.notes["skipped"] == SKIPPED
    assert jobs.column("priority").tolist() == [103, 103]
    assert jobs.column("nodes").tolist() == [1, 1]


@pytest.mark.parametrize("block", [1 << 20, 300])
def test_a_stream_is_the_same_in_blocks_and_batches_of_any_size(tmp_path, monkeypatch, block):
    monkeypatch.setattr(blocks_module, "BLOCK", block)
    monkeypatch.setattr(spool_module, "RUN", 1)
    batches = list(read_batches(write(tmp_path, EVENTS), 1, host="8x1000"))
    assert [told(batch) for batch in batches] == [[JOBS[0]], [JOBS[1]]]
    assert [batch.column("job_id").tolist() for batch in batches] == [[1], [2]]
    assert batches[-1].notes["skipped"] == SKIPPED


def test_events_may_be_in_any_order_where_all_are_read_and_not_in_a_stream(tmp_path):
    path = write(tmp_path, EVENTS[::-1])
    assert told(read(path, host="8x1000")) == JOBS
    with pytest.raises(InputError, match="not in order of time"):
        list(read_batches(path, 10))


def test_json_lines_and_shards_of_a_folder_are_the_same(tmp_path):
    names = HEAD.split(",")
    (tmp_path / "trace").mkdir()
    for shard, part in enumerate((EVENTS[:6], EVENTS[6:])):
        lines = []
        for text in part:
            cells = {name: cell for name, cell in zip(names, text.split(","), strict=True) if cell}
            amounts = {key: float(cells.pop(f"resource_request.{key}", "0")) for key in ("cpus", "memory")}
            kind = int(cells["type"]) if "type" in cells else None
            lines.append(json.dumps(cells | {"resource_request": amounts, "type": kind}))
        (tmp_path / "trace" / f"instance_events-{shard:03}.json").write_text("\n".join(lines), encoding="utf-8")
    assert told(read(tmp_path / "trace", host="8x1000")) == JOBS


def test_the_collections_beside_it_tell_the_users(tmp_path):
    path = write(tmp_path, EVENTS)
    text = "time,type,collection_id,user,collection_name\n0,0,7,ann,a\n5,3,7,ann,a\n0,0,8,bo,b\n"
    (tmp_path / "collection_events.csv").write_text(text, encoding="utf-8")
    jobs = read(path)
    names = jobs.label_names("user")
    assert [names[code] if code >= 0 else None for code in jobs.column("user")] == ["ann", None]


def test_types_may_be_words(tmp_path):
    words = ("SUBMIT", "QUEUE", "ENABLE", "SCHEDULE", "EVICT", "FAIL", "FINISH", "KILL", "LOST", "", "UPDATE_RUNNING")
    cells = [text.split(",") for text in EVENTS]
    rows = [",".join([one[0], words[int(one[1])] if one[1] else "", *one[2:]]) for one in cells]
    assert told(read(write(tmp_path, rows), host="8x1000")) == JOBS


def test_without_a_host_cores_are_thousandths_of_the_largest_machine(tmp_path):
    jobs = read(write(tmp_path, EVENTS))
    assert list(zip(jobs.column("cores"), jobs.column("memory"), strict=True)) == [(250, 125_000), (750, 250_000)]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (row("x", 0, 7), 4, "time is not a whole number: 'x'"),
        (row(5, 11, 7), 4, "no type of events .0 to 10.: '11'"),
        (row(5, "START", 7), 4, "no type of events"),
        (row(5, 0, 7, cpus="much"), 4, "cpus is not a number: 'much'"),
        (row(5, 0, 7, cpus="inf"), 4, "not a finite number"),
        (row(5, 0, 7, cpus=-1), 4, "a request of cpus out of range"),
        ("1,2,3", 4, "fields"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, text, line, words):
    with pytest.raises(InputError, match=words) as caught:
        read(write(tmp_path, [*EVENTS[:2], text]))
    assert caught.value.line == line


@pytest.mark.parametrize("host", ["4", "0x4G", "4x", "x", "99999999999x1"])
def test_a_host_is_cores_and_memory(tmp_path, host):
    with pytest.raises(InputError, match="a host is CORESxMEMORY"):
        read(write(tmp_path, EVENTS), host=host)
