"""The sides of a comparison: results, cells of an experiment, whole experiments or scenarios, each with repetitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from walltime.analysis.headline import BRIEF, compare_headlines
from walltime.analysis.repetitions import Summarised, find_repetitions, name_groups
from walltime.analysis.verdict import Verdict, judge_all
from walltime.core.errors import InputError
from walltime.experiments.execution import find_figures
from walltime.experiments.grid import parse_labels

if TYPE_CHECKING:
    from walltime.api import Result
    from walltime.experiments.store import Store


@dataclass(frozen=True)
class Side:
    """One scenario: its name, and the figures of each repetition by its seed; of a store's cells, the runs too.

    `calibration` is what results tell of their site's; of a store's cells `answers/trust.py` finds it.
    """

    label: str
    repetitions: Mapping[Any, Mapping[str, float]]
    runs: Mapping[Any, str] = field(default_factory=dict)
    calibration: Mapping[str, Any] | None = None


def judge(
    *sides: Side | Result | Sequence[Result] | str,
    store: Store | str | Path | None = None,
    metrics: Sequence[str] = BRIEF,
    baseline: str | None = None,
    margins: Mapping[str, float] | None = None,
) -> list[Verdict]:
    """Verdicts on two or more sides, each against the first or the `baseline`, corrected for their number.

    A side is a result, several results that are repetitions, or the text `EXPERIMENT` or `EXPERIMENT:AXIS=LABEL,...`
    for cells of a store. Repetitions are paired by their seeds; two single results of the same jobs week by week.
    `margins` are fractions, by figure, below which a difference does not matter. Raises InputError.
    """
    from walltime.api import Result

    if all(isinstance(side, Result) for side in sides) and len({_seed(side) for side in sides}) == 1:
        if baseline is not None or margins:
            raise InputError("margins and a baseline are for repetitions; single results are compared with the first")
        compared = compare_headlines(list(sides))  # type: ignore[arg-type]
        return [verdict for one in compared for verdict in one.verdicts if verdict.metric in metrics]
    found: list[Side] = []
    for side in sides:
        found += _as_sides(side, store)
    return judge_sides(found, metrics, baseline=baseline, margins=margins)


def judge_sides(
    sides: Sequence[Side],
    metrics: Sequence[str] = BRIEF,
    *,
    baseline: str | None = None,
    margins: Mapping[str, float] | None = None,
) -> list[Verdict]:
    """The verdicts of sides whose names differ; raises InputError where there are fewer than two."""
    named = {side.label: side.repetitions for side in sides}
    if len(named) < max(2, len(sides)):
        raise InputError("a comparison needs two sides with names of their own", value=_names(sides))
    return judge_all(named, metrics, baseline=baseline, margins=margins)


def find_sides(store: Store, text: str) -> list[Side]:
    """The cells that `EXPERIMENT` or `EXPERIMENT:AXIS=LABEL,...` stands for, with their finished runs by seed.

    A cell's name has the chosen labels and those of the axes in which the chosen cells differ. Where there is one only,
    it is the choice or, without one, the experiment's name.
    """
    import polars as pl

    from walltime.experiments.tables import read_table

    name, _, chosen = text.partition(":")
    labels = parse_labels(chosen)
    table = read_table(store, name, labels).filter(pl.col("state") == "done")
    if not table.height:
        raise InputError("no run of these cells is done", value=text)
    axes = table.columns[1 : table.columns.index("run")]
    figures = table.columns[table.columns.index("error") + 1 :]
    several = table["cell"].n_unique() > 1
    telling = [axis for axis in axes if several and (axis in labels or table[axis].n_unique() > 1)]
    found: dict[int, Side] = {}
    for row in table.iter_rows(named=True):
        words = [row[axis] for axis in telling] or [chosen.strip() or name]
        side = found.setdefault(row["cell"], Side(", ".join(map(str, words)), {}, {}))
        values = {figure: row[figure] for figure in figures if row[figure] is not None}
        side.repetitions[row["seed"]] = values  # type: ignore[index]
        side.runs[row["seed"]] = row["run"]  # type: ignore[index]
    return list(found.values())


def find_analysed_sides(store: Store, text: str, analysis: str) -> list[Side]:
    """The same cells with what an analysis found in their runs: what they kept of it, else of their whole results.

    Raises InputError where they kept neither, and where the analysis finds no figures.
    """
    from walltime.analysis.analyses import analyse
    from walltime.api import load
    from walltime.experiments.grouping import find_kept
    from walltime.scenario import Part

    prefix = f"{analysis.rpartition(':')[2]}."
    sides = find_sides(store, text)
    found = [Side(side.label, _strip(side.repetitions, prefix)) for side in sides]
    if any(figures for side in found for figures in side.repetitions.values()):
        return found
    kept = find_kept(store, "result/summary.json")
    if not all(digest in kept for side in sides for digest in side.runs.values()):
        what = f"its runs kept neither what {analysis} finds (`analyses`) nor their whole results (`keep: tables`)"
        raise InputError(what, value=text)
    computed = []
    for side in sides:
        results = {seed: load(store.results.folder_of(digest) / "result") for seed, digest in side.runs.items()}
        numbers = {seed: analyse(result, [Part(name=analysis)]).numbers for seed, result in results.items()}
        computed.append(Side(side.label, _strip(numbers, prefix)))
    if not any(figures for side in computed for figures in side.repetitions.values()):
        raise InputError("the analysis finds a table, and no figures that can be judged", value=analysis)
    return computed


def read_groups(store: Store, side: Side, key: str) -> dict[Any, dict[str, dict[str, Any]]]:
    """By seed, the figures of the groups in each run of a cell: what it kept of them, else those of its whole result.

    Raises InputError where it kept neither.
    """
    from walltime.api import load
    from walltime.experiments.grouping import find_kept, read_tables

    digests = list(side.runs.values())
    kept = find_kept(store, f"by_{key}.parquet")
    if all(digest in kept for digest in digests):
        tables = read_tables(store, digests, f"by_{key}")
    elif find_kept(store, "result/summary.json").issuperset(digests):
        tables = [load(store.results.folder_of(digest) / "result").by(key) for digest in digests]
    else:
        what = f"its runs kept neither groups by {key} (`keep: {{groups: [{key}]}}`) nor whole results (`keep: tables`)"
        raise InputError(what, value=side.label)
    rows = [{str(row[key]): row for row in table.iter_rows(named=True) if row[key] is not None} for table in tables]
    return dict(zip(side.runs, rows, strict=True))


def judge_by(
    store: Store, before: Side, after: Side, key: str
) -> tuple[list[Verdict], tuple[list[dict[str, Any]], list[dict[str, Any]]]]:
    """The mean waits of groups of two cells, paired by seed; and the groups' figures of both, seed by seed."""
    from walltime.experiments.answers.losers import judge_groups

    old, new = read_groups(store, before, key), read_groups(store, after, key)
    seeds = [seed for seed in old if seed in new]
    if not seeds:
        raise InputError("these cells have no seed in common", value=f"{before.label}, {after.label}")
    tables = [old[seed] for seed in seeds], [new[seed] for seed in seeds]
    return judge_groups((before.label, tables[0]), (after.label, tables[1]), key, "mean_wait"), tables


