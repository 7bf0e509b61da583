"""A site's trace under its own slurm.conf: prepared, simulated, shown; or frozen, with a shell beside it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from walltime.cli.run.plan import choose_targets
from walltime.cli.run.session import RunSession, prepare_all
from walltime.cli.terminal.console import emit, remark, say
from walltime.cli.terminal.progress import show_progress
from walltime.core.errors import EngineError, InputError
from walltime.core.time import format_duration, microseconds

if TYPE_CHECKING:
    import polars as pl

    from walltime.core.tables import Record
    from walltime.pipeline import Prepared
    from walltime.scenario import Scenario
    from walltime.slurm.site import Site


MOST_LINES = 60
AGAIN = 30.0
"""Seconds by which the first release starts earlier when it is run again, to see how much is chance."""
COMPLAINTS = "The controller said at its start:"


def run_site(
    scenario: Scenario,
    source: str,
    output: str | None,
    *,
    label: str | None = None,
    port: int | None = None,
    any_command: bool = False,
    checkpoint: float | None = None,
    force: bool = False,
    format: str = "parquet",
    quiet: bool = False,
) -> RunSession:
    """Simulate, and write the result when it is there; with `checkpoint`, also every so many simulated seconds."""
    from walltime.api import describe_policy
    from walltime.slurm.engine import choose_options

    name = label or describe_policy(scenario)
    targets = choose_targets(output, [name], force=force, format=format)
    if checkpoint is not None and not targets:
        raise InputError("--checkpoint needs --output: the result so far is written there")
    prepared = _prepare(name, scenario, quiet=quiet)
    if not quiet:
        tell_changes(prepared)
    options = choose_options(prepared.scenario, port, any_command)
    if checkpoint is not None:
        keep = _make_keeper(name, targets[name], format)
        options = replace(options, every=microseconds(checkpoint), keep=keep)
    session = RunSession(Path(source).name)
    session.simulate(name, prepared, quiet=quiet, options=options)
    if not quiet:
        facts = session.results[name].record.facts
        _tell(COMPLAINTS, facts["complaints"])
        for one in facts.get("printed", ()):
            say(f"At {format_duration(one['at'])}: {one['command']}")
            say(one["printed"].rstrip("\n"))
    session.save(targets, format=format, force=force or checkpoint is not None)
    return session


def _make_keeper(name: str, target: Path, format: str) -> Callable[[Scenario, Record], None]:
    """Writes what has happened so far as a result, in the place of the one before."""
    from walltime.analysis.metrics import summarise
    from walltime.api import Result

    def keep(scenario: Scenario, record: Record) -> None:
        Result(scenario, record, name, summary=summarise(record)).save(target, format=format, force=True)

    return keep


def compare_releases(
    scenario: Scenario,
    source: str,
    releases: Sequence[str],
    output: str | None,
    *,
    force: bool = False,
    format: str = "parquet",
    quiet: bool = False,
) -> RunSession:
    """The same site and jobs on several releases, the first of them twice: the second time, half a minute earlier.

    Where a controller's beats fall is chance; what the first release differs from itself is no effect of an upgrade.
    """
    from walltime.slurm.packages import find_installation

    assert scenario.slurm is not None
    given = scenario.slurm.model_copy(update={"slurmctld": None})
    plans = {f"Slurm {name}": given.model_copy(update={"release": name}) for name in releases}
    first = given.model_copy(update={"release": releases[0], "lead": given.lead + AGAIN})
    plans[f"Slurm {releases[0]} again"] = first
    for name in releases:
        find_installation(name)
    targets = choose_targets(output, list(plans), force=force, format=format)
    session = RunSession(Path(source).name)
    told: dict[str, list[str]] = {}
    for name, plan in plans.items():
        own = scenario.model_copy(update={"slurm": plan})
        session.results |= run_site(own, source, None, label=name, quiet=True).results
        told[name] = list(dict.fromkeys(map(str, _site_of(own).changes)))
    session.remarks = tuple(_describe_upgrade(session, told))
    session.save(targets, format=format, force=force)
    return session


def diff_sites(files: tuple[str, str], given: Mapping[str, Any], *, as_json: bool) -> None:
    """Print what differs in effect between two configurations."""
    from walltime.core.source import missing_file
    from walltime.scenario.controller import Controller
    from walltime.slurm.conf.difference import compare, find_alike, find_effect
    from walltime.slurm.controller import stop_on_termination

    for file in files:
        if not Path(file).exists():
            raise missing_file(Path(file))
    stop_on_termination()
    first, second = (find_effect(Controller.model_validate({**given, "conf": file})) for file in files)
    found = compare(first, second)
    alike = find_alike(first, second, found)
    if as_json:
        emit({"differences": [asdict(one) for one in found], "same_effect": alike})
        return
    for part, rows in groupby(found, key=lambda one: one.part):
        say(f"{part}:")
        for one in rows:
            say(f"  {one.what}: {one.first} -> {one.second}")
    if not found:
        say("Nothing differs in effect.")
    if alike:
        say(f"Written otherwise, the same in effect: {', '.join(alike)}.")


def _site_of(scenario: Scenario) -> Site:
    from walltime.slurm.translate.site import make_site

    return make_site(scenario, scenario.read_workload())


def _describe_upgrade(session: RunSession, told: Mapping[str, list[str]]) -> Iterator[str]:
    """What an upgrade changes: words of the configuration that are treated otherwise, and starts of jobs."""
    import numpy as np

    (base, first), *others = session.results.items()
    for name, result in others:
        for text in told[name]:
            if text not in told[base]:
                yield f"{name} changes in the configuration, as {base} does not: {text}."
        for text in told[base]:
            if text not in told[name]:
                yield f"{base} changes in the configuration, as {name} does not: {text}."
        pairs = first.jobs.select("job_id", "start").join(result.jobs.select("job_id", "start"), on="job_id")
        apart = (pairs["start"] - pairs["start_right"]).abs().drop_nulls()
        moved = apart.filter(apart > 1)
        if not len(moved):
            yield f"{name}: every job starts as on {base}, within a second."
            continue
        yield (
            f"{name}: {len(moved):,} of {len(apart):,} jobs start at another time than on {base}, "
            f"{format_duration(round(float(np.median(moved.to_numpy()))))} apart in the median."
        )


def _prepare(name: str, scenario: Scenario, *, quiet: bool) -> Prepared:
    """The scenario ready to run; from now on a signal to end stops the controller too."""
    from walltime.slurm.controller import stop_on_termination

    prepared = prepare_all({name: scenario}, quiet=quiet)[name]
    stop_on_termination()
    return prepared


def tell_changes(prepared: Prepared) -> None:
    """What of the configuration does not hold, on standard error: it cannot, or the settings of a run took it away."""
    from walltime.slurm.translate.site import make_site

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
        remark(text)


def enter_shell(
    scenario: Scenario, command: str | None, user: str | None, port: int | None, any_command: bool = False
) -> int:
    """Simulate up to the scenario's `until`, then give a person or a command the frozen controller."""
    from walltime.slurm import engine
    from walltime.slurm.paused import Frozen

    prepared = _prepare("to the instant", scenario, quiet=command is not None)
    scenario, workload = prepared.scenario, prepared.workload
    if command is None:
        tell_changes(prepared)
    began = time.perf_counter()
    with show_progress("to the instant", workload, scenario.until) as bar:
        frozen_run = engine.freeze(
            scenario, workload, bar, engine.choose_options(scenario, port, any_command), stay=True
        )
        with frozen_run as started:
            frozen = Frozen(started, user)
            _tell(COMPLAINTS, started.complaints())
            shell = os.environ.get("SHELL") or "/bin/sh"
            if command is None:
                say(f"Simulated up to {frozen.instant()} in {time.perf_counter() - began:.1f} s. Time stands still.")
                say("squeue, sinfo, sprio, sshare, sdiag, scontrol, sbatch, scancel ask the controller; sacct and")
                say("sacctmgr show are answered by Walltime (there is no slurmdbd); `advance 1h` goes on; `exit`.")
            try:
                return frozen.enter([shell] if command is None else ["/bin/sh", "-c", command])
            finally:
                frozen.close()


def continue_run(
    folder: str, output: str, until: str | None, *, any_command: bool, force: bool, format: str, quiet: bool
) -> RunSession:
    """Replay a result's scenario, go on beyond its `until`, and make sure that the replay came to the same."""
    from walltime.api import load
    from walltime.core.dates import read_moment

    before = load(folder)
    if before.scenario is None or before.scenario.engine != "slurm":
        raise InputError("not a result of the slurm engine", file=folder)
    cut = before.scenario.until
    if cut is None:
        raise InputError("this run came to its end; there is nothing to go on with", file=folder)
    origin = dict(before.record.facts.get("origin") or {})
    clock = origin.get("epoch"), origin.get("timezone")
    end = before.record.facts.get("planned_until") if until is None else read_moment(until, *clock)
    if end is not None and end <= cut:
        raise InputError(f"--until is not after {cut:g} s, where the run was cut off", value=until)
    scenario = before.scenario.model_copy(update={"until": end})
    session = run_site(scenario, folder, None, label=before.label, any_command=any_command, quiet=quiet)
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
