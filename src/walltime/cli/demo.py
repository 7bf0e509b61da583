"""`walltime demo`: a first comparison of policies, in seconds and without any file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from walltime.cli.terminal.console import emit, say
from walltime.core.errors import InputError

if TYPE_CHECKING:
    from walltime.cli.run.session import RunSession

CORES = 256
LOAD = 0.9
SEED = 1
JOBS = 5_000
POLICIES = ("fcfs", "aggressive", "easy")
MOST_JOBS = 10_000_000
TRACE = "workload.swf"
REPORT = "report.html"


def demo(
    jobs: Annotated[int, typer.Option(metavar="N", help="How many jobs to generate.")] = JOBS,
    output: Annotated[
        str | None, typer.Option(metavar="DIR", help="Keep the workload and the results in this folder.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what an earlier demo left there.")] = False,
    report: Annotated[bool, typer.Option(help="Write a report to look at.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Generate a workload, run three policies on it, compare them, and write a report."""
    from walltime.cli.run.plan import choose_targets
    from walltime.cli.run.session import RunSession, prepare_all
    from walltime.policy.registry import preset
    from walltime.scenario import parse

    if not 1 <= jobs <= MOST_JOBS:
        raise InputError(f"--jobs must be between 1 and {MOST_JOBS:,}", value=jobs)
    targets = choose_targets(output, list(POLICIES), force=force, format="parquet")
    trace = None if output is None else _free_place(Path(output) / TRACE, force)
    page = _free_place(Path(output) / REPORT, force) if report and output is not None else None
    scenarios = {
        name: parse(
            {
                "seed": SEED,
                "workload": {"generate": {"jobs": jobs, "cores": CORES, "load": LOAD}},
                "cluster": {"cores": CORES, "scheduler": preset(name)},
            }
        )
        for name in POLICIES
    }
    ready = prepare_all(scenarios, quiet=True)
    session = RunSession(f"A generated workload, {100 * LOAD:.0f} % load")
    for name, prepared in ready.items():
        session.simulate(name, prepared)
    session.save(targets, force=force)
    if trace is not None:
        from walltime.workload.formats import write

        write(ready[POLICIES[0]].workload, trace)
        session.written["the workload"] = trace
    target = _report(session, page) if report else None
    if as_json:
        emit({**session.as_data(), "report": None if target is None else str(target)})
        return
    session.show()
    if target is not None:
        say()
        say(f"A report to look at, in any browser: {target}", style="bold")
    _suggest(output)


def _free_place(path: Path, force: bool) -> Path:
    if path.exists() and not force:
        raise InputError("this file is already there; choose another --output, or --force", file=path)
    return path


def _report(session: RunSession, page: Path | None) -> Path:
    """Write the report, and tell where: beside the results where they are kept, else into a new temporary folder."""
    import tempfile

    from walltime.analysis.report import write_report
    from walltime.core.folder import remove_empty

    target = page or Path(tempfile.mkdtemp(prefix="walltime-demo-")) / REPORT
    try:
        write_report(list(session.results.values()), target, title=session.title)
    finally:
        if page is None:
            remove_empty([target.parent])
    return target


def _suggest(output: str | None) -> None:
    """Four things to try next, ready to be copied."""
    folder = shlex.quote(output or "demo")
    first = (
        ("walltime demo --output demo", "keep the workload and the results in a folder")
        if output is None
        else (f"walltime audit {folder}/easy", "prove that the schedule is legal")
    )
    tries = (
        first,
        (f"walltime run {folder}/{TRACE} --policy fcfs,easy --cores 288", "what if the machine were an eighth larger?"),
        (f"walltime compare {folder} --by size", "who gains and who loses, small jobs or large ones?"),
        (f"walltime run {folder}/{TRACE} --policy fcfs,easy --shake 1h", "is the difference more than noise?"),
    )
    say()
    say("Try next:", style="bold")
    for command, why in tries:
        say(f"  {command}", style="cyan")
        say(f"      {why}")
