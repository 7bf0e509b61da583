"""The options of `walltime run`, each as a type: what it is called, what it takes, and what `--help` says of it."""

from __future__ import annotations

from typing import Annotated

import typer

_MACHINE = "The machine"
_SCHEDULER = "The scheduler"
_JOBS = "The jobs"
_RESULT = "The result"
SEEDS = 10
"""Repetitions of a run with noise that does not say how many."""

Source = Annotated[
    list[str],
    typer.Argument(
        metavar="SCENARIO.yaml | TRACE | FILES",
        help="A scenario; a trace (.swf, .sacct, .parquet, .csv, also .gz); or the files of a site: slurm.conf and a "
        "log, and whatever else `walltime site import` takes.",
    ),
]
Cores = Annotated[int | None, typer.Option(metavar="N", help="One pool of N cores.", rich_help_panel=_MACHINE)]
Nodes = Annotated[str | None, typer.Option(metavar="NxC", help="N nodes of C cores each.", rich_help_panel=_MACHINE)]
ClusterFile = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="A YAML file that describes it, or Alea's .machines.", rich_help_panel=_MACHINE),
]
Policies = Annotated[
    str | None,
    typer.Option(
        metavar="NAME[,NAME...]",
        help="What `walltime policies` lists, or your own as module:attribute. Several are compared. "
        "[dim](default: easy, or what the scenario says)[/]",
        rich_help_panel=_SCHEDULER,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Replace a value of the scenario by its dotted key; may be repeated.",
        rich_help_panel=_SCHEDULER,
    ),
]
Engine = Annotated[str | None, typer.Option(metavar="native|slurm", help="What simulates.", rich_help_panel=_SCHEDULER)]
Overrun = Annotated[
    str | None,
    typer.Option(
        metavar="kill|extend",
        help="A job that runs longer than it asked is killed, or runs on. [dim](default: kill)[/]",
        rich_help_panel=_JOBS,
    ),
]
MissingRequest = Annotated[
    str | None,
    typer.Option(
        metavar="exact|max|model",
        help="A job without a requested time is given its run time, the largest request, or a request drawn from "
        "the others. [dim](default: exact)[/]",
        rich_help_panel=_JOBS,
    ),
]
Until = Annotated[
    str | None,
    typer.Option(
        metavar="T", help="Stop at this time: seconds, 12h, 10d1h, or a date (2026-10-14T08:00).", rich_help_panel=_JOBS
    ),
]
Seed = Annotated[
    str | None,
    typer.Option(metavar="N", help="The seed of everything random: a whole number, or a text.", rich_help_panel=_JOBS),
]
Shake = Annotated[
    str | None,
    typer.Option(
        metavar="SECONDS",
        help="Repeat with submissions moved at random within so many seconds: is a difference more than noise?",
        rich_help_panel=_JOBS,
    ),
]
Seeds = Annotated[
    int | None,
    typer.Option(metavar="N", help=f"How many repetitions. [dim](default: {SEEDS})[/]", rich_help_panel=_JOBS),
]
Output = Annotated[
    str | None,
    typer.Option(
        metavar="DIR",
        help="Write the result folder DIR; with several policies DIR/NAME for each.",
        rich_help_panel=_RESULT,
    ),
]
Format = Annotated[str, typer.Option(metavar="parquet|csv", help="Of the tables in it.", rich_help_panel=_RESULT)]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing result.", rich_help_panel=_RESULT)]
Warmup = Annotated[
    str | None,
    typer.Option(
        metavar="T",
        help="Leave the first T of the submissions out of the observation window. [dim](default: a tenth)[/]",
        rich_help_panel=_RESULT,
    ),
]
Cooldown = Annotated[
    str | None,
    typer.Option(metavar="T", help="The same at the end. [dim](default: a tenth)[/]", rich_help_panel=_RESULT),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.", rich_help_panel=_RESULT)]
Label = Annotated[
    str | None, typer.Option(metavar="TEXT", help="What tables and comparisons call it.", rich_help_panel=_RESULT)
]
Watch = Annotated[
    bool, typer.Option("--watch", help="Draw the state of the system while it runs.", rich_help_panel=_RESULT)
]
Pace = Annotated[
    str | None,
    typer.Option(
        metavar="T",
        help="With --watch, simulate T a second: 1h, 1d. [dim](default: as fast as it goes)[/]",
        rich_help_panel=_RESULT,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.", rich_help_panel=_RESULT)]
