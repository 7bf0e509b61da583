"""From an experiment to what is run: each cell's scenario, checked, as a specification that any worker understands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from walltime.analysis.analyses import find_analysis
from walltime.core.errors import InputError, UnsupportedError
from walltime.core.source import SourceData, read_source
from walltime.experiments.definition import MOST_RUNS, Experiment
from walltime.experiments.grid import POLICY, Cell, Level, Setting
from walltime.experiments.identity import digest_run, digest_specification, files_of
from walltime.pipeline import check
from walltime.scenario import Scenario, parse
from walltime.scenario.reading.files import join_files
from walltime.scenario.reading.loading import from_source, read_data
from walltime.scenario.reading.override import override

_MOST_TRIED = 20  # other levels of an axis, to find out whether it is at fault


@dataclass(frozen=True)
class PlannedCell:
    """A cell ready to be stored: what its runs are made of, and the digest of each seed's run."""

    cell: Cell
    specification: str
    """JSON: the scenario without its seed, the window, what is kept."""
    digest: str
    runs: tuple[tuple[int, str], ...]
    """(seed, digest) of each repetition."""


class ExperimentPlan:
    """The cells of an experiment, and their scenarios. Making one reads the base scenario; nothing is simulated."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self._source = _read_base(experiment)
        self.data = read_data(self._source)

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the repetitions."""
        if self.experiment.seeds is not None:
            return self.experiment.seeds
        first = self.make_scenario(self.cells[0].levels).seed
        return tuple(range(first, first + (self.experiment.repetitions or 1)))

    @cached_property
    def cells(self) -> list[Cell]:
        """The cells; raises InputError where there is none, or far too many."""
        count = 1
        for axis in self.experiment.axes:
            count *= len(axis)
        if count * len(self.experiment.seeds or (0,)) > MOST_RUNS:
            what = f"the grid has {count:,} cells; an experiment has at most {MOST_RUNS:,} runs"
            raise InputError(what, **self.experiment.place(("grid",)))
        found = list(self.experiment.cells())
        if not found:
            raise InputError("exclude leaves no cell of the grid", **self.experiment.place(("exclude",)))
        return found

    @property
    def runs(self) -> int:
        """How many runs the experiment has."""
        return len(self.cells) * len(self.seeds)

    def make_scenario(self, levels: tuple[Level, ...]) -> Scenario:
        """The scenario of a cell; raises InputError for a key or a value that it cannot have."""
        data: dict[str, Any] = self.data
        for key, value in (setting for level in levels for setting in level.settings):
            for inner, part in self._expand(data, (key, value)):
                data = override(data, inner, part)
        return parse(join_files(data, self.experiment.folder, ()))

    def _expand(self, data: dict[str, Any], setting: Setting) -> list[Setting]:
        from walltime.policy.registry import policy_settings

        key, value = setting
        if key == "seed":
            raise InputError("the grid cannot have the key seed: `seeds` or `repetitions` say which are run")
        if key != POLICY:
            return [setting]
        if not isinstance(value, str):
            raise InputError("a policy is given by its name", value=value)
        return policy_settings(data, value)

    def check(self) -> None:
        """Raise InputError, with the line of the level at fault, for a cell that cannot run; nothing is simulated."""
        for number, part in enumerate(self.experiment.analyses):
            try:
                find_analysis(part)
            except InputError as error:
                where = self.experiment.place(("analyses", number))
                raise InputError(error.what, value=error.value, choices=error.choices, **where) from None
        for cell in self.cells:
            self.check_cell(cell)

    def check_cell(self, cell: Cell) -> None:
        """The same for one cell."""
        self._attempt(cell, self._check_cell)

    def check_levels(self) -> None:
        """The same, and read or generate the jobs of some cells, so many that each level is in one of them."""
        for cell in self.representatives():
            self._attempt(cell, self._prepare_cell)

    def representatives(self) -> list[Cell]:
        """A few cells in which every level appears."""
        chosen: list[Cell] = []
        unseen = {(level.axis, level.label) for cell in self.cells for level in cell.levels}
        for cell in self.cells:
            fresh = unseen.intersection((level.axis, level.label) for level in cell.levels)
            if fresh or not chosen:
                chosen.append(cell)
                unseen -= fresh
            if not unseen:
                break
        return chosen

    def _attempt(self, cell: Cell, trial: Callable[[tuple[Level, ...]], None]) -> None:
        try:
            trial(cell.levels)
        except InputError as error:
            raise self._blame(cell, error, trial) from None

    def _check_cell(self, levels: tuple[Level, ...]) -> None:
        scenario = self.make_scenario(levels)
        check(scenario)
        files_of(scenario)

    def _prepare_cell(self, levels: tuple[Level, ...]) -> None:
        from walltime.experiments.execution import prepare_run

        scenario = self.make_scenario(levels)
        prepare_run(self._specify(scenario), self.seeds[0])

    def _blame(self, cell: Cell, error: InputError, trial: Callable[[tuple[Level, ...]], None]) -> InputError:
        """The error with the line of the level that causes it: the one without which, or with another one of whose
        axis, it does not come. An error that comes whatever the levels is the base scenario's."""
        guilty = [level for level in cell.levels if self._is_guilty(cell, level, trial)]
        if not guilty:
            return self._blame_base(cell, error)
        alone = f"{guilty[0].axis}={guilty[0].label}"
        what = f"grid: {alone}" if len(guilty) == 1 else f"grid: the cell {cell} cannot run"
        where = self.experiment.line_of(guilty[-1]) or {"file": error.file, "line": error.line}
        return InputError(f"{what}: {_without_place(error)}", value=error.value, choices=error.choices, **where)

    def _is_guilty(self, cell: Cell, level: Level, trial: Callable[[tuple[Level, ...]], None]) -> bool:
        index = cell.levels.index(level)
        before, after = cell.levels[:index], cell.levels[index + 1 :]
        others: list[tuple[Level, ...]] = [(other,) for other in self.experiment.axes[index] if other != level]
        for instead in [*others[:_MOST_TRIED], ()]:
            try:
                trial((*before, *instead, *after))
            except InputError:
                continue
            return True
        return False

    def _blame_base(self, cell: Cell, error: InputError) -> InputError:
        """The base scenario's own error, with its line, where it is the same; else that of the whole cell."""
        try:
            check(from_source(self._source))
        except InputError as own:
            if own.what == error.what:
                return own
        named = [level for level in cell.levels if any(key in error.what for key, _ in level.settings)]
        where = self.experiment.line_of(named[0]) if named else self.experiment.place(("grid",))
        what = f"grid: the cell {cell} cannot run: " if cell.levels else ""
        value = error.file if error.value is None else error.value
        return InputError(f"{what}{_without_place(error)}", value=value, choices=error.choices, **where)

    def specifications(self) -> Iterator[PlannedCell]:
        """Every cell with the digests of its runs, in order; raises InputError for a cell that cannot run."""
        return (self.plan_cell(cell) for cell in self.cells)

    def plan_cell(self, cell: Cell) -> PlannedCell:
        """One cell with the digests of its runs; raises InputError where it cannot run."""
        scenario = self.make_scenario(cell.levels)
        specification = self._specify(scenario)
        digest = digest_specification(specification, scenario)
        text = json.dumps(specification, sort_keys=True, separators=(",", ":"))
        return PlannedCell(cell, text, digest, find_runs(digest, self.seeds))

    def _specify(self, scenario: Scenario) -> dict[str, Any]:
        written = scenario.short()
        written.pop("seed", None)
        given = self.experiment
        phases = {name: value for name in ("warmup", "window", "drain") if (value := getattr(given, name))}
        analyses = [part.short() for part in given.analyses]
        return {"scenario": written, "phases": phases, "keep": given.keep.short(), "analyses": analyses}


def find_runs(digest: str, seeds: Iterable[int]) -> tuple[tuple[int, str], ...]:
    """(seed, digest) of the runs of a cell with these seeds."""
    return tuple((seed, digest_run(digest, seed)) for seed in seeds)


def _read_base(experiment: Experiment) -> SourceData:
    """The base scenario's data with the lines of the file that has it."""
    if experiment.base is not None:
        path = experiment.folder / experiment.base
        if not path.exists():
            raise InputError("base: no such file", value=experiment.base, **experiment.place(("base",)))
        return read_source(path)
    whole = experiment._source
    lines = {place[1:]: line for place, line in whole.lines.items() if place[:1] == ("scenario",)}
    return SourceData(dict(experiment.scenario or {}), whole.file, lines)


def _without_place(error: InputError) -> str:
    return str(error.problems[0][1]) if isinstance(error, UnsupportedError) and error.problems else error.what
