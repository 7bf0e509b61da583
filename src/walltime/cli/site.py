"""`walltime site`: a site's own files become a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from walltime.cli.terminal.console import emit, remark, say
from walltime.cli.trace import Collections, Format, Host, Map, Timezone, refuse_existing

if TYPE_CHECKING:
    from walltime.site.importing.scenario import Imported

app = typer.Typer(no_args_is_help=True, help="A site's own files: from slurm.conf, sacctmgr and sacct to a scenario.")

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="slurm.conf, or the outputs of scontrol show config, node and partition; further, in any order: sacctmgr "
        "dump, sacctmgr -P show qos, scontrol show assoc_mgr, sacctmgr -P show event, scontrol show reservation, "
        "topology.conf, gres.conf, and a log.",
    ),
]
Release = Annotated[str, typer.Option(metavar="N.N", help="Of Slurm: whose keywords and defaults.")]
Cloud = Annotated[bool, typer.Option("--cloud", help="Take CLOUD nodes for nodes that are always there.")]
Drop = Annotated[bool, typer.Option("--drop-unknown", help="Go on without keywords that this Slurm does not know.")]


@app.callback()
def site() -> None:
    """A site's own files."""


@app.command("import")
def import_(
    files: Files,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE.yaml", help="Where to write. [dim](default: print)[/]"),
    ] = None,
    release: Release = "22.05",
    input_format: Format = None,
    timezone: Timezone = None,
    map_: Map = None,
    collections: Collections = None,
    host: Host = None,
    cloud: Cloud = False,
    drop_unknown: Drop = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Make a scenario from a site's files, with where each value comes from, and tell what is honoured of them.

    What each file is, its contents tell. Every keyword that decides about scheduling is on one of three lists: honoured
    exactly, nearly (and how), or not (and why).
    """
    from walltime.core.files import write_whole
    from walltime.scenario import parse
    from walltime.site.importing.scenario import import_site
    from walltime.workload.formats.mapped import parse_map

    if output is not None:
        refuse_existing(output, force)
    folder = Path.cwd() if output is None else output.absolute().parent
    how: dict[str, Any] = {"format": input_format, "collections": collections, "host": host}
    how["columns"] = dict(parse_map(map_)) if map_ else None
    options: dict[str, Any] = {"cloud": cloud, "drop_unknown": drop_unknown, "reading": how}
    made = import_site(files, release=release, timezone=timezone, folder=folder, **options)
    parse(made.data)  # that it is a scenario is known before it is written
    if output is not None:
        write_whole(output, made.text.encode())
    if as_json:
        emit({"scenario": made.data, **made.findings.as_data(), "notes": list(made.notes)})
    elif output is None:
        say(made.text.rstrip("\n"))
    elif not quiet:
        tell(made)
        say(f"Written: {output}")


def tell(made: Imported) -> None:
    """The three lists, and what else a person should know."""
    from walltime.site.importing.scenario import describe

    for title, lines in describe(made).items():
        if lines:
            say(f"{title}:")
            for line in lines:
                say(f"  {line}")
    for note in made.notes:
        remark(f"Noticed: {note}")
