"""The store: every experiment, each of its runs with its state and figures, and the files that are kept.

A store is a folder with an SQLite database, or a PostgreSQL server with a folder for the files.
"""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from walltime.core.errors import InputError
from walltime.experiments.database import Database, find_url
from walltime.experiments.results import Results
from walltime.experiments.schema import (
    STATES,
    WAITING,
    cells,
    experiments,
    figures,
    files,
    levels,
    members,
    runs,
    specifications,
)

if TYPE_CHECKING:
    import polars as pl

    from walltime.experiments.definition import Experiment
    from walltime.experiments.planning import PlannedCell

DEFAULT = "walltime-store"
"""The store's folder where nothing else is said."""
_CHUNK = 500  # rows of one statement


@dataclass(frozen=True)
class Registered:
    """An experiment as the store knows it, and its runs by their state."""

    id: int
    name: str
    file: str | None
    definition: dict[str, Any]
    created: float
    changed: float
    counts: dict[str, int]

    @property
    def runs(self) -> int:
        """How many runs it has."""
        return sum(self.counts.values())


class Store:
    """A store that is open. `place` is a folder or a URL; `results` is where a server's files are."""

    def __init__(self, place: str | Path = DEFAULT, *, results: str | Path | None = None, create: bool = False) -> None:
        url, folder = find_url(place)
        self.place = str(folder) if folder is not None else url.partition("@")[2] or url
        if folder is not None:
            _check_folder(folder, create=create)
        kept = Path(results) if results is not None else (folder or Path(DEFAULT)) / "results"
        self.results = Results(kept)
        self.database = Database(url, self.place, create=create)

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Writing

    def register(self, experiment: Experiment, planned: Iterable[PlannedCell]) -> int:
        """The number of the experiment, its cells and runs as planned; runs that are known already are kept.

        One that is registered already under this name is replaced where it differs; its runs stay. Of all the plans no
        more is held in memory than the numbers of their runs.
        """
        digest = sha256()
        made: list[tuple[int, str, list[int]]] = []
        for chunk in _chunks(planned):
            numbers = self.database.write(functools.partial(self._add_runs, plans=chunk))
            for plan in chunk:
                labels = json.dumps(plan.cell.labels)
                digest.update(f"{labels}{plan.runs}".encode())
                made.append((plan.cell.number, labels, [numbers[own] for _, own in plan.runs]))
        definition = json.dumps(experiment.model_dump(mode="json", exclude_defaults=True), sort_keys=True, default=str)
        now = time.time()
        values = {"definition": definition, "digest": digest.hexdigest(), "file": experiment.file, "changed": now}

        def change(connection: sa.Connection) -> int:
            fresh = self.database.insert(experiments).values(
                name=experiment.name, created=now, **values | {"digest": ""}
            )
            connection.execute(fresh.on_conflict_do_nothing())
            asked = sa.select(experiments.c.id, experiments.c.digest).where(experiments.c.name == experiment.name)
            row = connection.execute(asked.with_for_update()).one()
            if row.digest != values["digest"]:
                connection.execute(experiments.update().where(experiments.c.id == row.id).values(**values))
                _clear(connection, int(row.id))
                self._add_cells(connection, int(row.id), made)
            return int(row.id)

        return self.database.write(change)

    def _add_runs(self, connection: sa.Connection, plans: list[PlannedCell]) -> dict[str, int]:
        """The numbers of the plans' runs by their digests; those that are not there yet wait from now on."""
        insert = self.database.insert
        texts = [{"digest": plan.digest, "text": plan.specification} for plan in plans]
        connection.execute(insert(specifications).on_conflict_do_nothing(), texts)
        known = _numbers(connection, specifications, [plan.digest for plan in plans])
        found: dict[str, int] = {}
        for chunk in _chunks((plan, *run) for plan in plans for run in plan.runs):
            rows = [
                {
                    **{"digest": digest, "specification_id": known[plan.digest], "seed": seed},
                    **{"state": WAITING, "fence": 0, "attempts": 0},
                }
                for plan, seed, digest in chunk
            ]
            connection.execute(insert(runs).on_conflict_do_nothing(), rows)
            found |= _numbers(connection, runs, [row["digest"] for row in rows])
        return found

    def _add_cells(self, connection: sa.Connection, experiment: int, made: list[tuple[int, str, list[int]]]) -> None:
        """Put the cells of an experiment that has none into the tables: (number, labels, runs) of each."""
        insert = self.database.insert
        for chunk in _chunks(made):
            rows = [{"experiment_id": experiment, "number": number, "labels": text} for number, text, _ in chunk]
            connection.execute(insert(cells), rows)
            asked = sa.select(cells.c.number, cells.c.id).where(
                cells.c.experiment_id == experiment, cells.c.number.between(chunk[0][0], chunk[-1][0])
            )
            own = dict(connection.execute(asked).all())
            labels = [
                {"cell_id": own[number], "axis": axis, "label": label}
                for number, text, _ in chunk
                for axis, label in json.loads(text).items()
            ]
            if labels:
                connection.execute(insert(levels), labels)
            joined = [{"cell_id": own[number], "run_id": run} for number, _, mine in chunk for run in mine]
            connection.execute(insert(members).on_conflict_do_nothing(), joined)

    def remove(self, name: str) -> int:
        """Remove an experiment, and those of its runs that no other experiment has; how many runs were removed.

        Raises InputError while a runner works on one of them.
        """
        number = self.find(name).id

        def change(connection: sa.Connection) -> list[str]:
            mine = sa.select(members.c.run_id).join(cells).where(cells.c.experiment_id == number)
            others = sa.select(members.c.run_id).join(cells).where(cells.c.experiment_id != number)
            lonely = sa.and_(runs.c.id.in_(mine), runs.c.id.not_in(others))
            busy = connection.execute(sa.select(sa.func.count()).where(lonely, runs.c.state == "running")).scalar_one()
            if busy:
                raise InputError(f"{busy} of its runs are being run; stop the sweep first", value=name)
            gone = connection.execute(sa.select(runs.c.id, runs.c.digest).where(lonely)).all()
            _clear(connection, number)
            for chunk in _chunks([row.id for row in gone]):
                for table in (figures, files):
                    connection.execute(table.delete().where(table.c.run_id.in_(chunk)))
                connection.execute(runs.delete().where(runs.c.id.in_(chunk)))
            used = sa.select(runs.c.specification_id)
            connection.execute(specifications.delete().where(specifications.c.id.not_in(used)))
            connection.execute(experiments.delete().where(experiments.c.id == number))
            return [row.digest for row in gone]

        digests = self.database.write(change)
        for digest in digests:
            self.results.remove(digest)
        return len(digests)

    # Asking

    def experiments(self) -> list[Registered]:
        """Every experiment, in the order of their making."""

        def ask(connection: sa.Connection) -> list[Registered]:
            joined = sa.select(cells.c.experiment_id, runs.c.state, sa.func.count().label("count"))
            joined = joined.select_from(members.join(cells).join(runs)).group_by(cells.c.experiment_id, runs.c.state)
            counts: dict[int, dict[str, int]] = {}
            for number, state, count in connection.execute(joined):
                counts.setdefault(number, dict.fromkeys(STATES, 0))[state] = count
            return [
                Registered(
                    row.id,
                    row.name,
                    row.file,
                    json.loads(row.definition),
                    row.created,
                    row.changed,
                    counts.get(row.id, dict.fromkeys(STATES, 0)),
                )
                for row in connection.execute(sa.select(experiments).order_by(experiments.c.id))
            ]

        return self.database.read(ask)

    def find(self, name: str) -> Registered:
        """The experiment of a name; raises InputError with the choices."""
        known = {found.name: found for found in self.experiments()}
        if name not in known:
            raise InputError("the store has no experiment of this name", value=name, choices=known)
        return known[name]

    def count(self, experiment: int) -> dict[str, int]:
        """The experiment's runs by state."""
        asked = (
            sa.select(runs.c.state, sa.func.count())
            .select_from(members.join(cells).join(runs))
            .where(cells.c.experiment_id == experiment)
            .group_by(runs.c.state)
        )
        found = dict.fromkeys(STATES, 0)
        return found | dict(self.database.read(lambda c: c.execute(asked).all()))

    def table(self, name: str, where: Mapping[str, str] | None = None) -> pl.DataFrame:
        """A row for each run of an experiment, or of the cells with these labels: `cell`, the labels by axis, `seed`,
        `run`, `state`, `wall`, `cpu`, `memory`, and every figure by its name."""
        from walltime.experiments.tables import read_table

        return read_table(self, name, where or {})

    def run(self, digest: str) -> dict[str, Any]:
        """All that is known of one run, by the beginning of its digest; raises InputError."""
        asked = sa.select(runs, specifications.c.text).join(specifications).where(runs.c.digest.startswith(digest))
        found = self.database.read(lambda c: c.execute(asked.limit(2)).mappings().all())
        if len(found) != 1 or not digest:
            what = "the store has no run with this digest" if not found else "several runs have digests like this"
            raise InputError(what, value=digest)
        kept = sa.select(files.c.name, files.c.size).where(files.c.run_id == found[0]["id"])
        row = dict(found[0])
        row["specification"] = json.loads(row.pop("text"))
        row["files"] = dict(self.database.read(lambda c: c.execute(kept).all()))
        return row


