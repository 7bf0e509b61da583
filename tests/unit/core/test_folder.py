"""The digest, and the result folder: whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import walltime
from walltime.core import folder
from walltime.core.digest import digest
from walltime.core.errors import InputError
from walltime.core.tables import ALLOCATIONS, JOBS, OUTAGES, PLANS, RESOURCES, SERIES, STATES


def jobs(**changed):
    rows = {
        "job_id": [1, 2, 3],
        "name": ["1_a", "", None],
        "user": ["ann", None, "bo"],
        "cluster": ["cluster"] * 3,
        "submit": [0.0, 0.1 + 0.2, 1e9 + 0.123456],
        "start": [0.0, None, 2e9],
        "cores": [1, 2, 3],
        "state": ["completed", "waiting", "completed"],
        "backfilled": [True, False, None],
    }
    table = pl.DataFrame(rows | changed, schema_overrides={name: kind for name, kind in JOBS.items() if name in rows})
    missing = [pl.lit(None, dtype=kind).alias(name) for name, kind in JOBS.items() if name not in rows]
    return table.with_columns(missing).select(list(JOBS))


def allocations(count=2):
    row = {"job_id": 1, "attempt": 0, "cluster": "cluster", "start": 0.0, "end": 9.0, "cores": 1, "nodes": None}
    return pl.DataFrame([row | {"outcome": "completed"}] * count, schema=ALLOCATIONS)


def outages():
    row = ("cluster", 5.0, None, "failure", "disk", "0-1:8", 16)
    return pl.DataFrame([row], schema=OUTAGES, orient="row")


def resources():
    return pl.DataFrame([(1, "gpus", 4)], schema=RESOURCES, orient="row")


def plans():
    return pl.DataFrame([(0.5, 1, 3.0, "0-3,7"), (1.5, 1, 2.0, None)], schema=PLANS, orient="row")


def contents(**changed):
    tables = {"jobs": jobs(), "allocations": allocations()} | changed
    summary = {"schema": 2, "digest": digest(tables["jobs"], tables["allocations"])}
    series = pl.DataFrame([(0.0, "used_cores", "cluster", 1.5)], schema=SERIES, orient="row")
    other = {"summary": summary, "provenance": {"version": "1"}, "outages": outages(), "resources": resources()}
    other["plans"] = plans()
    return folder.Contents("walltime: 1\n", **tables, series=series, **other)


# The digest


def test_the_digest_is_of_contents_not_of_their_form():
    plain = digest(jobs(), allocations())
    encoded = jobs().with_columns(
        pl.col("state").cast(pl.Enum(STATES)),
        pl.col("user").cast(pl.Enum(["zoe", "bo", "ann"])),  # other codes, the same names
        pl.col("name").cast(pl.Categorical),
        pl.col("cores").cast(pl.Int32),
    )
    assert digest(encoded, allocations()) == plain
    wider = jobs().with_columns(pl.lit(1).alias("extra")).select("extra", *reversed(list(JOBS)))
    assert digest(wider, allocations()) == plain
    assert digest(pl.concat([jobs()[:1], jobs()[1:]], rechunk=False), allocations()) == plain
    assert digest(jobs(submit=[-0.0, 0.1 + 0.2, 1e9 + 0.123456]), allocations()) == plain


def naive_digest(*tables):
    """The form of the digest, cell by cell; a change of it makes stored results unreadable and needs a new number."""
    state = hashlib.sha256(b"walltime digest 1\n")
    text = lambda given: struct.pack("<Q", len(given.encode())) + given.encode()  # noqa: E731
    for title, table in zip(("jobs", "allocations"), tables, strict=True):
        state.update(text(title) + struct.pack("<Q", table.height))
        for name in table.columns:
            cells = table[name].to_list()
            empty = [cell is None for cell in cells]
            state.update(text(name) + struct.pack("<Q", sum(empty)))
            if all(empty):
                continue
            state.update(pack_bits(empty) if any(empty) else b"")
            known = [cell for cell in cells if cell is not None]
            if isinstance(known[0], bool):
                state.update(pack_bits(cells))
            elif isinstance(known[0], str):
                distinct = list(dict.fromkeys(known))
                state.update(struct.pack("<Q", len(distinct)))
                state.update(b"".join(struct.pack("<I", len(word.encode())) for word in distinct))
                state.update("".join(distinct).encode())
                numbers = [0 if cell is None else distinct.index(cell) + 1 for cell in cells]
                state.update(struct.pack(f"<{len(cells)}I", *numbers))
            else:
                form = "d" if isinstance(known[0], float) else "q"
                state.update(struct.pack(f"<{len(cells)}{form}", *(cell or 0 for cell in cells)))
    return state.hexdigest()


def pack_bits(flags):
    bits = "".join("1" if flag else "0" for flag in flags)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[first : first + 8], 2) for first in range(0, len(bits), 8))


def test_the_digest_has_the_form_that_is_written_down():
    many = pl.concat([jobs()] * 7)
    for given in (jobs(), jobs()[:0], many, jobs(user=["ä", "日本", None])):
        encoded = given.with_columns(pl.col("state").cast(pl.Enum(STATES)))
        assert digest(given, allocations()) == naive_digest(given, allocations())
        assert digest(encoded, allocations(0)) == naive_digest(given, allocations(0))


@pytest.mark.parametrize(
    "changed",
    [
        {"user": ["ann", "", "bo"]},
        {"user": ["ann", None, "bob"]},
        {"user": ["bo", None, "ann"]},
        {"user": ["annb", None, "o"]},
        {"name": ["1_a", None, None]},
        {"start": [0.0, 0.0, 2e9]},
        {"start": [None, None, 2e9]},
        {"cores": [1, 3, 3]},
        {"backfilled": [True, None, False]},
        {"backfilled": [True, False, False]},
        {"job_id": [2, 1, 3]},
        {"submit": [0.0, 0.3, 1e9 + 0.123456]},
    ],
)
def test_every_cell_counts(changed):
    assert digest(jobs(**changed), allocations()) != digest(jobs(), allocations())


def test_every_row_and_table_counts():
    found = {digest(jobs()[:rows], allocations(count)) for rows in range(4) for count in range(4)}
    assert len(found) == 16


# Writing and reading


@pytest.mark.parametrize("format", folder.FORMATS)
def test_what_is_written_is_read(tmp_path, format):
    target = folder.write(tmp_path / "deep" / "out", contents(), format=format)
    found = folder.read(target)
    assert found.jobs.equals(jobs())
    assert found.allocations.equals(allocations())
    assert found.series is not None
    assert found.series["value"].to_list() == [1.5]
    assert found.outages is not None
    assert found.outages.equals(outages())
    assert found.resources is not None
    assert found.resources.equals(resources())
    assert found.plans is not None
    assert found.plans.equals(plans())
    assert (found.scenario, found.provenance["version"]) == ("walltime: 1\n", "1")
    names = {"scenario.yaml", "summary.json", "provenance.json"}
    assert set(found.provenance["files"]) == {f"{name}.{format}" for name in folder.TABLES} | {"summary.json"}
    assert {file.name for file in target.iterdir()} == names | {f"{name}.{format}" for name in folder.TABLES}
    assert [entry.name for entry in target.parent.iterdir()] == ["out"]


def test_no_series_no_outages_and_a_workload(tmp_path):
    given = contents()
    given.series = given.outages = None
    given.write_workload = lambda path: path.write_text("jobs")
    folder.write(tmp_path / "out", given)
    found = folder.read(tmp_path / "out")
    assert found.series is None
    assert found.outages is None
    assert (tmp_path / "out" / folder.WORKLOAD).read_text() == "jobs"


def test_an_existing_result_is_replaced_only_by_force(tmp_path):
    target = tmp_path / "out"
    folder.write(target, contents())
    with pytest.raises(InputError, match="--force"):
        folder.write(target, contents(jobs=jobs()[:1]))
    assert folder.read(target).jobs.height == 3
    folder.write(target, contents(jobs=jobs()[:1]), force=True, format="csv")
    assert folder.read(target).jobs.height == 1
    assert not (target / "jobs.parquet").exists()
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_replacing_where_names_cannot_be_exchanged(tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "_exchange", lambda one, other: False)
    folder.write(tmp_path / "out", contents())
    folder.write(tmp_path / "out", contents(jobs=jobs()[:1]), force=True)
    assert folder.read(tmp_path / "out").jobs.height == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_an_empty_folder_is_used(tmp_path):
    (tmp_path / "out").mkdir()
    folder.write(tmp_path / "out", contents())
    assert folder.is_result(tmp_path / "out")


@pytest.mark.parametrize("force", [False, True])
def test_what_is_not_a_result_is_never_replaced(tmp_path, force):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("years of work")
    (tmp_path / "file").write_text("more work")
    for name in ("thesis", "file"):
        with pytest.raises(InputError):
            folder.write(tmp_path / name, contents(), force=force)
    assert (tmp_path / "thesis" / "chapter.tex").read_text() == "years of work"
    assert (tmp_path / "file").read_text() == "more work"
    assert not folder.is_result(tmp_path / "thesis")


def test_a_result_with_a_foreign_file_is_kept(tmp_path):
    folder.write(tmp_path / "out", contents())
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"notes\.txt"):
        folder.write(tmp_path / "out", contents(), force=True)
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(InputError, match="parquet"):
        folder.write(tmp_path / "out", contents(), format="parket")
    assert not list(tmp_path.iterdir())


def test_a_failure_leaves_nothing(tmp_path):
    given = contents()
    given.summary["bad"] = float("nan")
    with pytest.raises(ValueError, match="JSON"):
        folder.write(tmp_path / "out", given)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError):
        folder.write(tmp_path / "file" / "out", contents())


def test_what_dead_processes_left_is_removed(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left, alive = tmp_path / f".out.partial-{dead.pid}", tmp_path / f".out.partial-{os.getppid()}"
    other = tmp_path / f".outer.partial-{dead.pid}"
    for path in (left, alive, other):
        path.mkdir()
    folder.write(tmp_path / "out", contents())
    assert not left.exists()
    assert alive.exists()
    assert other.exists()


def test_a_result_that_was_only_moved_aside_comes_back(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    folder.write(tmp_path / "out", contents())
    os.rename(tmp_path / "out", tmp_path / f".out.replaced-{dead.pid}")
    with pytest.raises(InputError, match="already"):
        folder.write(tmp_path / "out", contents(jobs=jobs()[:1]))
    assert folder.read(tmp_path / "out").jobs.height == 3


def test_a_killed_writer_leaves_nothing_or_everything(tmp_path):
    """Killed while it replaces a result again and again: the result that stands is whole, whenever the blow fell."""
    script = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1])\n"
        "import test_folder as t\n"
        "print('ready', flush=True)\n"
        "while True: t.folder.write(sys.argv[2], t.contents(), force=True)\n"
    )
    target = tmp_path / "out"
    command = [sys.executable, "-c", script, str(Path(__file__).parent), str(target)]
    for delay in (0.0, 0.003, 0.011, 0.027, 0.05):
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        if target.exists():
            assert folder.read(target).jobs.height == 3
        left = [entry.name for entry in tmp_path.iterdir() if entry != target]
        assert all(name.startswith(".out.partial-") for name in left)
    folder.write(target, contents(), force=True)
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    ("file", "text", "match"),
    [
        ("summary.json", None, "missing"),
        ("summary.json", '{"schema": 2, "dig', "JSON"),
        ("summary.json", "[]", "object"),
        ("summary.json", '{"schema": 99, "digest": ""}', "another schema"),
        ("summary.json", '{"digest": ""}', "another schema"),
        ("summary.json", '{"schema": 2, "digest": "0"}', "changed"),
        ("provenance.json", '{"files": [1]}', "mapping"),
        ("provenance.json", '{"files": {"../secret": "0"}}', "no part of a result"),
        ("provenance.json", None, "missing"),
        ("scenario.yaml", None, "missing"),
        ("jobs.parquet", None, "missing"),
        ("jobs.parquet", "PAR1 nonsense", "changed"),
        ("allocations.parquet", "", "changed"),
        ("series.parquet", "PAR1", "changed"),
    ],
)
def test_a_damaged_folder_is_refused_by_name(tmp_path, file, text, match):
    target = folder.write(tmp_path / "out", contents())
    if text is None:
        (target / file).unlink()
    else:
        (target / file).write_text(text)
    with pytest.raises(InputError, match=match) as caught:
        folder.read(target)
    assert "again" in str(caught.value)
    assert caught.value.file is not None
    if match != "belong together":
        assert Path(file).stem in caught.value.file


def forget_checksums(target):
    """The folder as one that was made without them, so that the next check is reached."""
    (target / "provenance.json").write_text("{}")
    return target


@pytest.mark.parametrize("checksums", [True, False])
def test_a_file_cut_short(tmp_path, checksums):
    target = folder.write(tmp_path / "out", contents())
    if not checksums:
        forget_checksums(target)
    whole = (target / "jobs.parquet").read_bytes()
    for part in (10, len(whole) // 2, len(whole) - 1):
        (target / "jobs.parquet").write_bytes(whole[:part])
        with pytest.raises(InputError, match="jobs"):
            folder.read(target)


@pytest.mark.parametrize(
    ("text", "match"),
    [("job_id\n1\n", "column"), ("", "cannot be read"), (None, "cannot be read")],
)
def test_a_csv_with_other_columns(tmp_path, text, match):
    target = forget_checksums(folder.write(tmp_path / "out", contents(), format="csv"))
    good = (target / "jobs.csv").read_text()
    (target / "jobs.csv").write_text(good.replace("1000000000.123456", "soon") if text is None else text)
    with pytest.raises(InputError, match=match):
        folder.read(target)


def test_a_column_of_another_kind(tmp_path):
    target = forget_checksums(folder.write(tmp_path / "out", contents()))
    jobs().with_columns(pl.col("cores").cast(pl.String)).write_parquet(target / "jobs.parquet")
    with pytest.raises(InputError, match="column cores"):
        folder.read(target)


def test_a_changed_cell_is_noticed(tmp_path):
    target = forget_checksums(folder.write(tmp_path / "out", contents()))
    jobs(cores=[1, 2, 4]).write_parquet(target / "jobs.parquet")
    with pytest.raises(InputError, match="digest"):
        folder.read(target)
    assert folder.read(target, verify=False).jobs["cores"].to_list() == [1, 2, 4]


def test_no_folder_at_all(tmp_path):
    with pytest.raises(InputError, match="no such"):
        folder.read(tmp_path / "nothing")
    (tmp_path / "file").write_text(json.dumps({}))
    with pytest.raises(InputError, match="is a file"):
        folder.read(tmp_path / "file")
    (tmp_path / ".out.partial-1").mkdir()
    with pytest.raises(InputError, match="unfinished"):
        folder.read(tmp_path / ".out.partial-1")


def test_a_spreadsheet_runs_nothing_of_a_csv(tmp_path):
    """Names that would be formulas are written as texts, and read back as they were; Parquet has them as they are."""
    names = ["=cmd|'/c calc'!A0", "+1", "-2+3", "@SUM(A1)", "\t=1", "'quoted", "''twice", "plain", "a=b", "", None]
    size = len(names)
    table = pl.DataFrame({"job_id": range(size), "name": names, "user": names}).cast({"user": pl.String})
    missing = [pl.lit(None, dtype=kind).alias(name) for name, kind in JOBS.items() if name not in table.columns]
    table = table.with_columns(missing).select(list(JOBS)).with_columns(pl.lit(-5.0).alias("submit"))
    table = table.with_columns(pl.col("user").replace("", None).cast(pl.Enum([name for name in names if name])))
    for format in ("csv", "parquet"):
        written = folder.write(tmp_path / format, contents(jobs=table), format=format)
        back = folder.read(written).jobs
        assert back["name"].to_list() == names
        assert back["user"].cast(pl.String).to_list() == [name or None for name in names]
        assert back["submit"].to_list() == [-5.0] * size
    cells = pl.read_csv(tmp_path / "csv" / "jobs.csv", infer_schema=False)
    for column in ("name", "user"):
        assert not [cell for cell in cells[column] if cell and cell[0] in "=+-@\t\r\n"]
    assert cells["name"][0] == "'" + names[0]
    assert cells["submit"][0] == "-5.0"  # a number is a number


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_a_file_that_breaks_off_anywhere_is_told_and_leaves_nothing(tmp_path, format):
    """Whichever byte the system refuses, of data or of a footer: its words, and no result."""
    jobs = walltime.Workload.from_columns(submit=range(300), run_time=[5] * 300, cores=[1] * 300)
    result = walltime.simulate(jobs, cores=4)
    longest = max(file.stat().st_size for file in result.save(tmp_path / "whole", format=format).iterdir())
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    for size in range(0, longest, max(1, longest // 60)):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            with pytest.raises(InputError, match="File too large"):
                result.save(tmp_path / "out", format=format)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert [path.name for path in tmp_path.iterdir()] == ["whole"]
