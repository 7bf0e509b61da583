"""Sides with repetitions on the command line: which arguments stand for them, and what they say of each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from walltime.analysis.headline import BRIEF, FIGURES, Figure
from walltime.cli.terminal.console import emit, out, say
from walltime.core.errors import InputError

if TYPE_CHECKING:
    from walltime.analysis.verdict import Verdict
    from walltime.experiments.answers.sides import Side

_HEADLINE = tuple(figure.key for figure in FIGURES)
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
    from walltime.cli.loading import find_results
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
    as_json: bool = False,
) -> None:
    """Print the figures of each side over its repetitions, and the verdicts on those after the first.

    Of the headline only what stands for it is judged, and what has a margin: each comparison more makes all weaker.
    """
    from walltime.experiments.answers.sides import judge_sides

    judged = [key for key in figures if key in BRIEF or key in margins or key not in _HEADLINE]
    verdicts = judge_sides(sides, judged, margins=margins) if len(sides) > 1 else []
    if as_json:
        emit({"sides": [_as_data(side, figures) for side in sides], "verdicts": [one.as_dict() for one in verdicts]})
        return
    _print_table(sides, figures)
    say(NOTE, style="dim")
    say()
    for verdict in verdicts:
        say(f"{verdict.sentence}.", style=_style(verdict))


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
