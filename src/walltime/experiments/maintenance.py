"""The care of a store: is everything there as it was written, a copy of it, and back again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from walltime.core.errors import InputError
from walltime.core.files import check_name, checksum, writing
from walltime.experiments.leases import can_see
from walltime.experiments.schema import DONE, FAILED, RUNNING, STATES, WAITING, figures, files, metadata, runners, runs
from walltime.experiments.store import Store

_CHUNK = 2000


@dataclass(frozen=True)
class Fault:
    """Something in a store that is not as it should be; `run` is the digest of the run that it concerns."""

    what: str
    run: str | None = None

    def __str__(self) -> str:
        return self.what if self.run is None else f"run {self.run[:12]}: {self.what}"


def verify(store: Store, *, repair: bool = False) -> list[Fault]:
    """Every fault of the store; an empty list proves that nothing is lost, damaged or half-written.

    `repair` lets runs with a fault wait again, and removes files that belong to no run.
    """
    found = [*_check_database(store), *_check_runs(store), *_check_files(store)]
    strays = [*_stray_files(store)]
    found += [Fault(f"{path.name} belongs to no run that is done") for path in strays]
    if repair:
        _repair(store, found, strays)
    return found


def _check_database(store: Store) -> Iterator[Fault]:
    if store.database.is_file:
        said = store.database.read(lambda c: c.execute(sa.text("PRAGMA integrity_check(10)")).scalars().all())
        yield from (Fault(f"the database is damaged: {line}") for line in said if line != "ok")
        broken = store.database.read(lambda c: c.execute(sa.text("PRAGMA foreign_key_check")).all())
        yield from (Fault(f"a row of {row[0]} refers to one of {row[2]} that is not there") for row in broken)


def _check_runs(store: Store) -> Iterator[Fault]:
    """States that contradict themselves."""
    asked = sa.select(runs.c.digest, runs.c.state, runs.c.runner_id, runs.c.result, runs.c.fault, runs.c.error)
    has_figures = sa.exists().where(figures.c.run_id == runs.c.id).label("has_figures")
    rows = store.database.read(lambda c: c.execute(asked.add_columns(has_figures)).all())
    held_by = dict(store.database.read(lambda c: c.execute(sa.select(runners.c.id, runners.c.process)).all()))
    for row in rows:
        if row.state not in STATES:
            yield Fault(f"its state is {row.state!r}", row.digest)
        elif row.state == DONE and (row.result is None or not row.has_figures):
            yield Fault("it is done, but has no figures", row.digest)
        elif row.state in (WAITING, RUNNING) and row.has_figures:
            yield Fault(f"it is {row.state}, but has figures", row.digest)
        elif row.state == FAILED and not (row.fault and row.error):
            yield Fault("it has failed, but nothing says why", row.digest)
        elif row.state == RUNNING and row.runner_id not in held_by:
            yield Fault("it is said to be running, but its runner is not known", row.digest)


def find_abandoned(store: Store) -> int:
    """Runs of runners that can be seen to be gone: no fault, the next sweep takes them up."""
    known = store.database.read(lambda c: c.execute(sa.select(runners.c.id, runners.c.process)).all())
    gone = [row.id for row in known if can_see(row.process) is False]
    asked = sa.select(sa.func.count()).where(runs.c.state == RUNNING, runs.c.runner_id.in_(gone))
    return int(store.database.read(lambda c: c.execute(asked).scalar_one()))


def _check_files(store: Store) -> Iterator[Fault]:
    """Files that are missing, or are not what was written."""
    asked = sa.select(runs.c.digest, runs.c.state, files).join(runs, runs.c.id == files.c.run_id)
    for row in store.database.read(lambda c: c.execute(asked).all()):
        path = store.results.folder_of(row.digest) / row.name
        if row.state != DONE:
            yield Fault(f"it is {row.state}, but {row.name} is kept", row.digest)
            continue
        try:
            right = path.stat().st_size == row.size and checksum(path) == row.checksum
        except OSError as error:
            yield Fault(f"{row.name} cannot be read ({error.strerror})", row.digest)
            continue
        except InputError as error:
            yield Fault(f"{row.name}: {error.what}", row.digest)
            continue
        if not right:
            yield Fault(f"{row.name} was changed after it was written", row.digest)


def _stray_files(store: Store) -> Iterator[Path]:
    """What is on disk and in no table; drafts of processes that live are none."""
    asked = sa.select(runs.c.digest).join(files, runs.c.id == files.c.run_id).distinct()
    known = set(store.database.read(lambda c: c.execute(asked).scalars().all()))
    live = store.database.read(lambda c: c.execute(sa.select(runners.c.process)).scalars().all())
    yield from (store.results.folder_of(digest) for digest in store.results.digests() if digest not in known)
    if not any(can_see(process) is not False for process in live):
        yield from store.results.drafts()


def _repair(store: Store, found: list[Fault], strays: list[Path]) -> None:
    wanted = {fault.run for fault in found if fault.run is not None}

    def change(connection: sa.Connection) -> None:
        for digest in wanted:
            number = connection.execute(sa.select(runs.c.id).where(runs.c.digest == digest)).scalar_one()
            for table in (figures, files):
                connection.execute(table.delete().where(table.c.run_id == number))
            fresh: dict[str, Any] = dict.fromkeys(("runner_id", "result", "fault", "error", "log", "finished"))
            fresh |= {"state": WAITING, "fence": runs.c.fence + 1, "attempts": 0}
            connection.execute(runs.update().where(runs.c.id == number).values(**fresh))

    store.database.write(change)
    for digest in wanted:
        store.results.remove(str(digest))
    for path in strays:
        shutil.rmtree(path, ignore_errors=True)


def back_up(store: Store, target: str | Path) -> tuple[Path, list[Fault]]:
    """A copy of the store, of one moment, in a folder that was not there, and its faults: those of the store itself.

    The copy is a store. Raises InputError.
    """
    folder = Path(target)
    check_name(folder)
    if folder.exists():
        raise InputError("this is already there; a backup never replaces anything", file=folder)
    draft = folder.with_name(f".{folder.name}.partial-{os.getpid()}")
    try:
        with writing(folder, "the backup cannot be written"):
            shutil.rmtree(draft, ignore_errors=True)
            with Store(draft, create=True) as copy:
                _copy(store, copy)
                faults = verify(copy)
            os.rename(draft, folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder, faults


def restore(backup: str | Path, store: Store) -> None:
    """Put what a backup holds into a store that has nothing; raises InputError."""
    if store.experiments():
        raise InputError("the store is not empty; restore into a new one", file=store.place)
    with Store(backup) as source, writing(store.place, "the store cannot be written"):
        _copy(source, store)


def _copy(source: Store, target: Store) -> None:
    """Every row and every file. Runs that are being run wait in the copy; their runners are left out."""

    def ask(connection: sa.Connection) -> None:
        if connection.dialect.name == "postgresql":
            connection.execute(sa.text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        for table in metadata.sorted_tables:
            if table is runners:
                continue
            rows = connection.execution_options(yield_per=_CHUNK).execute(sa.select(table)).mappings()
            for chunk in rows.partitions(_CHUNK):
                made = [_at_rest(table, dict(row)) for row in chunk]
                target.database.write(lambda c, made=made, table=table: c.execute(table.insert(), made))  # type: ignore[misc]

    source.database.read(ask)
    if not target.database.is_file:
        target.database.write(_count_on)
    kept = sa.select(runs.c.digest).join(files, runs.c.id == files.c.run_id).distinct()
    for digest in target.database.read(lambda c: c.execute(kept).scalars().all()):
        if source.results.folder_of(digest).is_dir():
            shutil.copytree(source.results.folder_of(digest), target.results.folder_of(digest))


def _at_rest(table: sa.Table, row: dict[str, Any]) -> dict[str, Any]:
    if table is runs and row["state"] == RUNNING:
        row |= {"state": WAITING, "runner_id": None, "attempts": max(0, row["attempts"] - 1)}
    return row


def _count_on(connection: sa.Connection) -> None:
    """Tell a server which numbers are taken."""
    for table in metadata.sorted_tables:
        if "id" in table.c:
            following = f"(SELECT coalesce(max(id), 0) + 1 FROM {table.name})"
            told = f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), {following}, false)"
            connection.execute(sa.text(told))
