"""The compiled scanner against a slow, obvious parser, and against its own writer, on random files."""

import gzip
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from walltime.core.errors import InputError
from walltime.core.workload import MISSING, Workload
from walltime.workload.formats.swf import read_swf, read_swf_batches, write_swf

NAMES = ("job_id", "submit", "run_time", "requested_time", "cores", "memory", "cancel", "recorded_wait")
NAMES += ("preceding_job", "think_time")


def microseconds(text):
    return int((Decimal(text) * 1_000_000).to_integral_value(ROUND_HALF_UP))


def parse(text):
    """The jobs of an SWF text as rows of (the columns in NAMES, user, group, queue), in the order of the file."""
    rows, skipped = [], 0
    for line in text.splitlines():
        fields = line.split()
        if not fields or fields[0].startswith(";"):
            continue
        submit, wait, run, request, think = (microseconds(fields[i]) for i in (1, 2, 3, 8, 17))
        job, allocated, requested, status, preceding = (int(Decimal(fields[i])) for i in (0, 4, 7, 10, 16))
        cores = requested if requested > 0 else allocated
        cancelled = status == 5 and run <= 0
        if status in (2, 3, 4) or cores <= 0 or (request <= 0 if cancelled else run <= 0):
            skipped += 1
            continue
        kilobytes = int(Decimal(fields[9]).to_integral_value(ROUND_HALF_UP))
        cancel = submit + max(wait, 0) if cancelled else MISSING
        labels = [fields[i] if int(fields[i]) >= 0 else None for i in (11, 12, 14)]
        numbers = (
            *(job, submit, MISSING if cancelled else run, request if request > 0 else MISSING, cores),
            *(kilobytes * 1024 * cores if kilobytes > 0 else MISSING, cancel, max(wait, MISSING)),
            *(max(preceding, MISSING), max(think, MISSING)),
        )
        rows.append((*numbers, *labels))
    return rows, skipped


def rows_of(workload):
    labels = []
    for name in ("user", "group", "queue"):
        names = workload.label_names(name)
        labels.append([None if code < 0 else names[code] for code in workload.column(name)])
    return list(zip(*(workload.column(name).tolist() for name in NAMES), *labels, strict=True))


def times(least=0):
    whole = st.integers(least, 10**9).map(str)
    fraction = st.tuples(st.integers(max(least, 0), 10**6), st.text("0123456789", max_size=9)).map(
        lambda p: f"{p[0]}.{p[1]}"
    )
    power = st.tuples(st.integers(0, 99), st.integers(-8, 4)).map(lambda p: f"{p[0]}e{p[1]}")
    return st.one_of(whole, fraction, power)


COUNTS = st.one_of(st.sampled_from(["-1", "0", "1"]), st.integers(1, 10**5).map(str))
NUMBERS = st.one_of(st.just("-1"), st.integers(0, 200).map(str), st.integers(0, 10**17).map(str))
PADS = st.sampled_from([" ", "  ", "\t", " \t "])
UNKNOWN = st.one_of(st.just("-1"), times())


@st.composite
def lines(draw):
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(["", "; remark", "  ", "; Note: x", ";"]))
    fields = [
        *(draw(st.integers(0, 10**18 - 1).map(str)), draw(times()), draw(UNKNOWN), draw(UNKNOWN), draw(COUNTS)),
        *(draw(UNKNOWN), draw(UNKNOWN), draw(COUNTS), draw(UNKNOWN)),
        draw(st.one_of(st.just("-1"), st.integers(0, 10**6).map(str), st.just("17.5"))),
        *(draw(st.integers(-1, 5).map(str)), draw(NUMBERS), draw(NUMBERS), draw(COUNTS), draw(NUMBERS), draw(COUNTS)),
        *(draw(NUMBERS), draw(UNKNOWN)),
    ]
    fields += ["{1,2}"] * draw(st.integers(0, 2))
    return draw(PADS).join(fields)


