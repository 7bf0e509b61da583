"""The tables of a store. Times are seconds since 1970, for people alone: no decision is made by them.

A run belongs to no experiment: cells of any experiment that ask for the same run share it, by its digest.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

REVISION = "0001"
"""Of the last migration: what this version reads and writes."""

WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"
STATES = (WAITING, RUNNING, DONE, FAILED)
"""Of a run."""
metadata = MetaData()
_Id = BigInteger().with_variant(Integer, "sqlite")


experiments = Table(
    "experiments",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("file", Text),
    Column("definition", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("changed", Float, nullable=False),
)
"""`definition` is the experiment as JSON; `digest` changes with any cell or seed."""

specifications = Table(
    "specifications",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("digest", Text, nullable=False, unique=True),
    Column("text", Text, nullable=False),
)
"""What the runs of a cell have in common, as JSON."""

runs = Table(
    "runs",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("digest", Text, nullable=False, unique=True),
    Column("specification_id", _Id, ForeignKey("specifications.id"), nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("fence", Integer, nullable=False, default=0),
    Column("attempts", Integer, nullable=False, default=0),
    Column("runner_id", _Id),
    Column("result", Text),
    Column("fault", Text),
    Column("error", Text),
    Column("log", Text),
    Column("started", Float),
    Column("finished", Float),
    Column("wall", Float),
    Column("cpu", Float),
    Column("memory", BigInteger),
    Column("host", Text),
    Column("version", Text),
)
"""`fence` counts the leases: only the holder of the latest may say what became of the run. `result` is the digest of
its tables; `wall`, `cpu` (seconds) and `memory` (bytes, at the peak) are of the attempt that ended it."""
Index("runs_waiting", runs.c.id, sqlite_where=text("state = 'waiting'"), postgresql_where=text("state = 'waiting'"))
Index("runs_held", runs.c.runner_id, sqlite_where=text("state = 'running'"), postgresql_where=text("state = 'running'"))
Index("runs_specification", runs.c.specification_id)

cells = Table(
    "cells",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("experiment_id", _Id, ForeignKey("experiments.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("labels", Text, nullable=False),
    UniqueConstraint("experiment_id", "number"),
)
"""`labels` is a JSON object: the label on each axis."""

levels = Table(
    "levels",
    metadata,
    Column("cell_id", _Id, ForeignKey("cells.id"), primary_key=True),
    Column("axis", Text, primary_key=True),
    Column("label", Text, nullable=False),
    sqlite_with_rowid=False,
)
"""The same labels, a row for each axis, to ask for by SQL."""

members = Table(
    "members",
    metadata,
    Column("cell_id", _Id, ForeignKey("cells.id"), primary_key=True),
    Column("run_id", _Id, ForeignKey("runs.id"), primary_key=True),
    sqlite_with_rowid=False,
)
"""Which runs are a cell's repetitions."""
Index("members_run", members.c.run_id)

figures = Table(
    "figures",
    metadata,
    Column("run_id", _Id, ForeignKey("runs.id"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("value", Float, nullable=False),
    sqlite_with_rowid=False,
)

files = Table(
    "files",
    metadata,
    Column("run_id", _Id, ForeignKey("runs.id"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("checksum", Text, nullable=False),
    sqlite_with_rowid=False,
)
"""What is kept of a run on disk; `checksum` is SHA-256."""

runners = Table(
    "runners",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("host", Text, nullable=False),
    Column("process", Text, nullable=False),
    Column("beat", BigInteger, nullable=False),
    Column("started", Float, nullable=False),
    sqlite_autoincrement=True,
)
"""Holders of leases. `process` tells a process from any other of its machine, also after a restart; `beat` is counted
up while it lives. A number is never used twice."""