def _check_folder(folder: Path, *, create: bool) -> None:
    """Make the folder of a new store; raises InputError where there is none, or something else."""
    if folder.is_file():
        raise InputError("a store is a folder, but this is a file", file=folder)
    if (folder / "store.sqlite").exists():
        return
    if not create:
        raise InputError("there is no store here; `walltime sweep` makes one", file=folder)
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError("the folder is not empty and no store; choose another", file=folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"no store can be made here ({error.strerror})", file=folder) from None


def _clear(connection: sa.Connection, experiment: int) -> None:
    """Remove an experiment's cells; its runs stay."""
    mine = sa.select(cells.c.id).where(cells.c.experiment_id == experiment)
    for table in (levels, members):
        connection.execute(table.delete().where(table.c.cell_id.in_(mine)))
    connection.execute(cells.delete().where(cells.c.experiment_id == experiment))


def _numbers(connection: sa.Connection, table: sa.Table, digests: list[str]) -> dict[str, int]:
    """The ids of rows by their digests."""
    found: dict[str, int] = {}
    for chunk in _chunks(digests):
        asked = sa.select(table.c.digest, table.c.id).where(table.c.digest.in_(chunk))
        found |= dict(connection.execute(asked).all())
    return found


def _chunks(items: Iterable[Any]) -> Iterable[list[Any]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk
