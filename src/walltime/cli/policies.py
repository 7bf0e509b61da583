"""`walltime policies`: every part and preset, with its parameters and the literature."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer

from walltime.cli.terminal.console import emit, out, say

if TYPE_CHECKING:
    from walltime.policy.registry import Entry


def policies(as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False) -> None:
    """List the policies for --policy, and the parts that a scenario composes."""
    from walltime.policy.registry import KINDS, entries, presets

    if as_json:
        emit(
            {
                "presets": [
                    {"name": item.name, "parts": dict(item.parts), "summary": item.summary, "reference": item.reference}
                    for item in presets()
                ],
                "parts": [_describe(entry) for entry in entries()],
            }
        )
        return
    _print_table(
        "Policies, for --policy",
        [(item.name, _compose(item.parts), item.summary, item.reference) for item in presets()],
    )
    for kind, question in KINDS.items():
        rows = [(entry.name, _parameters(entry), entry.describe(), entry.reference) for entry in entries(kind)]
        if rows:
            _print_table(f"{kind} ({question})", rows)
    say("Your own: --policy module:attribute, or the same as the name of a part in a scenario, with --plugins.")


def _print_table(title: str, rows: list[tuple[str, str, str, str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(no_wrap=True, min_width=12, style="bold")
    table.add_column()
    for name, detail, summary, reference in rows:
        text = Text(summary)
        if detail:
            text.append(f"\n{detail}", style="cyan")
        if reference:
            text.append(f"\n{reference}", style="dim italic")
        table.add_row(f"  {name}", text)
    say(title, style="bold underline")
    out().print(table)
    say()


def _compose(parts: Any) -> str:
    return ", ".join(f"{kind}: {name}" for kind, name in parts.items())


def _parameters(entry: Entry) -> str:
    found = []
    for parameter in entry.parameters().values():
        empty = parameter.default is inspect.Parameter.empty
        found.append(parameter.name if empty else f"{parameter.name} = {parameter.default!r}")
    return f"parameters: {', '.join(found)}" if found else ""


def _describe(entry: Entry) -> dict[str, Any]:
    parameters = [
        {"name": item.name, "required": item.default is inspect.Parameter.empty}
        | ({} if item.default is inspect.Parameter.empty else {"default": item.default})
        for item in entry.parameters().values()
    ]
    return {
        "kind": entry.kind,
        "name": entry.name,
        "summary": entry.describe(),
        "parameters": parameters,
        "reference": entry.reference,
        "target": entry.target,
    }
