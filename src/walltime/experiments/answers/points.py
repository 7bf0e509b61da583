"""Points of a search: settings of a scenario, each run with as many seeds as are asked for, in the store.

What is known already is not run again, so a search that is asked once more goes on where it was. A workload that is one
trace has no seeds to vary: its repetitions are its weeks, all of one run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from walltime.analysis.verdict import SEEDS, WEEKS
from walltime.core.errors import InputError
from walltime.experiments.answers.conditions import PRESENT
from walltime.experiments.definition import Experiment, parse_experiment
from walltime.experiments.grouping import read_tables
from walltime.experiments.planning import ExperimentPlan, PlannedCell, find_runs
from walltime.experiments.schema import DONE

if TYPE_CHECKING:
    import polars as pl

    from walltime.experiments.runner import Progress
    from walltime.experiments.store import Store
    from walltime.experiments.tasks import Workers
    from walltime.scenario import Scenario

AXIS = "point"
Groups = dict[str, dict[str, Any]]
"""The figures of the groups of one repetition, by their names."""


class Points:
    """The points of one search in a store, as an experiment of its own: an axis `point` with a label for each.

    `base` is the scenario's file; `groups` are the keys by which tables of the runs are kept. Seeds are counted from
    the scenario's on. The workers stay until `close`, so use it in a `with` statement.
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
        self._planned: dict[str, PlannedCell] = {}
        self._hired: Workers | None = None
        self._table: pl.DataFrame | None = None
        self._rows_of: dict[str, list[dict[str, Any]]] = {}
        self._kept: dict[tuple[str, str], Any] = {}

    def __enter__(self) -> Points:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the workers."""
        if self._hired is not None:
            self._hired.kill()
            self._hired = None

    @cached_property
    def basis(self) -> str:
        """What the repetitions of a point are: runs under other seeds, or weeks of one trace."""
        workload = self._scenario.workload
        return SEEDS if self.closed or (workload.trace is None and workload.table is None) else WEEKS

    @property
    def closed(self) -> bool:
        """Whether users react, so that jobs are others under each setting and seed."""
        users = self._scenario.users
        return users is not None and users.reacts

    @property
    def data(self) -> dict[str, Any]:
        """The scenario as it is, as its file has it."""
        return self._present.data

    @cached_property
    def _scenario(self) -> Scenario:
        return self._present.make_scenario(())

    @cached_property
    def _present(self) -> ExperimentPlan:
        return ExperimentPlan(self._experiment({PRESENT: {}}, 1, weeks=False))

    def add(self, label: str, settings: Mapping[str, Any], count: int) -> None:
        """Have the point run with at least so many seeds, when `run` is called."""
        self.settings[label] = dict(settings)
        self.counts[label] = max(count if self.basis == SEEDS else 1, self.counts.get(label, 0))

    def run(self) -> None:
        """Run what is not known yet; raises InputError for a setting that cannot be, and where runs fail."""
        from walltime.experiments.runner import Runner
        from walltime.experiments.sweep import hire

        experiment = self._experiment(self.settings, max(self.counts.values()), weeks=self.basis == WEEKS)
        number = self.store.register(experiment, self._plan(experiment))
        if any(count for state, count in self.store.count(number).items() if state != DONE):
            if self._hired is None:
                self._hired = hire(experiment, self.workers)
            progress = Runner(self.store, number, self._hired, keep=True).run(self.show)
            if progress.counts["failed"]:
                what = f"{progress.counts['failed']} runs failed; walltime store show {self.name} --failed tells why"
                raise InputError(what, file=self.base)
        self._table = self.store.table(self.name)
        self._rows_of.clear()
        for row in self._table.sort("seed").to_dicts():
            self._rows_of.setdefault(row[AXIS], []).append(row)

    def _experiment(self, settings: Mapping[str, Any], repetitions: int, *, weeks: bool) -> Experiment:
        keep = {"groups": list(self.groups)} | ({"weeks": True} if weeks else {})
        return parse_experiment(
            {
                **{"name": self.name, "base": self.base, "grid": {AXIS: {"combinations": dict(settings)}}},
                **{"repetitions": repetitions, "keep": keep},
            }
        )

    def _plan(self, experiment: Experiment) -> list[PlannedCell]:
        """What is to be run of each point; a point is made and checked once."""
        plan = ExperimentPlan(experiment)
        for cell in plan.cells:
            if cell.labels[AXIS] not in self._planned:
                plan.check_cell(cell)
                self._planned[cell.labels[AXIS]] = plan.plan_cell(cell)
        found = []
        for cell in plan.cells:
            known, count = self._planned[cell.labels[AXIS]], self.counts[cell.labels[AXIS]]
            found.append(replace(known, cell=cell, runs=find_runs(known.digest, plan.seeds[:count])))
        return found

    def values(
        self, label: str, figure: str, group: tuple[str, str] | None = None, first: int = 0, count: int | None = None
    ) -> list[float | None]:
        """One figure of each repetition in order, from the `first` on; of the group (key, name) where one is given."""
        if group is not None:
            return [table.get(group[1], {}).get(figure) for table in self.tables(label, group[0], first, count)]
        rows = self._weeks(label) if self.basis == WEEKS else self._rows_of.get(label, [])
        known = [key for key in self._figures if any(row.get(key) is not None for row in rows)]
        if rows and figure not in known:
            raise InputError("no run has such a figure", value=figure, choices=known)
        return [row.get(figure) for row in rows[first : None if count is None else first + count]]

    def tables(self, label: str, key: str, first: int = 0, count: int | None = None) -> list[Groups]:
        """The figures of each group in each repetition, by the group's name."""
        wanted = (label, key)
        digests = [row["run"] for row in self._rows_of.get(label, [])]
        if self.basis == WEEKS:
            if wanted not in self._kept:
                (table,) = read_tables(self.store, digests, f"weeks_by_{key}")
                self._kept[wanted] = [_by_name(own, key) for own in table.partition_by("week", maintain_order=True)]
            return list(self._kept[wanted][first : None if count is None else first + count])
        known: dict[str, Groups] = self._kept.setdefault(wanted, {})
        missing = [digest for digest in digests if digest not in known]
        if missing:
            kept = read_tables(self.store, missing, f"by_{key}")
            known |= {digest: _by_name(own, key) for digest, own in zip(missing, kept, strict=True)}
        return [known[digest] for digest in digests[first : None if count is None else first + count]]

    def count(self, label: str) -> int:
        """How many repetitions a point has."""
        return len(self._weeks(label)) if self.basis == WEEKS else len(self._rows_of.get(label, []))

    @property
    def table(self) -> pl.DataFrame:
        """A row for each run."""
        assert self._table is not None, "nothing was run yet"
        return self._table

    @property
    def _figures(self) -> list[str]:
        return self.table.columns[self.table.columns.index("error") + 1 :]

    def _weeks(self, label: str) -> list[dict[str, Any]]:
        """The figures of each week of a trace, or of all of one that is shorter."""
        if (label, "") not in self._kept:
            (kept,) = read_tables(self.store, [row["run"] for row in self._rows_of[label]], "weeks")
            rows: dict[int, dict[str, Any]] = {}
            for week, figure, value in kept.iter_rows():
                rows.setdefault(week, {})[figure] = value
            self._kept[label, ""] = list(rows.values())
        return list(self._kept[label, ""])


def _by_name(table: pl.DataFrame, key: str) -> Groups:
    return {str(row[key]): row for row in table.iter_rows(named=True) if row[key] is not None}
