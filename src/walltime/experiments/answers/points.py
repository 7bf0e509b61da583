"""Points of a search: settings of a scenario, each run with as many seeds as are asked for, in the store.

What is known already is not run again, so a search that is asked once more goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from walltime.core.errors import InputError
from walltime.experiments.answers.sides import Side
from walltime.experiments.definition import parse_experiment
from walltime.experiments.grouping import read_tables
from walltime.experiments.planning import Plan
from walltime.experiments.schema import WAITING

if TYPE_CHECKING:
    import polars as pl

    from walltime.experiments.runner import Progress
    from walltime.experiments.store import Store

PRESENT = "present"
"""The point that changes nothing: the scenario as it is."""
AXIS = "point"


class Points:
    """The points of one search in a store, as an experiment of its own: an axis `point` with a label for each.

    `base` is the scenario's file; `groups` are the keys by which tables of the runs are kept. Seeds are counted from
    the scenario's on.
    """

    def __init__(
        self,
        store: Store,
        name: str,
        base: str | Path,
        *,
        groups: Sequence[str] = (),
        workers: int | None = None,
        show: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        self.store, self.name, self.workers, self.show = store, name, workers, show
        self.base, self.groups = str(Path(base).absolute()), tuple(dict.fromkeys(groups))
        self.settings: dict[str, dict[str, Any]] = {}
        self.counts: dict[str, int] = {}
        self._table: pl.DataFrame | None = None

    def add(self, label: str, settings: Mapping[str, Any], count: int) -> None:
        """Have the point run with at least so many seeds, when `run` is called."""
        self.settings[label] = dict(settings)
        self.counts[label] = max(count, self.counts.get(label, 0))

    def run(self) -> None:
        """Run what is not known yet; raises InputError for a setting that cannot be, and where runs fail."""
        from walltime.experiments.runner import Runner
        from walltime.experiments.sweep import hire

        experiment = parse_experiment(
            {
                **{"name": self.name, "base": self.base, "grid": {AXIS: {"combinations": self.settings}}},
                **{"repetitions": max(self.counts.values()), "keep": {"groups": list(self.groups)}},
            }
        )
        plan = Plan(experiment)
        plan.check()
        planned = [replace(one, runs=one.runs[: self.counts[one.cell.labels[AXIS]]]) for one in plan.specifications()]
        number = self.store.register(experiment, planned)
        if not self.store.count(number)[WAITING]:
            self._table = self.store.table(self.name)
            return
        progress = Runner(self.store, number, hire(experiment, self.workers)).run(self.show)
        if progress.counts["failed"]:
            what = f"{progress.counts['failed']} runs failed; walltime store show {self.name} --failed tells why"
            raise InputError(what, file=self.base)
        self._table = self.store.table(self.name)

    def side(self, label: str, first: int = 0, count: int | None = None) -> Side:
        """The figures of a point's runs by seed; from the `first` one on."""
        rows = self._rows(label)[first : None if count is None else first + count]
        figures = self.table.columns[self.table.columns.index("error") + 1 :]
        return Side(label, {row["seed"]: {key: row[key] for key in figures if row[key] is not None} for row in rows})

    def values(self, label: str, figure: str, group: tuple[str, str] | None = None) -> list[float | None]:
        """One figure of each run, in the order of seeds; of the group (key, name) where one is given."""
        if group is None:
            if figure not in self.table.columns:
                known = self.table.columns[self.table.columns.index("error") + 1 :]
                raise InputError("no run has such a figure", value=figure, choices=known)
            return [row[figure] for row in self._rows(label)]
        return [table.get(group[1], {}).get(figure) for table in self.tables(label, group[0])]

    def tables(self, label: str, key: str) -> list[dict[str, dict[str, Any]]]:
        """The figures of each group in each run, by the group's name."""
        kept = read_tables(self.store, [row["run"] for row in self._rows(label)], f"by_{key}")
        return [{str(one[key]): one for one in table.iter_rows(named=True) if one[key] is not None} for table in kept]

    @property
    def table(self) -> pl.DataFrame:
        """A row for each run."""
        assert self._table is not None, "nothing was run yet"
        return self._table

    def _rows(self, label: str) -> list[dict[str, Any]]:
        return self.table.filter(self.table[AXIS] == label).sort("seed").to_dicts()
