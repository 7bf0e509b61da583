"""`walltime audit`: is the schedule in a result legal?"""

from __future__ import annotations

from typing import Annotated

import typer

from walltime.cli.plugins import Plugins
from walltime.cli.terminal.console import emit, say

ILLEGAL = 3
SHOWN = 20


def audit(
    result: Annotated[str, typer.Argument(metavar="RESULT", help="A result folder.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    plugins: Plugins = None,
) -> None:
    """Prove from its tables alone that a schedule is legal.

    No core used twice, no job early, none beyond its limit, every job accounted for. Exits with 3 if it is not legal.
    """
    from walltime.api import load

    loaded = load(result)
    violations = loaded.audit()
    if as_json:
        found = [{"rule": v.rule, "job_id": v.job_id, "time": v.time, "message": v.message} for v in violations]
        emit({"result": result, "jobs": loaded.summary["jobs"], "legal": not violations, "violations": found})
    elif violations:
        say(
            f"{result}: NOT legal: {len(violations):,} violation{'' if len(violations) == 1 else 's'}", style="bold red"
        )
        for violation in violations[:SHOWN]:
            say(f"  {violation}")
        if len(violations) > SHOWN:
            say(f"  ... and {len(violations) - SHOWN:,} more (--json lists all that were kept)")
    else:
        say(f"{result}: legal: {loaded.summary['jobs']:,} jobs, no rule broken", style="green")
    if violations:
        raise typer.Exit(ILLEGAL)
