"""`walltime slurm`: the real Slurm controller in virtual time."""

from __future__ import annotations

from typing import Annotated

import typer

from walltime.cli.console import emit, say

app = typer.Typer(
    no_args_is_help=True,
    help="The real Slurm controller in virtual time: is it there, fetch it, run a site's slurm.conf.",
)


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Say whether everything that the slurm engine needs is there, and how to get what is not."""
    from walltime.slurm.packages import examine

    findings = examine()
    if as_json:
        emit({"findings": [{"what": one.what, "well": one.well, "detail": one.detail} for one in findings]})
    else:
        for one in findings:
            say(f"{'ok     ' if one.well else 'missing'}  {one.what}: {one.detail}")
    if not all(one.well for one in findings):
        raise typer.Exit(2)


@app.command()
def install(
    missing: Annotated[bool, typer.Option("--if-missing", help="Do nothing where Slurm is there already.")] = False,
) -> None:
    """Fetch Debian's Slurm packages into a cache folder; needs no root, and starts no daemon.

    A Slurm that is installed on the system is used before the cached one.
    """
    from walltime.core.errors import InputError
    from walltime.slurm import packages

    if missing:
        try:
            packages.find_installation()
        except InputError:
            pass
        else:
            return
    folder = packages.install()
    found = packages.find_installation()
    say(f"Slurm {found.product} is in {folder}")