def _names(sides: Sequence[Side]) -> str:
    return ", ".join(side.label for side in sides) or "none"


def _strip(repetitions: Mapping[Any, Mapping[str, float]], prefix: str) -> dict[Any, dict[str, float]]:
    """The figures with this prefix, without it."""
    return {
        seed: {key.removeprefix(prefix): value for key, value in figures.items() if key.startswith(prefix)}
        for seed, figures in repetitions.items()
    }


def group_results(results: Sequence[Summarised], figures: Sequence[Mapping[str, float]] | None = None) -> list[Side]:
    """Results as sides: those that differ in the seed alone are repetitions of one. `figures` are those of each
    result, where not the summary's."""
    groups = find_repetitions(results)
    known = {id(one): found for one, found in zip(results, figures or [], strict=False)}
    return [
        Side(
            name,
            {_seed(one): known.get(id(one)) or find_figures(one.summary) for one in members},
            calibration=(members[0].summary.get("facts") or {}).get("calibration"),
        )
        for name, members in zip(name_groups(groups), groups, strict=True)
    ]


def run_scenario(store: Store, file: str | Path, repetitions: int, workers: int | None = None) -> list[Side]:
    """A scenario's or an experiment's file, run so many times with other seeds (or as the experiment says)."""
    from walltime.core.source import read_source
    from walltime.experiments.definition import load_experiment, parse_experiment
    from walltime.experiments.sweep import sweep

    data = read_source(file).data
    if isinstance(data, dict) and ("base" in data or "scenario" in data):
        experiment = load_experiment(file)
    else:
        path = Path(file).absolute()
        experiment = parse_experiment({"name": path.stem, "base": str(path), "repetitions": repetitions})
    progress = sweep(experiment, store, workers=workers)
    if progress.counts["failed"]:
        raise InputError(f"{progress.counts['failed']} of its runs failed", file=file)
    return find_sides(store, experiment.name)


def _as_sides(side: Side | Result | Sequence[Result] | str, store: Store | str | Path | None) -> list[Side]:
    from walltime.experiments.store import DEFAULT, Store

    if isinstance(side, Side):
        return [side]
    if not isinstance(side, str):
        members: list[Any] = list(side) if isinstance(side, Sequence) else [side]
        return group_results(members)
    if isinstance(store, Store):
        return find_sides(store, side)
    with Store(store or DEFAULT) as opened:
        return find_sides(opened, side)


def _seed(result: Any) -> int:
    return int(getattr(getattr(result, "scenario", None), "seed", 0) or 0)
