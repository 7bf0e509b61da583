"""Google's cluster trace of 2019: the events of instances, CSV or JSON lines, as BigQuery exports them.

An execution is what lies between the submission of an instance and the event that ends it. It is a job of one node that
runs from its last scheduling to its end. Events tell of shares of the largest machine; `host` says what that has. A
table of collections beside it tells the users. The file is read in blocks, and held is only what has not ended.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.reading import boundary, reader
from walltime.core.time import LATEST
from walltime.core.workload import MISSING, Workload
from walltime.workload.formats.batches import join_columns
from walltime.workload.formats.blocks import Block, read_blocks
from walltime.workload.formats.hosts import ReferenceHost
from walltime.workload.formats.spool import Spool

if TYPE_CHECKING:
    import polars as pl

HOST = ReferenceHost(1000, 1_000_000)
"""What the largest machine has, where nothing is said: cores that are thousandths of it, bytes that are millionths."""
FILES, COLLECTIONS = "instance_events", "collection_events"
NEEDED = ("time", "type", "collection_id", "instance_index")
_CPUS = ("resource_request.cpus", "resource_request_cpus", "cpus")
_MEMORY = ("resource_request.memory", "resource_request_memory", "memory")
_READ = (*NEEDED, "collection_type", "priority", _CPUS[0], _MEMORY[0])
_EVENTS = (
    *("SUBMIT", "QUEUE", "ENABLE", "SCHEDULE", "EVICT", "FAIL", "FINISH", "KILL", "LOST"),
    *("UPDATE_PENDING", "UPDATE_RUNNING"),
)
_SCHEDULE, _EVICT, _LOST = 3, 4, 8
_RANK = np.array([0, 1, 2, 3, 9, 9, 9, 9, 9, 4, 5])
"""The order of events of one instance at one moment."""
_ALLOCS = 1
_ROW = ("submit", "run_time", "cores", "memory", "priority", "user", "recorded_wait", "collection", "index")
_SOLE = 20  # bits of an instance's number in the key of an instance


def is_google(names: set[str]) -> bool:
    """Whether a table with these columns holds the events of instances."""
    return set(NEEDED) <= names


@reader
def read_google(path: str | Path, host: ReferenceHost | None = None, collections: str | Path | None = None) -> Workload:
    """All executions that ended; the events may be in any order."""
    trace = _Trace(path, host, collections, ordered=False)
    parts = list(trace.batches(1 << 30))
    if not parts:
        raise InputError(f"no execution of this trace ended{trace.told()}", file=path)
    return trace.workload(join_columns(parts))


def read_google_batches(
    path: str | Path, rows: int, host: ReferenceHost | None = None, collections: str | Path | None = None
) -> Iterator[Workload]:
    """The same in batches of about so many jobs, in bounded memory; the events have to be in order of time."""
    if rows < 1:
        raise InputError("a batch needs at least one job", value=rows)
    with boundary(path):
        trace = _Trace(path, host, collections, ordered=True)
        for columns in trace.batches(rows):
            yield trace.workload(columns)


class _Trace:
    """The executions of a file, or of the files of a folder; what was left out is counted."""

    def __init__(
        self, path: str | Path, host: ReferenceHost | None, collections: str | Path | None, *, ordered: bool
    ) -> None:
        self.path, self.host, self.ordered = path, host or HOST, ordered
        self.files, beside = find_files(path)
        self.user_of, self.users = read_users(collections or beside)
        self.skipped: Counter[str] = Counter()
        self.events = 0

    def batches(self, rows: int) -> Iterator[dict[str, Any]]:
        """Columns of the workload, in order of submission."""
        spool = Spool(_ROW)
        try:
            for found in self.lives():
                spool.add(found)
            for number, columns in enumerate_rows(spool.batches(rows)):
                yield self.columns(columns, number)
        finally:
            spool.close()

    def lives(self) -> Iterator[dict[str, Any]]:
        """The executions that end, as they do: from block to block only those are kept that go on."""
        kept: dict[str, Any] | None = None
        held: list[dict[str, Any]] = []
        latest = -1
        for block in itertools.chain.from_iterable(read_blocks(file, _READ) for file in self.files):
            events = self.look(block)
            if not len(events["time"]):
                continue
            if not self.ordered:
                held.append(events)
                continue
            if int(events["time"][0]) < latest or bool(np.any(np.diff(events["time"]) < 0)):
                what = "the events are not in order of time, which a stream needs; sort the file, or read it whole"
                raise InputError(what, file=block.path, line=block.line)
            latest = int(events["time"][-1])
            found, kept = self.close(events if kept is None else _join([kept, events]))
            yield found
        if held:
            found, kept = self.close(_join(held))
            yield found
        if kept is not None and len(kept["time"]):
            self.skipped["not ended within the trace"] += int(np.count_nonzero(_changes(kept)))

    def look(self, block: Block) -> dict[str, Any]:
        """The events of a block as numbers, without those of alloc sets and those that have no time."""
        missing = [name for name in NEEDED if name not in block.table.columns]
        if missing:
            raise InputError("the table of instance events has no such column", value=missing[0], file=block.path,
                             line=1, choices=block.table.columns)  # fmt: skip
        self.events += len(block)
        time, kind = block.whole("time"), _types(block)
        collection, index = block.whole("collection_id"), block.whole("instance_index")
        allocs = (block.whole("collection_type") == _ALLOCS).fill_null(False).to_numpy()
        whole = (time.is_not_null() & kind.is_not_null() & collection.is_not_null() & index.is_not_null()).to_numpy()
        real = whole & (time.fill_null(-1).to_numpy() >= 0) & (time.fill_null(-1).to_numpy() <= LATEST)
        self.skipped["event without a time, a type or an instance"] += int(np.count_nonzero(~real))
        submitted = (kind == 0).fill_null(False).to_numpy()
        self.skipped["instance of an alloc set"] += int(np.count_nonzero(real & allocs & submitted))
        rows = np.flatnonzero(real & ~allocs)
        cpus, memory = (block.numbers(_named(block, names)) for names in (_CPUS, _MEMORY))
        for name, asked in (("cpus", cpus), ("memory", memory)):
            if bool(((asked < 0) | (asked > 1e6)).any()):
                row = int(np.argmax(((asked < 0) | (asked > 1e6)).fill_null(False).to_numpy()))
                raise block.wrong(f"a request of {name} out of range", row, asked[row])
        found = {
            "time": time.to_numpy(),
            "kind": kind.to_numpy(),
            "collection": collection.to_numpy(),
            "index": index.to_numpy(),
            "priority": block.whole("priority").fill_null(0).to_numpy(),
            "cpus": cpus.fill_null(float("nan")).to_numpy(),
            "memory": memory.fill_null(float("nan")).to_numpy(),
        }
        return {
            name: values[rows].astype(np.float64 if name in ("cpus", "memory") else np.int64)
            for name, values in found.items()
        }

    def close(self, events: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The executions that have ended, and the events of those that have not."""
        order = np.argsort(events["time"] * 16 + _RANK[events["kind"]], kind="stable")
        order = order[_by_instance(events["collection"][order], events["index"][order])]
        events = _submitted_again({name: values[order] for name, values in events.items()})
        ends = (events["kind"] > _SCHEDULE) & (events["kind"] <= _LOST)
        fresh = _changes(events)
        fresh[1:] |= ends[:-1]
        first = np.flatnonzero(fresh)
        last = np.append(first[1:], len(fresh)) - 1
        over = ends[last]
        scheduled = np.where(events["kind"] == _SCHEDULE, events["time"], -1)
        begun = np.maximum.reduceat(scheduled, first)
        submit, end = events["time"][first], events["time"][last]
        cpus = np.fmax.reduceat(events["cpus"], first)
        reasons = {
            "evicted or lost": np.isin(events["kind"][last], (_EVICT, _LOST)),
            "ended before it was scheduled": begun < 0,
            "request unknown": np.isnan(cpus),
            "run time unknown or zero": (end <= begun) | (begun < submit),
        }
        kept = over.copy()
        for reason, bad in reasons.items():
            self.skipped[reason] += int(np.count_nonzero(kept & bad))
            kept &= ~bad
        rows = first[kept]
        memory = np.fmax.reduceat(events["memory"], first)
        found = {
            "submit": submit[kept],
            "run_time": (end - begun)[kept],
            "cores": self.host.cores_of(cpus[kept]),
            "memory": self.host.memory_of(memory[kept]),
            "priority": events["priority"][rows],
            "user": self.find_users(events["collection"][rows]),
            "recorded_wait": (begun - submit)[kept],
            "collection": events["collection"][rows],
            "index": events["index"][rows],
        }
        life = np.cumsum(fresh) - 1
        open_rows = ~over[life]
        return found, {name: values[open_rows] for name, values in events.items()}

    def find_users(self, collections: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The number of each collection's user; MISSING where the table of collections has none."""
        known, codes = self.user_of
        if not len(known):
            return np.full(len(collections), MISSING)
        index = np.minimum(np.searchsorted(known, collections), len(known) - 1)
        return np.where(known[index] == collections, codes[index], MISSING)

    def columns(self, rows: dict[str, Any], first: int) -> dict[str, Any]:
        """Rows of the spool as columns of a workload, numbered from `first`."""
        import polars as pl

        count = len(rows["submit"])
        names = pl.select(
            pl.concat_str([pl.Series(rows.pop("collection")), pl.Series(rows.pop("index"))], separator="-")
        ).to_series()
        user = rows.pop("user").astype(np.int32)
        if self.users:
            rows["user"] = user
        rows["job_id"] = np.arange(first, first + count, dtype=np.int64)
        rows["nodes"] = np.ones(count, np.int64)
        rows["name"] = names.to_list()
        return rows

    def workload(self, columns: dict[str, Any]) -> Workload:
        skipped = {reason: count for reason, count in self.skipped.items() if count}
        notes = {"lines": self.events, "skipped": skipped, "missing_request": len(columns["submit"])}
        labels = {"user": self.users} if self.users else {}
        return Workload(columns, labels, notes=notes, source=str(self.path))

    def told(self) -> str:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.skipped.items() if count)
        return f" ({reasons})" if reasons else ""


