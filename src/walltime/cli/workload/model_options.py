"""The options of `walltime workload fit` and `generate`, each as a type: what it is called, and what `--help` says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_BINS, _CLEAN = "Bins", "Cleaning"
_PHASES, _JOBS = "Phases and load", "Jobs"

Force = Annotated[bool, typer.Option("--force", help="Replace the output where it exists.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")]
Seed = Annotated[str, typer.Option(help="The seed of everything random: a whole number, or a text.")]

# Of fit.
ModelFile = Annotated[Path, typer.Option("--output", "-o", help="The model file to write (.json).")]
LogCores = Annotated[int | None, typer.Option(min=1, help="Size of the machine, where the log does not tell it.")]
BusyUsers = Annotated[int, typer.Option(min=0, help="Users that the model knows one by one.")]
NodeCores = Annotated[int, typer.Option(min=1, help="Width of the bins of cores: a node's.", rich_help_panel=_BINS)]
RequestBin = Annotated[
    float, typer.Option(help="Width of the bins of requested time, in seconds.", rich_help_panel=_BINS)
]
AccuracyBin = Annotated[
    float, typer.Option(help="Width of the bins of run time / requested time.", rich_help_panel=_BINS)
]
GapBin = Annotated[
    float, typer.Option(help="Width of the bins of gaps between submissions, in seconds.", rich_help_panel=_BINS)
]
LongestGap = Annotated[str, typer.Option(help="Longer gaps are left out of their distribution.", rich_help_panel=_BINS)]
SessionGap = Annotated[str, typer.Option(help="A user who submits nothing for this long ends a session.")]
Flurry = Annotated[
    float,
    typer.Option(
        help="A user's week with X times the others' usual jobs is removed as a flurry; 0 removes none.",
        rich_help_panel=_CLEAN,
    ),
]
KeepSystemTests = Annotated[
    bool, typer.Option("--keep-system-tests", help="Keep rare jobs on the whole machine.", rich_help_panel=_CLEAN)
]

# Of generate.
Model = Annotated[
    str, typer.Argument(help="A model file (.json), or lublin, lublin-batch, lublin-interactive, lublin-mixed.")
]
NewTrace = Annotated[
    Path, typer.Option("--output", "-o", help="The trace to write: .parquet or .csv keep phases; .swf.")
]
MachineCores = Annotated[int, typer.Option(min=1, help="Size of the machine; no job is larger.")]
Days = Annotated[float, typer.Option(help="Length of the experiment.", rich_help_panel=_PHASES)]
Load = Annotated[
    float | None,
    typer.Option(help="Offered load, 1.0 fills the machine; by default what the model has.", rich_help_panel=_PHASES),
]
Pressure = Annotated[
    str | None,
    typer.Option(
        metavar="LOW[:HIGH]",
        help="In place of a load: work submitted so far / what the machine could have done, at least LOW after each "
        "arrival; no job comes at HIGH (LOW + 0.1) or above.",
        rich_help_panel=_PHASES,
    ),
]
Stabilization = Annotated[
    str, typer.Option(help="Ordinary jobs before the experiment, not analysed.", rich_help_panel=_PHASES)
]
Fill = Annotated[
    str,
    typer.Option(
        help="Work for the whole machine in small jobs before all others, one every 10 s: 6h.", rich_help_panel=_PHASES
    ),
]
NodeSize = Annotated[
    int,
    typer.Option("--node-cores", min=1, help="Cores of a node: fill jobs have whole nodes.", rich_help_panel=_PHASES),
]
Drain = Annotated[
    str,
    typer.Option(
        help="Time after the last submission, at whose end a run ends; 0: it ends with its last job.",
        rich_help_panel=_PHASES,
    ),
]
Start = Annotated[
    str | None,
    typer.Option(
        metavar="DATE", help="When the experiment begins: 2024-03-01, or with a time.", rich_help_panel=_PHASES
    ),
]
Wait = Annotated[str, typer.Option(help="The median wait of the jobs of each hour that is wanted.")]
Within = Annotated[str, typer.Option(help="How far from it the median of an hour may be.")]
BaselinePressure = Annotated[float, typer.Option(help="The least job pressure after each arrival.")]
Machine = Annotated[
    Path, typer.Argument(metavar="SCENARIO", help="A scenario: its machine and scheduler; its jobs are not looked at.")
]
Band = Annotated[
    float, typer.Option(help="How far the job pressure may be from the load on the way.", rich_help_panel=_PHASES)
]
Insert = Annotated[Path | None, typer.Option(help="A YAML file of jobs to insert, and when.", rich_help_panel=_JOBS)]
Structure = Annotated[
    str,
    typer.Option(
        help="users: sessions and repeated requests; independent: each variable by itself.", rich_help_panel=_JOBS
    ),
]
Bins = Annotated[
    str | None,
    typer.Option(help="Of independent variables: uniform, middle, low or high in a bin.", rich_help_panel=_JOBS),
]
Estimates = Annotated[
    str | None,
    typer.Option(
        help="Requested times: model, tsafrir or none; by default the model's, Tsafrir's for lublin.",
        rich_help_panel=_JOBS,
    ),
]
LargestEstimate = Annotated[
    str | None, typer.Option(help="The longest time that may be requested, for tsafrir.", rich_help_panel=_JOBS)
]
