"""Where a store is, which experiment and cells are meant, what is compared, who may lose: options that commands
about stores share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from walltime.experiments.store import Store

STORE = "walltime-store"
StorePlace = Annotated[
    str,
    typer.Option(
        "--store", metavar="FOLDER|URL", envvar="WALLTIME_STORE", help="The store: a folder, or a PostgreSQL server."
    ),
]
ResultsPlace = Annotated[
    str | None,
    typer.Option("--results", metavar="FOLDER", help="Of a store on a server: where the files of runs are kept."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Losers = Annotated[str, typer.Option("--losers", metavar="KEY", help="Show which groups lose, by this.")]
NobodyOption = Annotated[
    str | None,
    typer.Option(
        "--nobody",
        metavar="'FIGURE by KEY PERCENT'",
        help="No group may lose more: 'p95_wait by user 10%' is no user's 95 % wait more than 10 % worse.",
        show_default=False,
    ),
]
Name = Annotated[str, typer.Argument(metavar="EXPERIMENT", help="The experiment's name.")]
Axis = Annotated[str, typer.Option("--axis", metavar="AXIS", help="What the compared cells differ in.")]
Baseline = Annotated[
    str | None,
    typer.Option("--baseline", metavar="LABEL", help="What the others are compared with.", show_default="the first"),
]
Workers = Annotated[int | None, typer.Option(metavar="N", help="So many processes.", show_default=False)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Cells = Annotated[
    str | None,
    typer.Option("--cell", metavar="AXIS=LABEL[,...]", help="Only cells with these labels.", show_default=False),
]


def open_store(store: str, results: str | None = None, *, create: bool = False) -> Store:
    from walltime.experiments.store import Store

    return Store(store, results=results, create=create)


def parse_cell(text: str | None) -> dict[str, str]:
    """Labels by axis of `policy=easy,load=0.9`; raises InputError."""
    from walltime.experiments.grid import parse_labels

    return parse_labels(text)
