"""Sides with repetitions on the command line: which arguments stand for them, and what they say of each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from walltime.analysis.headline import BRIEF, FIGURES, Figure
from walltime.cli.terminal.console import emit, out, say
from walltime.core.errors import InputError
from walltime.core.time import format_duration

if TYPE_CHECKING:
    from walltime.analysis.verdict import Verdict
    from walltime.experiments.answers.sides import Side

_HEADLINE = tuple(figure.key for figure in FIGURES)
QUANTILES = ("median_wait", "p95_wait")
NOTE = (
    "Means ± half of the 95 % interval over the repetitions. A verdict pairs them by seed and is corrected for the "
    "number of comparisons; a replay does not know how users would react."
)


def find_repeated(given: list[str], paths: list[Path], store: str, repetitions: int) -> list[Side]:
    """The sides that the arguments stand for; none where they are results that have no repetitions."""
    from walltime.analysis.repetitions import load_repetitions
    from walltime.experiments.answers.sides import group_results

    if repetitions < 1:
        raise InputError("--repetitions must be at least 1", value=repetitions)
    if all(path.is_dir() for path in paths):
        if len(paths) < 3:
            return []
        sides = group_results(load_repetitions(paths))
        return sides if 1 < len(sides) < len(paths) else []
    if not _is_store(store) and not any(_is_file(name) for name in given):
        return []  # what is wrong is told where results are loaded
    return rename_sides([side for name in given for side in _find(name, store, repetitions)])


def _find(name: str, store: str, repetitions: int) -> list[Side]:
    from walltime.analysis.repetitions import load_repetitions
    from walltime.cli.results.loading import find_results
    from walltime.experiments.answers.sides import find_sides, group_results, run_scenario
    from walltime.experiments.store import Store

    if Path(name).is_dir():
        return group_results(load_repetitions(find_results([name])))
    with Store(store, create=_is_file(name)) as opened:
        return run_scenario(opened, name, repetitions) if _is_file(name) else find_sides(opened, name)


def is_in_store(given: list[str], store: str) -> bool:
    """Whether one of the arguments is an experiment of the store, or cells of one."""
    return _is_store(store) and not all(Path(name).is_dir() for name in given)


def find_analysed(name: str, analysis: str, store: str) -> list[Side]:
    """The cells that the text stands for with the figures that an analysis found in their runs; raises InputError."""
    from walltime.experiments.answers.sides import find_analysed_sides
    from walltime.experiments.store import Store

    if Path(name).is_dir():
        raise InputError("results and experiments cannot be analysed together", value=name)
    with Store(store) as opened:
        return find_analysed_sides(opened, name, analysis)


def find_cautions_of(given: list[str], store: str) -> list[str]:
    """What stands below the comparison of cells of a store, beside the trust in their site: what no user does."""
    from walltime.experiments.answers.cautions import BEHAVIOUR, find_cautions, find_cautions_of_file
    from walltime.experiments.grid import parse_labels
    from walltime.experiments.store import Store

    texts = [name for name in given if not Path(name).is_dir() and not _is_file(name)]
    lines = [line for name in given if _is_file(name) for line in find_cautions_of_file(name)]
    if texts and _is_store(store):
        with Store(store) as opened:
            for name, _, chosen in (text.partition(":") for text in texts):
                lines += find_cautions(opened, name, parse_labels(chosen))
    return [BEHAVIOUR] if BEHAVIOUR in lines else []


@dataclass(frozen=True)
class GroupChange:
    """What a cell means for groups: the verdicts on their mean waits, and the figures of both cells, run by run."""

    key: str
    before: str
    after: str
    verdicts: list[Verdict]
    tables: tuple[list[dict[str, Any]], list[dict[str, Any]]]

    def rows(self) -> list[tuple[str, Verdict, dict[str, list[float | None]]]]:
        """The groups that lose most first: name, verdict, and quantiles of waits before and after, as means of runs."""
        found = []
        for one in sorted(self.verdicts, key=lambda one: -one.difference.mean):
            name = one.metric.rpartition(f" of {self.key} ")[2]
            told = {figure: [_mean(side, name, figure) for side in self.tables] for figure in QUANTILES}
            found.append((name, one, told))
        return found

    def as_data(self) -> dict[str, Any]:
        """The same for JSON."""
        groups = [{self.key: name, "verdict": one.as_dict()} | told for name, one, told in self.rows()]
        return {"key": self.key, "before": self.before, "after": self.after, "groups": groups}


def _mean(tables: list[dict[str, Any]], name: str, figure: str) -> float | None:
    known = [table[name][figure] for table in tables if name in table and table[name][figure] is not None]
    return sum(known) / len(known) if known else None


def judge_groups(sides: Sequence[Side], key: str, store: str) -> list[GroupChange]:
    """The first side against each of the others, group by group; raises InputError where their runs kept no groups."""
    from walltime.experiments.answers.sides import judge_by
    from walltime.experiments.store import Store

    if folders := [side.label for side in sides if not side.runs]:
        raise InputError("--by is for cells of a store or for results, not for both together", value=folders[0])
    first, *others = sides
    with Store(store) as opened:
        return [GroupChange(key, first.label, other.label, *judge_by(opened, first, other, key)) for other in others]


def rename_sides(sides: list[Side]) -> list[Side]:
    """The sides with names of their own: easy, easy (2)."""
    from dataclasses import replace

    taken: dict[str, int] = {}
    made = []
    for side in sides:
        taken[side.label] = count = taken.get(side.label, 0) + 1
        made.append(side if count == 1 else replace(side, label=f"{side.label} ({count})"))
    return made


def _is_file(name: str) -> bool:
    return Path(name).suffix in (".yaml", ".yml")


def _is_store(store: str) -> bool:
    return "://" in store or (Path(store) / "store.sqlite").exists()


def show_repeated(
    sides: Sequence[Side],
    margins: Mapping[str, float],
    *,
    figures: Sequence[str] = _HEADLINE,
    groups: Sequence[GroupChange] = (),
    top: int = 10,
    trust: Mapping[str, Any] | None = None,
    as_json: bool = False,
) -> None:
    """Print the figures of each side over its repetitions, the verdicts on those after the first, and on groups; and
    the `trust` in their site.

    Of the headline only what stands for it is judged, and what has a margin: each comparison more makes all weaker.
    """
    from walltime.analysis.calibration.file import tell_calibration
    from walltime.experiments.answers.sides import judge_sides

    judged = [key for key in figures if key in BRIEF or key in margins or key not in _HEADLINE]
    verdicts = judge_sides(sides, judged, margins=margins) if len(sides) > 1 else []
    if as_json:
        told = {"sides": [_as_data(side, figures) for side in sides], "verdicts": [one.as_dict() for one in verdicts]}
        emit(told | ({"by": [change.as_data() for change in groups]} if groups else {}) | {"trust": trust})
        return
    _print_table(sides, figures)
    say(NOTE, style="dim")
    say()
    for verdict in verdicts:
        say(f"{verdict.sentence}.", style=_style(verdict))
    if (line := tell_calibration({"calibration": trust})) is not None:
        say(line)
    for change in groups:
        say()
        _print_change(change, top)


def _print_change(change: GroupChange, top: int) -> None:
    """The `top` groups at each end: those that lose most first."""
    from rich.table import Table

    from walltime.analysis.headline import SENSITIVITY
    from walltime.analysis.verdict import LESS, MORE

    say(f"Who gains and who loses by {change.key}, {change.after} against {change.before}", style="bold")
    view = Table(box=None, padding=(0, 0, 0, 1), pad_edge=False, header_style="bold")
    view.add_column(change.key, overflow="fold", min_width=4)
    for heading in ("mean wait\nbefore", "\nafter", "\nchange", "median\nafter", "95 %\nbefore", "\nafter"):
        view.add_column(heading, justify="right", no_wrap=True)
    view.add_column("", no_wrap=True, min_width=len("gains"))
    rows = change.rows()
    shown = rows if len(rows) <= 2 * top else rows[:top] + rows[-top:]
    for name, one, told in shown:
        spread = (
            "" if one.difference.high is None else f" ± {format_duration(one.difference.high - one.difference.mean)}"
        )
        moved = f"{'-' if one.difference.mean < 0 else '+'}{format_duration(abs(one.difference.mean))}{spread}"
        median, p95 = told["median_wait"], told["p95_wait"]
        word = {MORE: "loses", LESS: "gains", SENSITIVITY: "not judged"}.get(one.outcome, one.outcome)
        waits = (format_duration(value) for value in (median[1], *p95))
        view.add_row(name, format_duration(one.before), format_duration(one.after), moved, *waits, word)
    out().print(view)
    if len(shown) < len(rows):
        say(f"{len(shown)} of {len(rows):,} (--top, or --json)", style="dim")
    if not rows:
        say(f"No {change.key} has jobs enough in every run.")


def _style(verdict: Verdict) -> str:
    return {True: "green", False: "red", None: ""}[verdict.is_better]


def _values(side: Side, figure: str) -> list[float]:
    return [values[figure] for values in side.repetitions.values() if values.get(figure) is not None]


def _as_data(side: Side, figures: Sequence[str]) -> dict[str, Any]:
    from dataclasses import asdict

    from walltime.analysis.noise import estimate

    known = {figure: values for figure in figures if (values := _values(side, figure))}
    told = {figure: asdict(estimate(values)) for figure, values in known.items()}
    return {"label": side.label, "seeds": list(side.repetitions), "figures": told}


def _print_table(sides: Sequence[Side], figures: Sequence[str]) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False, header_style="bold")
    table.add_column("", no_wrap=True)
    for side in sides:
        table.add_column(f"{side.label}\n({len(side.repetitions):,} seeds)", justify="right", overflow="fold")
    known = {figure.key: figure for figure in FIGURES}
    for key in figures:
        figure = known.get(key, Figure(key, key, lambda value: f"{value:,.4g}", 0))
        if any(_values(side, key) for side in sides):
            table.add_row(figure.words, *(_cell(figure, _values(side, key)) for side in sides))
    out().print(table)


def _cell(figure: Figure, values: list[float]) -> str:
    from walltime.analysis.noise import estimate

    if not values:
        return "–"
    found = estimate(values)
    if found.high is None:
        return figure.text(found.mean)
    mean, spread = figure.text(found.mean), figure.text(found.high - found.mean)
    number, _, unit = mean.rpartition(" ")
    return f"{number if unit and spread.endswith(f' {unit}') else mean} ± {spread}"
