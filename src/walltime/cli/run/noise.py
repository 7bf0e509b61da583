"""`walltime run --shake`: many runs that differ by noise alone, and what they say about the policies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from walltime.analysis.headline import FIGURES, Figure, count_jobs
from walltime.cli.run.plan import Options, make_plan, parse_seconds
from walltime.cli.run.session import prepare_all, simulate_one
from walltime.cli.terminal.console import out, say
from walltime.cli.terminal.progress import show_status
from walltime.cli.terminal.show import show_notes
from walltime.core.errors import InputError

if TYPE_CHECKING:
    from walltime.analysis.noise import Difference

MOST_SEEDS = 10_000


@dataclass
class Shaken:
    """The summaries of every policy, one a seed; summary i of each policy saw the same jobs."""

    title: str
    seconds: float
    summaries: dict[str, list[dict[str, Any]]]

    def show(self) -> None:
        """Print means with their confidence intervals, and a sentence about each difference."""
        first = next(iter(self.summaries.values()))
        say(
            f"{self.title}: {count_jobs(first[0]['jobs'])}, {len(first)} repetitions, every submission moved by up to "
            f"{self.seconds / 2:g} s either way"
        )
        say()
        self._print_table()
        say("mean of the repetitions ± half of the 95 % confidence interval", style="dim")
        say()
        differences = self._differences()
        for difference in differences:
            say(f"{difference.verdict}.")
        if differences:
            say()
        show_notes({name: given[0] for name, given in self.summaries.items()})

    def as_data(self) -> dict[str, Any]:
        """The same for a program."""
        from walltime.analysis.noise import replicate

        return {
            "shake": self.seconds,
            "seeds": len(next(iter(self.summaries.values()))),
            "estimates": replicate(self.summaries).to_dicts(),
            "differences": [
                {
                    "metric": item.metric,
                    "policy": item.policy,
                    "baseline": item.baseline,
                    "mean": item.absolute.mean,
                    "low": item.absolute.low,
                    "high": item.absolute.high,
                    "verdict": item.verdict,
                }
                for item in self._differences()
            ],
        }

    def _differences(self) -> list[Difference]:
        """Each policy against the first; none where no job ever started."""
        from walltime.analysis.noise import differ

        started = all(any(summary["started"] for summary in given) for given in self.summaries.values())
        return differ(self.summaries) if started else []

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
    options: Options, shake: str, seeds: int, window: dict[str, float | None], *, quiet: bool = False
) -> Shaken:
    """Every policy on the same workloads with noise, one for each seed."""
    from walltime.workload.transform import shake as move

    seconds = parse_seconds("--shake", shake)
    if not seconds:
        raise InputError("--shake must be longer than zero", value=shake)
    if not 2 <= seeds <= MOST_SEEDS:
        raise InputError(f"--seeds must be between 2 and {MOST_SEEDS}", value=seeds)
    ready = prepare_all(make_plan(options).scenarios, quiet=quiet)
    summaries: dict[str, list[dict[str, Any]]] = {name: [] for name in ready}
    for repetition in range(seeds):
        with show_status(f"repetition {repetition + 1} of {seeds} ...", quiet=quiet):
            for name, prepared in ready.items():
                moved = prepared.on(move(prepared.workload, seconds, prepared.scenario.seed + repetition))
                summaries[name].append(dict(simulate_one(name, moved, window, quiet=True).summary))
    return Shaken(Path(options.source).name, seconds, summaries)


def _cell(figure: Figure, given: list[dict[str, Any]]) -> str:
    from walltime.analysis.noise import estimate

    values = [float(summary[figure.key]) for summary in given if summary.get(figure.key) is not None]
    if not values:
        return "–"
    found = estimate(values)
    half = 0.0 if found.high is None else found.high - found.mean
    mean, spread = figure.text(found.mean), figure.text(half)
    number, _, unit = mean.rpartition(" ")
    return f"{number if unit and spread.endswith(f' {unit}') else mean} ± {spread}"
