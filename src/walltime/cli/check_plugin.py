"""`walltime check-plugin`: does an installed package keep to the rules of what it offers?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from walltime.cli.terminal.console import emit, say

BROKEN = 3


def check_plugin(
    package: Annotated[str, typer.Argument(metavar="PACKAGE", help="The name of an installed package.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Check everything that an installed package registers for Walltime.

    Parts: the same jobs give the same schedule, the audit finds it legal, actual run times are not looked at, every job
    starts. Formats, analyses and pictures: the same answer twice, and errors that name what is wrong. Exits with 3 if
    something is not well.
    """
    from walltime.plugin_check import check_package

    findings = check_package(package)
    if as_json:
        emit(
            {"package": package, "well": not any(one.problem for one in findings), "findings": [*map(asdict, findings)]}
        )
    else:
        for one in findings:
            label = f"{one.group.partition('.')[2]} {one.name}"
            say(f"{label}: {one.problem or 'well'}", style="red" if one.problem else "green")
    if any(one.problem for one in findings):
        raise typer.Exit(BROKEN)
