"""What a store knows of an experiment, as tables: a row for each run, or means over the repetitions of each cell."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from walltime.core.errors import InputError
from walltime.experiments.schema import DONE, cells, figures, levels, members, runs

if TYPE_CHECKING:
    import polars as pl

    from walltime.experiments.store import Store

OF_RUN = ("seed", "state", "attempts", "wall", "cpu", "memory", "result", "error")


def read_table(store: Store, name: str, where: Mapping[str, str]) -> pl.DataFrame:
    """A row for each run of the cells with these labels; see `Store.table`."""
    import polars as pl

    experiment = store.find(name).id
    chosen = _select_cells(store, experiment, where)
    asked = (
        sa.select(cells.c.number, cells.c.labels, runs.c.id, runs.c.digest, *(runs.c[column] for column in OF_RUN))
        .select_from(members.join(cells).join(runs))
        .where(chosen)
        .order_by(cells.c.number, runs.c.seed)
    )
    values = sa.select(figures.c.run_id, figures.c.name, figures.c.value).where(
        figures.c.run_id.in_(sa.select(members.c.run_id).join(cells).where(chosen))
    )
    rows, numbers = store.database.read(lambda c: (c.execute(asked).all(), c.execute(values).all()))
    labels = pl.DataFrame([json.loads(row.labels) for row in rows]) if rows else pl.DataFrame()
    own = pl.DataFrame(
        {
            "cell": pl.Series([row.number for row in rows], dtype=pl.Int64),
            **{axis: labels[axis] for axis in labels.columns},
            "run": pl.Series([row.digest for row in rows], dtype=pl.String),
            **{column: _series(column, [getattr(row, column) for row in rows]) for column in OF_RUN},
            "run_id": pl.Series([row.id for row in rows], dtype=pl.Int64),
        }
    )
    if not numbers:
        return own.drop("run_id")
    kinds = {"run_id": pl.Int64, "name": pl.String, "value": pl.Float64}
    long = pl.DataFrame([tuple(row) for row in numbers], schema=kinds, orient="row")
    wide = long.pivot("name", index="run_id", values="value")
    clashing = {column: f"{column}_figure" for column in wide.columns if column in own.columns and column != "run_id"}
    return own.join(wide.rename(clashing), on="run_id", how="left", maintain_order="left").drop("run_id")


def read_means(
    store: Store, name: str, keys: Sequence[str], where: Mapping[str, str], most: int
) -> tuple[list[dict[str, Any]], int]:
    """For each cell in order `labels`, `done`, and means of these figures over its finished runs; and how many cells
    there are, of which at most `most` are in the list."""
    experiment = store.find(name).id
    chosen = _select_cells(store, experiment, where)

    def ask(connection: sa.Connection) -> tuple[list[dict[str, Any]], int]:
        count = connection.execute(sa.select(sa.func.count()).select_from(cells).where(chosen)).scalar_one()
        asked = sa.select(cells.c.id, cells.c.labels).where(chosen).order_by(cells.c.number).limit(most)
        found = {row.id: {"labels": json.loads(row.labels), "done": 0} for row in connection.execute(asked)}
        joined = members.join(runs)
        done = sa.select(members.c.cell_id, sa.func.count()).select_from(joined)
        done = done.where(members.c.cell_id.in_(list(found)), runs.c.state == DONE).group_by(members.c.cell_id)
        for cell, number in connection.execute(done):
            found[cell]["done"] = number
        mean = sa.select(members.c.cell_id, figures.c.name, sa.func.avg(figures.c.value))
        mean = mean.select_from(members.join(figures, figures.c.run_id == members.c.run_id))
        mean = mean.where(members.c.cell_id.in_(list(found)), figures.c.name.in_(list(keys)))
        for cell, key, value in connection.execute(mean.group_by(members.c.cell_id, figures.c.name)):
            found[cell][key] = value
        return list(found.values()), int(count)

    return store.database.read(ask)


def _select_cells(store: Store, experiment: int, where: Mapping[str, str]) -> sa.ColumnElement[bool]:
    """The condition on cells; raises InputError for an axis or label that the experiment has not."""
    conditions = [cells.c.experiment_id == experiment]
    for axis, label in where.items():
        mine = sa.select(levels.c.label).join(cells).where(cells.c.experiment_id == experiment, levels.c.axis == axis)
        known = store.database.read(lambda c, mine=mine: c.execute(mine.distinct()).scalars().all())  # type: ignore[misc]
        if not known:
            axes = sa.select(levels.c.axis).join(cells).where(cells.c.experiment_id == experiment).distinct()
            choices = store.database.read(lambda c: c.execute(axes).scalars().all())  # noqa: B023
            raise InputError("the experiment has no such axis", value=axis, choices=sorted(choices))
        if label not in known:
            raise InputError(f"the axis {axis} has no such label", value=label, choices=sorted(known))
        chosen = sa.exists().where(levels.c.cell_id == cells.c.id, levels.c.axis == axis, levels.c.label == label)
        conditions.append(chosen)
    return sa.and_(*conditions)


def _series(name: str, values: list[Any]) -> pl.Series:
    import polars as pl

    kinds: dict[str, Any] = {"wall": pl.Float64, "cpu": pl.Float64}
    kinds |= dict.fromkeys(("seed", "attempts", "memory"), pl.Int64)
    return pl.Series(values, dtype=kinds.get(name, pl.String))
