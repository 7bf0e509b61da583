"""`walltime predict`: when would one more job start?"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

from walltime.cli.plugins import Plugins
from walltime.cli.terminal.console import emit, say

BINS = 10
WIDTH = 40


def predict(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="A scenario with the key `start`.")],
    cores: Annotated[int, typer.Option(metavar="N", min=1, help="The job's cores.")],
    time: Annotated[str, typer.Option(metavar="T", help="The time it asks for: 90s, 1.5h, 1-12:00:00.")],
    nodes: Annotated[int | None, typer.Option(metavar="N", min=1, help="On so many nodes.")] = None,
    user: Annotated[str | None, typer.Option(metavar="NAME", help="Whose it is.")] = None,
    account: Annotated[str | None, typer.Option(metavar="NAME", help="Who pays.")] = None,
    queue: Annotated[str | None, typer.Option(metavar="NAME", help="Where it waits.")] = None,
    qos: Annotated[str | None, typer.Option(metavar="NAME", help="Its quality of service.")] = None,
    gpus: Annotated[int | None, typer.Option(metavar="N", min=1, help="Its GPUs, in all.")] = None,
    gpus_per_node: Annotated[int | None, typer.Option(metavar="N", min=1, help="GPUs on each of its nodes.")] = None,
    memory: Annotated[str | None, typer.Option(metavar="SIZE", help="Its memory in all: 64G, 1.5T.")] = None,
    constraint: Annotated[str | None, typer.Option(metavar="TEXT", help="Properties of its nodes: ib&fast.")] = None,
    runs: Annotated[int, typer.Option(metavar="N", min=1, help="How many simulations.")] = 100,
    seed: Annotated[str | None, typer.Option(metavar="N", help="Of the draws; by default the scenario's.")] = None,
    horizon: Annotated[str, typer.Option(metavar="T", help="How far each simulation goes.")] = "7d",
    arrivals: Annotated[
        bool, typer.Option("--arrivals/--no-arrivals", help="Whether other jobs come after it.")
    ] = True,
    interval: Annotated[
        bool, typer.Option("--interval/--no-interval", help="Whether the log is replayed for an interval.")
    ] = True,
    replay: Annotated[
        int | None,
        typer.Option("--replay", metavar="N", min=1, help="How many of its newest jobs; by default 8,000."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    picture: Annotated[
        str | None, typer.Option("--picture", metavar="FILE", help="Draw the distribution.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing picture.")] = False,
    plugins: Plugins = None,
) -> None:
    """Tell when one more job would start if it were submitted at the scenario's `start`, as a distribution.

    Every run draws how long the jobs that run and wait will really take, from the accuracy of requests in the
    scenario's workload, and which jobs will come, as a stretch of it. A replay of the workload's newest jobs tells how
    wrong plans of such jobs were, for an interval.
    """
    from walltime.analysis.calibration.file import find_trust, tell_calibration
    from walltime.analysis.plots import check_picture
    from walltime.cli.run.forewarning import Forewarning, Repetitions
    from walltime.core.random import read_seed
    from walltime.prediction import predict as predict_start

    if picture is not None:
        check_picture(picture, force=force)
    job = {"cores": cores, "time": time, "nodes": nodes, "user": user, "account": account, "queue": queue}
    job |= {"qos": qos, "gpus": gpus, "gpus_per_node": gpus_per_node, "memory": memory, "constraint": constraint}
    number = None if seed is None else read_seed(seed)
    how: dict[str, Any] = {"runs": runs, "seed": number, "horizon": horizon, "arrivals": arrivals, "interval": interval}
    how |= {} if replay is None else {"replay": replay}
    if not as_json:
        how["observe"] = Repetitions("predict", "Fewer --runs or a shorter --horizon take less.")
        how["observe_replay"] = partial(Forewarning, "predict, the replay of the log", explain=_explain_replay)
    told = predict_start(scenario, **job, **how)  # type: ignore[arg-type]
    if as_json:
        emit(told.as_data())
    else:
        _show(told)
        if (line := tell_calibration({"calibration": find_trust(scenario)})) is not None:
            say(f"\n{line}")
    if picture is not None:
        path = told.picture().save(picture, force=force)
        if not as_json:
            say(f"\nPicture: {path}")


def _explain_replay(prepared: Any, left: float | None, waiting: int) -> list[str]:
    jobs = len(prepared.workload)
    return [
        f"The newest {jobs:,} jobs of the log are simulated, to learn how wrong plans of such jobs were; {waiting:,} "
        "wait.",
        "--no-interval leaves that out; a smaller --replay takes less.",
    ]


def _show(told: Any) -> None:
    from walltime.core.time import format_duration

    base = told.based_on
    say(
        f"{told.runs} runs from {base['running']:,} running and {base['waiting']:,} waiting jobs; run times from "
        f"{base['accuracies']:,} accuracies, jobs to come: {base['arrivals']}; seed {told.seed}"
    )
    for reason, count in base["left_out"].items():
        say(f"  left out of the snapshot: {count:,} jobs ({reason})")
    if base["submission_unknown"]:
        say(f"  submission not told: {base['submission_unknown']:,} jobs; they count from their start, or from now")
    if told.started < told.runs:
        late = told.runs - told.started
        say(f"  in {late} runs it had not started after {format_duration(told.horizon)}")
    say("\nWait until its start")
    for share in (0.05, 0.25, 0.5, 0.75, 0.95):
        wait = told.quantile(share)
        shown = f"more than {format_duration(told.horizon)}" if wait is None else _when(told, wait)
        say(f"  {share:>4.0%} of the runs: at most {shown}")
    _show_histogram([wait for wait in told.waits if wait is not None])
    if told.interval is not None:
        say(f"\nBy the requests of the jobs before it, it starts after {_when(told, told.interval.planned)}.")
        _show_interval(told.interval)


def _when(told: Any, wait: float) -> str:
    """A wait, and the date at its end where dates are known."""
    from walltime.core.time import format_duration

    return format_duration(wait) + ("" if (date := told.date(wait)) is None else f" ({date})")


def _show_interval(told: Any) -> None:
    from walltime.core.time import format_duration

    if told.least is None:
        say("  Too few jobs of the log were planned to wait about as long: no interval.")
    else:
        low, high = format_duration(told.least), format_duration(told.most)
        say(f"  {told.share:.0%} interval, from {told.past:,} jobs of the log planned so: after {low} to {high}")
    if told.coverage is not None:
        where = f"{len(told.weeks)} weeks" if len(told.weeks) > 1 else "a part"
        say(
            f"  Of {told.judged:,} jobs in {where} of the log not learned from, {told.coverage:.0%} were in theirs; "
            f"these were {format_duration(told.width)} wide on average."
        )
    if told.replayed < told.logged:
        say(f"  All this from a replay of the newest {told.replayed:,} of {told.logged:,} jobs of the log (--replay).")


def _show_histogram(waits: list[float]) -> None:
    from walltime.core.time import format_duration

    if not waits or max(waits) == min(waits):
        return
    low, width = min(waits), (max(waits) - min(waits)) / BINS
    counts = [0] * BINS
    for wait in waits:
        counts[min(BINS - 1, int((wait - low) / width))] += 1
    say()
    for number, count in enumerate(counts):
        span = f"{format_duration(low + number * width):>9} to {format_duration(low + (number + 1) * width):<9}"
        say(f"  {span} {'#' * round(WIDTH * count / max(counts)):<{WIDTH}} {count}")