def find_files(path: str | Path) -> tuple[list[Path], Path | None]:
    """The files of events, in order of their names where a folder has several, and the collections beside them."""
    given = Path(path)
    if given.is_dir():
        files = sorted(entry for entry in given.iterdir() if entry.name.startswith(FILES))
        if not files:
            raise InputError(f"this folder has no file whose name begins with {FILES}", file=path)
        beside = sorted(entry for entry in given.iterdir() if entry.name.startswith(COLLECTIONS))
        return files, given if beside else None
    other = given.with_name(given.name.replace(FILES, COLLECTIONS))
    return [given], other if other.name != given.name and other.exists() else None


def read_users(path: str | Path | None) -> tuple[tuple[Any, Any], list[str]]:
    """(Numbers of collections in order, the number of each one's user), and the users' names."""
    import polars as pl

    if path is None:
        return (np.zeros(0, np.int64), np.zeros(0, np.int64)), []
    given = Path(path)
    files = sorted(one for one in given.iterdir() if one.name.startswith(COLLECTIONS)) if given.is_dir() else [given]
    tables = []
    with boundary(path):
        for file in files:
            for block in read_blocks(file, ("collection_id", "user")):
                if "collection_id" not in block.table.columns or "user" not in block.table.columns:
                    raise InputError("a table of collections has collection_id and user", file=file, line=1)
                tables.append(
                    pl.DataFrame({"collection": block.whole("collection_id"), "user": block.texts("user")})
                    .drop_nulls()
                    .unique("collection", keep="first", maintain_order=True)
                )
    if not tables:
        return read_users(None)
    table = pl.concat(tables).unique("collection", keep="first", maintain_order=True).sort("collection")
    names = table["user"].unique(maintain_order=True).to_list()
    numbers = table["user"].replace_strict(names, list(range(len(names))), return_dtype=pl.Int64)
    return (table["collection"].to_numpy(), numbers.to_numpy()), names