TEXTS = st.tuples(st.lists(lines(), max_size=12), st.sampled_from(["\n", "\r\n"]), st.booleans()).map(
    lambda parts: parts[1].join(parts[0]) + (parts[1] if parts[2] else "")
)


@settings(deadline=None, max_examples=400)
@given(text=TEXTS, rows=st.integers(1, 5))
def test_scanner_and_twin_agree(tmp_path_factory, text, rows):
    folder = tmp_path_factory.mktemp("swf")
    (folder / "t.swf").write_bytes(text.encode())
    (folder / "t.swf.gz").write_bytes(gzip.compress(text.encode()))
    expected, skipped = parse(text)
    if not expected:
        for reader in (read_swf, lambda path: list(read_swf_batches(path, rows))):
            try:
                reader(folder / "t.swf")
            except InputError:
                continue
            raise AssertionError("a file without jobs was accepted")
        return
    in_order = sorted(expected, key=lambda row: row[1])
    trace = read_swf(folder / "t.swf")
    assert rows_of(trace) == in_order
    assert sum(trace.notes["skipped"].values()) == skipped
    assert trace.notes["unsorted"] == (in_order != expected)
    assert rows_of(read_swf(folder / "t.swf.gz")) == in_order
    if in_order == expected:
        batches = list(read_swf_batches(folder / "t.swf", rows))
        assert [row for batch in batches for row in rows_of(batch)] == expected
        assert sum(batch.notes["lines"] for batch in batches) == trace.notes["lines"]
        assert sum(sum(batch.notes["skipped"].values()) for batch in batches) == skipped


@st.composite
def workloads(draw):
    size = draw(st.integers(1, 8))

    def column(values):
        return np.array(draw(st.lists(values, min_size=size, max_size=size)), np.int64)

    whole = draw(st.booleans())
    unit = 1_000_000 if whole else 1
    time = st.integers(0, 2**40).map(lambda value: value * unit if whole else value)
    positive = time.map(lambda value: value + unit)
    missing = st.just(MISSING)
    cores = column(st.integers(1, 10**6))
    submit = np.sort(column(time))
    run = column(st.one_of(positive, positive, missing))
    wait = column(st.one_of(time, missing))
    wait = np.where(run == MISSING, np.maximum(wait, 0), wait)  # a cancellation in SWF is told by its wait
    columns = {
        "job_id": column(st.integers(0, 10**17)),
        "submit": np.minimum(submit, 2**52),
        "run_time": np.minimum(run, 2**52),
        "requested_time": np.where(run == MISSING, unit, np.minimum(column(st.one_of(positive, missing)), 2**52)),
        "cores": cores,
        "memory": np.where((kb := column(st.integers(-1, 10**6))) > 0, kb * 1024 * cores, MISSING),
        "recorded_wait": np.minimum(wait, 2**52),
        "preceding_job": column(st.integers(-1, 50)),
        "think_time": np.minimum(column(st.one_of(time, missing)), 2**52),
    }
    if (run == MISSING).any():
        columns["cancel"] = np.where(run == MISSING, columns["submit"] + columns["recorded_wait"], MISSING)
    labels = {}
    for name in ("user", "group", "queue"):
        names = draw(st.lists(st.integers(0, 10**6).map(str), min_size=1, max_size=4, unique=True))
        columns[name] = column(st.integers(-1, len(names) - 1)).astype(np.int32)
        labels[name] = names
    return Workload(columns, labels, machine_cores=draw(st.one_of(st.none(), st.integers(1, 10**6))))


@settings(deadline=None, max_examples=200)
@given(workload=workloads())
def test_what_is_written_is_read(tmp_path_factory, workload):
    path = tmp_path_factory.mktemp("swf") / "t.swf"
    assert write_swf(workload, path) == []
    again = read_swf(path)
    assert rows_of(again) == rows_of(workload)
    assert again.machine_cores == workload.machine_cores
    write_swf(again, path.with_name("u.swf"))
    assert path.with_name("u.swf").read_bytes() == path.read_bytes()
