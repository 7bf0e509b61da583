"""`walltime run --shake`: many runs that differ by noise alone, and what they say about the policies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from walltime.analysis.headline import FIGURES, Figure, count_jobs
from walltime.cli.run.forewarning import Repetitions
from walltime.cli.run.plan import ScenarioOptions, make_plan, parse_seconds
from walltime.cli.run.session import prepare_all, simulate_one
from walltime.cli.terminal.console import out, say
from walltime.cli.terminal.progress import show_status
from walltime.cli.terminal.show import show_notes
from walltime.core.errors import InputError

if TYPE_CHECKING:
    from walltime.analysis.verdict import Verdict

MOST_SEEDS = 10_000
METRICS = ("mean_wait", "median_wait", "p95_wait", "mean_bounded_slowdown", "utilization", "utilization_window")
"""The figures that a program is told of."""


@dataclass
class Shaken:
    """The summaries of every policy, one a seed; summary i of each policy saw the same jobs."""

    title: str
    seconds: float
    summaries: dict[str, list[dict[str, Any]]]

    def show(self) -> None:
        """Print means with the range over the repetitions, and a sentence about each difference."""
        first = next(iter(self.summaries.values()))
        say(
            f"{self.title}: {count_jobs(first[0]['jobs'])}, {len(first)} repetitions, every submission moved by up to "
            f"{self.seconds / 2:g} s either way"
        )
        say()
        self._print_table()
        say("mean of the repetitions (lowest to highest): the noise floor, not an interval of other weeks", style="dim")
        say()
        verdicts = self._judge()
        for verdict in verdicts:
            say(f"{verdict.sentence}.")
        if verdicts:
            say()
        show_notes({name: given[0] for name, given in self.summaries.items()})

    def as_data(self) -> dict[str, Any]:
        """The same for a program."""
        rows = [
            {"policy": policy, "metric": metric} | _describe(values)
            for policy, given in self.summaries.items()
            for metric in METRICS
            if (values := _values(given, metric))
        ]
        return {
            "shake": self.seconds,
            "seeds": len(next(iter(self.summaries.values()))),
            "estimates": rows,
            "verdicts": [verdict.as_dict() for verdict in self._judge()],
        }

    def _judge(self) -> list[Verdict]:
        """The mean wait of each policy against the first's; nothing where no job ever started."""
        from walltime.analysis.verdict import SHAKEN, judge_all

        started = all(any(summary["started"] for summary in given) for given in self.summaries.values())
        sides = {name: dict(enumerate(given)) for name, given in self.summaries.items()}
        return judge_all(sides, ["mean_wait"], basis=SHAKEN) if started else []

    def _print_table(self) -> None:
        from rich.table import Table

        table = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False, header_style="bold")
        table.add_column("", no_wrap=True)
        for name in self.summaries:
            table.add_column(name, justify="right", overflow="fold")
        for figure in FIGURES:
            table.add_row(figure.words, *(_cell(figure, given) for given in self.summaries.values()))
        out().print(table)


def run_shaken(
    options: ScenarioOptions, shake: str, seeds: int, window: dict[str, float | None], *, quiet: bool = False
) -> Shaken:
    """Every policy on the same workloads with noise, one for each seed."""
    from walltime.workload.transform import shake as move

    seconds = parse_seconds("--shake", shake)
    if not seconds:
        raise InputError("--shake must be longer than zero", value=shake)
    if not 2 <= seeds <= MOST_SEEDS:
        raise InputError(f"--seeds must be between 2 and {MOST_SEEDS}", value=seeds)
    ready = prepare_all(make_plan(options).scenarios, quiet=quiet)
    warning = (
        None
        if quiet
        else Repetitions(Path(options.source).name, "Fewer --seeds or policies take less, as does --until.")
    )
    summaries: dict[str, list[dict[str, Any]]] = {name: [] for name in ready}
    for repetition in range(seeds):
        with show_status(f"repetition {repetition + 1} of {seeds} ...", quiet=quiet):
            for number, (name, prepared) in enumerate(ready.items(), repetition * len(ready)):
                if warning is not None:
                    warning.count(number, seeds * len(ready))
                moved = prepared.on(move(prepared.workload, seconds, prepared.scenario.seed + repetition))
                summaries[name].append(dict(simulate_one(name, moved, window, quiet=True, observer=warning).summary))
    return Shaken(Path(options.source).name, seconds, summaries)


def _values(given: list[dict[str, Any]], metric: str) -> list[float]:
    return [float(summary[metric]) for summary in given if summary.get(metric) is not None]


def _describe(values: list[float]) -> dict[str, Any]:
    return {
        **{"mean": fmean(values), "deviation": stdev(values) if len(values) > 1 else None},
        **{"lowest": min(values), "highest": max(values), "repetitions": len(values)},
    }


def _cell(figure: Figure, given: list[dict[str, Any]]) -> str:
    values = _values(given, figure.key)
    if not values:
        return "–"
    mean, low, high = (figure.text(value) for value in (fmean(values), min(values), max(values)))
    return mean if low == high else f"{mean} ({low} to {high})"
