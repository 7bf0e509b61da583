"""What a job's colour in a schedule means: classes of jobs, and which scale of colours they are shown in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from walltime.analysis.charts.chart import short_names
from walltime.analysis.metrics import SIZES, size_codes
from walltime.core.errors import InputError
from walltime.core.tables import STATES

WAYS = (
    "user",
    "group",
    "account",
    "queue",
    "qos",
    "cluster",
    "size",
    "wait",
    "state",
    "backfilled",
    "workflow",
    "phase",
)
"""What a schedule can be coloured by, where the result has it."""
_OWN = ("size", "wait", "state", "backfilled")
"""Those that every job has."""
MOST = 8
"""Colours that can be told apart; beyond them jobs are grey."""
TONES = 3
"""Tones of that grey."""
_WAITS = {"no wait": 1.0, "< 1 min": 60.0, "< 10 min": 600.0, "< 1 h": 3600.0, "< 6 h": 21_600.0, "< 1 d": 86_400.0}
_LONGEST = "1 d and more"
_SHIFTS = (-86_400.0, -3600.0, -60.0, 60.0, 3600.0, 86_400.0)
SHIFTS = (
    "> 1 d earlier",
    "> 1 h earlier",
    "> 1 min earlier",
    "within a minute",
    "> 1 min later",
    "> 1 h later",
    "> 1 d later",
)


def describe_classes() -> dict[str, Any]:
    """The classes by size, wait and change as plain data, for code that has to find them again: the report's page.

    Sizes and waits are [words, limit]: at least so many cores, less than so many seconds; the last wait has no limit.
    """
    sizes = [[_size_words(name), least] for name, least in SIZES.items()]
    waits = [*([words, below] for words, below in _WAITS.items()), [_LONGEST, None]]
    return {"size": sizes, "wait": waits, "change": {"names": SHIFTS, "edges": _SHIFTS}}


def _size_words(name: str) -> str:
    return f"{name} core{'' if name == '1' else 's'}"


@dataclass(frozen=True)
class Colouring:
    """The class of each job, and the names of the classes. `scale`: "categories", "ordered", "diverging", "states".

    Of "categories" the last class is grey where `grey` says so: codes from there on are its three tones, so that
    neighbours can be told apart.
    """

    by: str
    codes: np.ndarray
    names: tuple[str, ...]
    scale: str = "categories"
    grey: bool = False

    @property
    def classes(self) -> np.ndarray:
        """The number of each job's name."""
        return np.asarray(np.minimum(self.codes, len(self.names) - 1))


def find_ways(jobs: pl.DataFrame) -> list[str]:
    """What these jobs can be coloured by: a label that is there, a cluster if there are two."""
    return [way for way in WAYS if way in _OWN or jobs[way].drop_nulls().n_unique() > (way == "cluster")]


def choose_way(jobs: pl.DataFrame) -> str:
    """What to colour jobs by where the user does not say: the first label that tells them apart, else their size."""
    labels = [way for way in WAYS if way in ("user", "group", "account", "queue", "qos", "cluster")]
    return next((way for way in labels if jobs[way].n_unique() > 1), "size")


def colour_all(tables: Sequence[pl.DataFrame], by: str) -> list[Colouring]:
    """`colour_by` for the jobs of several results, such that a name has the same colour in all of them."""
    if by not in WAYS or by in _OWN:
        return [colour_by(table, by) for table in tables]
    for table in tables:
        _check_label(table, by)
    columns = [pl.col(by).cast(pl.String), "core_seconds"]
    whole = _by_label(pl.concat([table.select(columns) for table in tables]), by)
    ends = np.cumsum([table.height for table in tables])[:-1]
    return [replace(whole, codes=codes) for codes in np.split(whole.codes, ends)]


def colour_by(jobs: pl.DataFrame, by: str) -> Colouring:
    """The classes of jobs (with their `core_seconds`); raises InputError where they do not tell it."""
    if by not in WAYS:
        raise InputError("a schedule cannot be coloured by this", value=by, choices=WAYS)
    if by == "size":
        names = tuple(_size_words(name) for name in SIZES)
        return Colouring(by, size_codes(jobs["cores"].to_numpy()), names, "ordered")
    if by == "wait":
        wait = jobs["wait"].cast(pl.Float64).fill_null(0.0).to_numpy()
        codes = np.searchsorted(list(_WAITS.values()), wait, side="right")
        return Colouring(by, codes, (*_WAITS, _LONGEST), "ordered")
    if by == "state":
        places = {state: number for number, state in enumerate(STATES)}
        return Colouring(by, np.array([places[str(state)] for state in jobs["state"]], np.int64), STATES, "states")
    if by == "backfilled":
        return Colouring(by, jobs["backfilled"].fill_null(False).to_numpy().astype(np.int64), ("in turn", "backfilled"))
    _check_label(jobs, by)
    return _by_label(jobs, by)


def _check_label(jobs: pl.DataFrame, by: str) -> None:
    if not jobs[by].count():
        raise InputError(f"the jobs of this result tell no {by}", value=by, choices=find_ways(jobs))


def _by_label(jobs: pl.DataFrame, by: str) -> Colouring:
    """The heaviest ones in colours, the others, and jobs without such a label, in tones of grey."""
    table = pl.DataFrame({"name": jobs[by].cast(pl.String), "work": jobs["core_seconds"]})
    ranked = table.drop_nulls("name").group_by("name", maintain_order=True).agg(pl.col("work").sum())
    ranked = ranked.sort("work", "name", descending=[True, False], maintain_order=True)
    names: list[str] = ranked["name"].to_list()
    nameless = table["name"].has_nulls()
    shown = len(names) if len(names) + nameless <= MOST else MOST - 1
    place: dict[str | None, int] = {name: number for number, name in enumerate(names[:shown])}
    place |= {name: shown + number % TONES for number, name in enumerate(names[shown:])}
    rest = len(names) - shown
    place[None] = shown + TONES - 1 if rest else shown
    codes = np.array([place[name] for name in table["name"]], np.int64)
    others = [f"all others ({rest:,})"] if rest else []
    grey = [" and ".join([*others, *(["none"] if nameless else [])])] if others or nameless else []
    return Colouring(by, codes, (*short_names(names[:shown], 40), *grey), grey=bool(grey))


def colour_by_shift(jobs: pl.DataFrame, base: pl.DataFrame) -> Colouring:
    """How much earlier or later each job starts than in another result."""
    old = jobs.select("job_id").join(base.select("job_id", "start"), on="job_id", how="left", maintain_order="left")
    shift = (jobs["start"] - old["start"]).fill_null(0.0).to_numpy()
    return Colouring("change", np.searchsorted(_SHIFTS, shift, side="left"), SHIFTS, "diverging")