def enumerate_rows(batches: Iterator[dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each batch with the number of its first row, from 1."""
    first = 1
    for rows in batches:
        count = len(rows["submit"])
        yield first, rows
        first += count


def _types(block: Block) -> pl.Series:
    """The events' types as numbers, also where the file has their names; raises InputError."""
    import polars as pl

    text = block.texts("type").str.strip_chars()
    number = text.cast(pl.Int64, strict=False)
    if number.null_count() > text.null_count():
        number = (
            text.str.to_uppercase()
            .replace([*_EVENTS, ""], [*(str(index) for index in range(len(_EVENTS))), None])
            .cast(pl.Int64, strict=False)
        )
    bad = (text.is_not_null() & (text != "") & (number.is_null() | (number < 0) | (number >= len(_EVENTS)))).to_numpy()
    if bad.any():
        row = int(np.argmax(bad))
        raise block.wrong(f"no type of events (0 to {len(_EVENTS) - 1})", row, text[row])
    return number


def _named(block: Block, names: tuple[str, ...]) -> str:
    """The first of the names that the block's table has."""
    return next((name for name in names if name in block.table.columns), names[0])


def _join(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _changes(events: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Where another instance begins, in events that are in order of instances."""
    changed = np.ones(len(events["time"]), np.bool_)
    changed[1:] = (np.diff(events["collection"]) != 0) | (np.diff(events["index"]) != 0)
    return changed


def _submitted_again(events: dict[str, Any]) -> dict[str, Any]:
    """The events, in order of instances and times, with submissions at the moment of an end after the end where the
    instance was there before."""
    kind = events["kind"]
    fresh = _changes(events)
    group = np.cumsum(fresh | (np.diff(events["time"], prepend=-1) != 0)) - 1
    count = int(group[-1]) + 1
    ended = np.bincount(group, (kind > _SCHEDULE) & (kind <= _LOST), count) > 0
    submitted = np.bincount(group, kind == 0, count) > 0
    if not np.any(ended & submitted):
        return events
    first = np.bincount(group, fresh, count) > 0
    was_open = np.append(False, (~ended | submitted)[:-1]) & ~first
    later = (was_open & ended & submitted)[group] & (kind < _SCHEDULE)
    order = np.lexsort((_RANK[kind] + 10 * later, group))
    return {name: values[order] for name, values in events.items()}


def _by_instance(collection: np.ndarray[Any, Any], index: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The order by instances; events of one stay in their order."""
    if int(index.max(initial=0)) < 1 << _SOLE and int(collection.max(initial=0)) < 1 << (62 - _SOLE):
        return np.argsort((collection << _SOLE) + index, kind="stable")
    return np.lexsort((index, collection))
