"""`walltime run`: simulate a scenario or a trace, under one policy or several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from walltime.cli.console import emit
from walltime.core.errors import InputError

if TYPE_CHECKING:
    from walltime.cli.watch import Watching

MACHINE = "The machine"
SCHEDULER = "The scheduler"
JOBS = "The jobs"
RESULT = "The result"
SEEDS = 10


class Answer(Protocol):
    """What a run came to, for a person or for a program."""

    def show(self) -> None: ...
    def as_data(self) -> dict[str, Any]: ...


def run(
    source: Annotated[
        str,
        typer.Argument(metavar="SCENARIO.yaml | TRACE", help="A scenario, or a trace (.swf, .swf.gz, .parquet, .csv)."),
    ],
    cores: Annotated[
        int | None, typer.Option(metavar="N", help="One pool of N cores.", rich_help_panel=MACHINE)
    ] = None,
    nodes: Annotated[
        str | None, typer.Option(metavar="NxC", help="N nodes of C cores each.", rich_help_panel=MACHINE)
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="A YAML file that describes it, or Alea's .machines.", rich_help_panel=MACHINE
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[,NAME...]",
            help="What `walltime policies` lists, or your own as module:attribute. Several are compared. "
            "[dim](default: easy, or what the scenario says)[/]",
            rich_help_panel=SCHEDULER,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Replace a value of the scenario by its dotted key; may be repeated.",
            rich_help_panel=SCHEDULER,
        ),
    ] = None,
    engine: Annotated[
        str | None, typer.Option(metavar="native|slurm", help="What simulates.", rich_help_panel=SCHEDULER)
    ] = None,
    overrun: Annotated[
        str | None,
        typer.Option(
            metavar="kill|extend",
            help="A job that runs longer than it asked is killed, or runs on. [dim](default: kill)[/]",
            rich_help_panel=JOBS,
        ),
    ] = None,
    missing_request: Annotated[
        str | None,
        typer.Option(
            metavar="exact|max|model",
            help="A job without a requested time is given its run time, the largest request, or a request drawn from "
            "the others. [dim](default: exact)[/]",
            rich_help_panel=JOBS,
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="T", help="Stop at this time: seconds, 12h, 30d.", rich_help_panel=JOBS)
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="The seed of everything random.", rich_help_panel=JOBS)
    ] = None,
    shake: Annotated[
        str | None,
        typer.Option(
            metavar="SECONDS",
            help="Repeat with submissions moved at random within so many seconds: is a difference more than noise?",
            rich_help_panel=JOBS,
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(metavar="N", help=f"How many repetitions. [dim](default: {SEEDS})[/]", rich_help_panel=JOBS),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Write the result folder DIR; with several policies DIR/NAME for each.",
            rich_help_panel=RESULT,
        ),
    ] = None,
    format: Annotated[
        str, typer.Option(metavar="parquet|csv", help="Of the tables in it.", rich_help_panel=RESULT)
    ] = "parquet",
    force: Annotated[bool, typer.Option("--force", help="Replace an existing result.", rich_help_panel=RESULT)] = False,
    warmup: Annotated[
        str | None,
        typer.Option(
            metavar="T",
            help="Leave the first T of the submissions out of the observation window. [dim](default: a tenth)[/]",
            rich_help_panel=RESULT,
        ),
    ] = None,
    cooldown: Annotated[
        str | None,
        typer.Option(metavar="T", help="The same at the end. [dim](default: a tenth)[/]", rich_help_panel=RESULT),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.", rich_help_panel=RESULT)] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Draw the state of the system while it runs.", rich_help_panel=RESULT)
    ] = False,
    pace: Annotated[
        str | None,
        typer.Option(
            metavar="T",
            help="With --watch, simulate T a second: 1h, 1d. [dim](default: as fast as it goes)[/]",
            rich_help_panel=RESULT,
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print nothing but errors.", rich_help_panel=RESULT)
    ] = False,
) -> None:
    """Simulate a scenario or a trace, and print what became of the jobs.

    Without --output nothing is written. Two runs of the same scenario give the same result, bit for bit.
    """
    from walltime.cli.plan import Options

    options = Options(
        source, cores, nodes, cluster, policy, tuple(settings or ()), engine, seed, until, overrun, missing_request
    )
    window = _window(warmup, cooldown)
    hidden = quiet or as_json
    watching = _watching(watch, pace, quiet=quiet, shake=shake)
    if shake is not None:
        from walltime.cli.shaken import run_shaken

        if output is not None:
            raise InputError("--shake prints a table of many runs; it cannot be combined with --output")
        answer: Answer = run_shaken(options, shake, SEEDS if seeds is None else seeds, window, quiet=hidden)
    elif seeds is not None:
        raise InputError("--seeds is the number of repetitions of --shake, which is missing")
    else:
        from walltime.cli.session import run_session

        answer = run_session(options, output, window, force=force, format=format, quiet=hidden, watch=watching)
    if as_json:
        emit(answer.as_data())
    elif not quiet:
        answer.show()


def _watching(watch: bool, pace: str | None, *, quiet: bool, shake: str | None) -> Watching | None:
    """How the run is watched, if it is; raises InputError for options that contradict each other."""
    from walltime.cli.plan import parse_seconds
    from walltime.cli.watch import Watching

    if not watch:
        if pace is not None:
            raise InputError("--pace slows down what --watch shows, which is missing")
        return None
    if quiet or shake is not None:
        raise InputError(f"--watch shows a run; it cannot be combined with {'--quiet' if quiet else '--shake'}")
    speed = parse_seconds("--pace", pace)
    if speed == 0:
        raise InputError("--pace: time has to go on", value=pace)
    return Watching(speed)


def _window(warmup: str | None, cooldown: str | None) -> dict[str, float | None]:
    from walltime.cli.plan import parse_seconds

    return {"warmup": parse_seconds("--warmup", warmup), "cooldown": parse_seconds("--cooldown", cooldown)}
