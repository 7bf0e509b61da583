"""A site's trace under its own slurm.conf: prepared, simulated, shown; or frozen, with a shell beside it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from walltime.cli.console import err, say
from walltime.cli.plan import choose_targets
from walltime.cli.progress import show_progress
from walltime.cli.session import Session, prepare_all
from walltime.core.errors import EngineError, InputError

if TYPE_CHECKING:
    import polars as pl

    from walltime.pipeline import Prepared
    from walltime.scenario import Scenario


MOST_LINES = 60
COMPLAINTS = "The controller said at its start:"


def run_site(
    scenario: Scenario,
    source: str,
    output: str | None,
    *,
    label: str | None = None,
    port: int | None = None,
    force: bool = False,
    format: str = "parquet",
    quiet: bool = False,
) -> Session:
    """Simulate, and write the result when it is there."""
    from walltime.api import describe_policy
    from walltime.slurm.engine import choose_options

    name = label or describe_policy(scenario)
    targets = choose_targets(output, [name], force=force, format=format)
    prepared = _prepare(name, scenario, quiet=quiet)
    if not quiet:
        tell_changes(prepared)
    session = Session(Path(source).name)
    session.simulate(name, prepared, quiet=quiet, options=choose_options(prepared.scenario, port))
    if not quiet:
        _tell(COMPLAINTS, session.results[name].record.facts["complaints"])
    session.save(targets, format=format, force=force)
    return session


def _prepare(name: str, scenario: Scenario, *, quiet: bool) -> Prepared:
    """The scenario ready to run; from now on a signal to end stops the controller too."""
    from walltime.slurm.controller import stop_on_termination

    prepared = prepare_all({name: scenario}, quiet=quiet)[name]
    stop_on_termination()
    return prepared


def tell_changes(prepared: Prepared) -> None:
    """What of the configuration does not hold, on standard error: it cannot, or the settings of a run took it away."""
    from walltime.slurm.engine import make_site

    scenario = prepared.scenario
    if scenario.slurm is None:
        return
    site, where = make_site(scenario, prepared.workload), scenario.slurm.conf or "the configuration of the scenario"
    _tell(f"Changed in {where}:", map(str, site.changes))
    _tell(f"Noticed in {where}:", site.notes)


def _tell(title: str, lines: Iterable[str]) -> None:
    """Lines below a title, each once; nothing where there are none."""
    told = list(dict.fromkeys(lines))
    if len(told) > MOST_LINES:
        told = [*told[:MOST_LINES], f"... and {len(told) - MOST_LINES} more"]
    for text in [title, *(f"  {line}" for line in told)] if told else []:
        err().print(text, markup=False, soft_wrap=True, highlight=False)


def enter_shell(scenario: Scenario, command: str | None, user: str | None, port: int | None) -> int:
    """Simulate up to the scenario's `until`, then give a person or a command the frozen controller."""
    from walltime.slurm import engine
    from walltime.slurm.frozen import Frozen

    prepared = _prepare("to the instant", scenario, quiet=command is not None)
    scenario, workload = prepared.scenario, prepared.workload
    if command is None:
        tell_changes(prepared)
    began = time.perf_counter()
    with show_progress("to the instant", workload, scenario.until) as bar:
        frozen_run = engine.freeze(scenario, workload, bar, engine.choose_options(scenario, port), stay=True)
        with frozen_run as started:
            frozen = Frozen(started, user)
            _tell(COMPLAINTS, started.complaints())
            shell = os.environ.get("SHELL") or "/bin/sh"
            if command is None:
                say(f"Simulated up to {frozen.instant()} in {time.perf_counter() - began:.1f} s. Time stands still.")
                say(
                    "squeue, sinfo, sprio, sshare, sdiag, scontrol, sbatch, scancel work; `advance 1h` goes on; `exit`."
                )
            try:
                return frozen.enter([shell] if command is None else ["/bin/sh", "-c", command])
            finally:
                frozen.close()


def continue_run(folder: str, output: str, until: str | None, *, force: bool, format: str, quiet: bool) -> Session:
    """Replay a result's scenario, go on beyond its `until`, and make sure that the replay came to the same."""
    from walltime.api import load
    from walltime.cli.plan import parse_seconds

    before = load(folder)
    if before.scenario is None or before.scenario.engine != "slurm":
        raise InputError("not a result of the slurm engine", file=folder)
    cut = before.scenario.until
    if cut is None:
        raise InputError("this run came to its end; there is nothing to go on with", file=folder)
    end = parse_seconds("--until", until)
    if end is not None and end <= cut:
        raise InputError(f"--until is not after {cut:g} s, where the run was cut off", value=until)
    scenario = before.scenario.model_copy(update={"until": end})
    session = run_site(scenario, folder, None, label=before.label, quiet=quiet)
    (name,) = session.results
    _check_replay(before.allocations, session.results[name].allocations, cut)
    session.save(choose_targets(output, [name], force=force, format=format), format=format, force=force)
    return session


def _check_replay(before: pl.DataFrame, after: pl.DataFrame, cut: float) -> None:
    """Whether everything that had begun before the cut has begun at the same time on the same nodes."""
    columns = ["job_id", "attempt", "start", "nodes"]
    old, new = (table.filter(table["start"] < cut).select(columns).sort(columns[:2]) for table in (before, after))
    if not old.equals(new):
        raise EngineError("the replay came to other decisions than the run it goes on with; was the input changed?")
