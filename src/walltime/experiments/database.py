"""The database of a store: SQLite in a file, or a PostgreSQL server by its URL; opened, migrated, and asked.

A transaction is a function of a connection. On a server that goes away it is tried again until the server is back: so
it must mean the same when it is done twice, which fencing numbers see to.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import exc

from walltime.core.errors import InputError
from walltime.experiments.schema import REVISION

BUSY = 60.0
"""Seconds that a writer waits for another one of the same file."""
PATIENCE = 600.0
"""Seconds that a server may be away."""
_PAUSES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)

T = TypeVar("T")


class Database:
    """Transactions on one database. `name` is what messages call it."""

    def __init__(self, url: str, name: str, *, create: bool) -> None:
        self.url = url
        self.name = name
        self.is_file = url.startswith("sqlite")
        self._engine = _make_engine(url)
        self._writer = self._engine.execution_options(write=True)
        self._patience = 0.0  # a wrong address is told at once
        self._migrate(create)
        self._patience = PATIENCE

    def read(self, question: Callable[[sa.Connection], T]) -> T:
        """The answer to a question, asked in one transaction: it sees one state of the store."""
        return self._transact(self._engine, question)

    def write(self, change: Callable[[sa.Connection], T]) -> T:
        """What a change gives, made whole or not at all, while no other writer changes the same."""
        return self._transact(self._writer, change)

    def insert(self, table: sa.Table) -> Any:
        """An INSERT for which `on_conflict_do_nothing` and the like exist."""
        if self.is_file:
            from sqlalchemy.dialects import sqlite

            return sqlite.insert(table)
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table)

    def close(self) -> None:
        """Give back the connections."""
        self._engine.dispose()

    def _transact(self, engine: sa.Engine, function: Callable[[sa.Connection], T]) -> T:
        given_up = time.monotonic() + self._patience
        for attempt in range(1_000_000):
            try:
                with engine.begin() as connection:
                    return function(connection)
            except exc.DBAPIError as error:
                if self.is_file or not _is_away(error) or time.monotonic() > given_up:
                    raise self._explain(error) from error
                time.sleep(_PAUSES[min(attempt, len(_PAUSES) - 1)])
        raise AssertionError("unreachable")

    def _explain(self, error: exc.DBAPIError) -> Exception:
        """What the database said, in our words; an error of ours comes through as it is."""
        said = str(error.orig).strip().splitlines()[0] if error.orig is not None else str(error)
        if not isinstance(error, exc.OperationalError | exc.InterfaceError | exc.DatabaseError) or isinstance(
            error, exc.IntegrityError | exc.ProgrammingError
        ):
            return error
        if "locked" in said:
            return InputError("the store is busy: another process has been writing to it for too long", file=self.name)
        if "full" in said or "disk I/O" in said:
            return InputError("the store cannot be written: its disk is full", file=self.name)
        if not self.is_file and _is_away(error):
            return InputError(f"the server of the store cannot be reached ({said})", value=self.name)
        if "malformed" in said or "not a database" in said:
            return InputError("this is not a store, or it is damaged; restore a backup", file=self.name)
        return InputError(f"the store cannot be used ({said})", file=self.name)

    def _migrate(self, create: bool) -> None:
        """Bring the tables up to this version's; raises InputError for a store of a later one."""
        found = self.read(_find_revision)
        if found == REVISION:
            return
        if found is None and not create:
            raise InputError("there is no store here", file=self.name)
        self.write(_upgrade)


def _make_engine(url: str) -> sa.Engine:
    if not url.startswith("sqlite"):
        try:
            return sa.create_engine(url, pool_pre_ping=True, isolation_level="READ COMMITTED")
        except ModuleNotFoundError as error:
            what = "a store in PostgreSQL needs psycopg: pip install 'walltime[postgres]'"
            raise InputError(what, value=error.name) from None
        except exc.ArgumentError as error:
            raise InputError(f"not the URL of a store ({error})", value=url) from None
    engine = sa.create_engine(url, connect_args={"timeout": BUSY, "check_same_thread": False})

    def connected(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # SQLAlchemy begins and ends transactions, not the driver
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "cache_size=-65536"):
            connection.execute(f"PRAGMA {pragma}")

    def begun(connection: sa.Connection) -> None:
        kind = " IMMEDIATE" if connection.get_execution_options().get("write") else ""
        connection.exec_driver_sql(f"BEGIN{kind}")

    sa.event.listen(engine, "connect", connected)
    sa.event.listen(engine, "begin", begun)
    return engine


def find_url(place: str | Path) -> tuple[str, Path | None]:
    """The database's URL and the store's folder (None for a server) of what `--store` says; raises InputError."""
    text = str(place)
    if "://" not in text:
        folder = Path(text)
        return f"sqlite:///{folder / 'store.sqlite'}", folder
    scheme, _, rest = text.partition("://")
    if scheme not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise InputError("a store is a folder, or the URL of a PostgreSQL server", value=f"{scheme}://…")
    return f"postgresql+psycopg://{rest}", None


def _find_revision(connection: sa.Connection) -> str | None:
    """The last migration that was done; None in an empty database."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


def _upgrade(connection: sa.Connection) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    if connection.dialect.name == "postgresql":  # two at once would both make the tables
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(871004210)"))
    if _find_revision(connection) == REVISION:  # another was faster
        return
    config = Config()
    config.set_main_option("script_location", os.path.join(os.path.dirname(__file__), "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError:
        raise InputError("the store was made by a later version of Walltime; use that one") from None


def _is_away(error: exc.DBAPIError) -> bool:
    """Whether the server cannot be reached now, and not that the statement is wrong."""
    return bool(error.connection_invalidated) or isinstance(error, exc.OperationalError | exc.InterfaceError)
