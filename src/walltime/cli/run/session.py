"""One trace under several policies: read once, simulated one after the other, shown and written together."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from walltime.analysis.headline import LEGEND, count_jobs
from walltime.cli.run.forewarning import Forewarning, watch_for_long_passes
from walltime.cli.run.plan import ScenarioOptions, choose_targets, make_plan
from walltime.cli.run.standstill import watch_for_standstill
from walltime.cli.terminal.console import say
from walltime.cli.terminal.progress import show_progress, show_status
from walltime.cli.terminal.show import show_comparison, show_notes, show_remarks
from walltime.core.errors import InputError
from walltime.core.time import SECOND

if TYPE_CHECKING:
    from walltime.api import Result
    from walltime.cli.run.watch import Watching
    from walltime.core.workload import Workload
    from walltime.pipeline import Prepared
    from walltime.scenario import Scenario


@dataclass
class RunSession:
    """Results by the name of their policy, and where they were written."""

    title: str
    results: dict[str, Result] = field(default_factory=dict)
    written: dict[str, Path] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def simulate(
        self,
        name: str,
        prepared: Prepared,
        window: dict[str, float | None] | None = None,
        *,
        quiet: bool = False,
        watch: Watching | None = None,
        **options: Any,
    ) -> None:
        """Add the result of one scenario; `options` are its engine's."""
        self.results[name] = simulate_one(name, prepared, window or {}, quiet=quiet, watch=watch, **options)

    def save(self, targets: dict[str, Path], *, format: str = "parquet", force: bool = False) -> None:
        """Write the results; where one cannot be written, those that were not there before are taken away again."""
        from walltime.core.folder import remove_empty

        fresh = [target for target in targets.values() if not target.exists()]
        made = {folder for target in fresh for folder in target.absolute().parents if not folder.exists()}
        try:
            for name, target in targets.items():
                self.results[name].save(target, format=format, force=force)
                self.written[name] = target
        except BaseException:
            for target in fresh:
                shutil.rmtree(target, ignore_errors=True)
            remove_empty(sorted(made, reverse=True))
            raise

    def show(self) -> None:
        """Print the comparison, what one has to know to read it, and where the results are."""
        summaries = {name: result.summary for name, result in self.results.items()}
        first = next(iter(summaries.values()))
        machine = " + ".join(f"{cores:,}" for cores in (first.get("clusters") or {}).values())
        elapsed = sum(result.record.durations.get("wall", 0.0) for result in self.results.values())
        speed = f" ({first['jobs'] * len(summaries) / elapsed:,.0f} jobs/s)" if elapsed > 0 else ""
        say(f"{self.title}: {count_jobs(first['jobs'])} on {machine} cores; simulated in {elapsed:.2f} s{speed}")
        say()
        show_comparison(summaries)
        say()
        for remark in self.remarks:
            say(remark)
        show_remarks(list(self.results.values()))
        show_notes(summaries)
        say(LEGEND, style="dim")
        for name, path in self.written.items():
            say(f"Written: {path}" if len(self.written) == 1 else f"Written: {path} ({name})")

    def as_data(self) -> dict[str, Any]:
        """The same for a program."""
        return {
            "runs": [
                {
                    "policy": name,
                    "summary": result.summary,
                    "output": str(self.written[name]) if name in self.written else None,
                }
                for name, result in self.results.items()
            ]
        }


def run_session(
    options: ScenarioOptions,
    output: str | None,
    window: dict[str, float | None],
    *,
    force: bool = False,
    format: str = "parquet",
    quiet: bool = False,
    watch: Watching | None = None,
) -> RunSession:
    """Simulate what the options ask for; results are written when all of them are there, so that none is left alone."""
    plan = make_plan(options)
    targets = choose_targets(output, list(plan.scenarios), force=force, format=format)
    ready = prepare_all(plan.scenarios, quiet=quiet)
    session = RunSession(plan.title, remarks=plan.remarks + _unused(next(iter(ready.values())).workload))
    for name, prepared in ready.items():
        if prepared.scenario.engine == "slurm" and not quiet:
            from walltime.cli.slurm.site import tell_changes

            tell_changes(prepared)
        session.simulate(name, prepared, window, quiet=quiet, watch=watch)
    session.save(targets, format=format, force=force)
    return session


def _unused(workload: Workload) -> tuple[str, ...]:
    from walltime.workload.describe import describe_unused

    unused = describe_unused(workload.notes.get("unused_properties", {}))
    return (f"Not looked at: properties of nodes that jobs ask for, {unused}.",) if unused else ()


def prepare_all(scenarios: dict[str, Scenario], *, quiet: bool = False) -> dict[str, Prepared]:
    """The scenarios ready to run. They differ in nothing but the policy, so the jobs are read once."""
    from walltime.pipeline import prepare

    ready: dict[str, Prepared] = {}
    workload = None
    for name, scenario in scenarios.items():
        with show_status("reading the workload ...", quiet=quiet or workload is not None):
            ready[name] = prepare(scenario, workload, streamed=True)
        first = ready[name].workload
        workload = first if ready[name].stream is None else None
        begin = float(first.columns["submit"][0]) / SECOND if len(first) else 0.0
        until = ready[name].scenario.until
        if until is not None and until < begin:
            raise InputError(f"until is before the first submission, which is at {begin:g} s", value=until)
    return ready


def simulate_one(
    name: str,
    prepared: Prepared,
    window: dict[str, Any],
    *,
    quiet: bool = False,
    watch: Watching | None = None,
    observer: Any = None,
    **options: Any,
) -> Result:
    """The result of one scenario, with a progress bar on a terminal; with `watch` the state of the system is
    drawn instead, and `quiet` leaves it to the `observer`, if there is one. `options` are the engine's own."""
    from walltime.analysis.metrics import summarise
    from walltime.api import Result

    workload, until = prepared.workload, prepared.scenario.until
    if prepared.stream is not None:  # how much there is to do is not known
        if watch is not None:
            raise InputError("--watch shows how much is done, which record: summary does not know of a trace")
        record = prepared.run(None, **options)
        return Result(prepared.scenario, record, name, summary=summarise(record, **window))
    looking = watch.show(name, workload) if watch is not None else show_progress(name, workload, until, quiet=quiet)
    with looking as bar:
        if quiet or watch is not None:
            record = prepared.run(bar if watch is not None else observer, **options)
        else:
            warning = Forewarning(name, prepared, bar)
            with watch_for_standstill(name, lambda: warning.steps), watch_for_long_passes(warning):
                record = prepared.run(warning, **options)
    return Result(prepared.scenario, record, name, summary=summarise(record, **window))
