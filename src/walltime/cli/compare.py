"""`walltime compare`: results side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from walltime.cli.console import emit, out, say
from walltime.cli.show import LEGEND, METRICS, show_comparison, show_notes
from walltime.core.errors import InputError
from walltime.core.time import format_duration

if TYPE_CHECKING:
    import polars as pl

    from walltime.api import Result

KEYS = ("user", "group", "account", "queue", "size")
SHOWN = 30


def compare(
    results: Annotated[
        list[str],
        typer.Argument(metavar="RESULT", help="Result folders, or folders of them; the first is the baseline."),
    ],
    by: Annotated[
        str | None, typer.Option(metavar="|".join(KEYS), help="Also show who gains and who loses: waits by this.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Compare results: what differs, by how much, and who gains or loses by it."""
    from walltime.analysis.compare import compare as compare_results
    from walltime.analysis.compare import compare_by, distinct_labels, find_remarks

    if by is not None and by not in KEYS:
        raise InputError("--by", value=by, choices=KEYS)
    paths = [path for given in results for path in _expand(given)]
    loaded = [_load(path) for path in paths]
    labels = distinct_labels(loaded)
    groups = compare_by(loaded, by) if by is not None else None
    remarks = find_remarks(loaded)
    if as_json:
        emit(
            {
                "results": [
                    {"label": label, "path": str(path), "summary": item.summary}
                    for label, path, item in zip(labels, paths, loaded, strict=True)
                ],
                "comparison": compare_results(loaded).to_dicts(),
                "by": None if groups is None else {"key": by, "metric": "mean_wait", "groups": groups.to_dicts()},
                "remarks": remarks,
            }
        )
        return
    summaries = {label: item.summary for label, item in zip(labels, loaded, strict=True)}
    show_comparison(summaries)
    say()
    for line in _differences(summaries):
        say(line)
    for remark in remarks:
        say(f"Careful: {remark}.", style="yellow")
    show_notes(summaries)
    say(LEGEND, style="dim")
    if groups is not None and by is not None:
        say()
        _print_groups(groups, by, labels)


def _expand(given: str) -> list[Path]:
    """The result itself, or the results inside a folder that a run of several policies made, in that run's order."""
    from walltime.core.folder import is_result

    path = Path(given)
    if path.is_dir() and not (path / "summary.json").exists():
        inside = [entry for entry in path.iterdir() if not entry.name.startswith(".") and is_result(entry)]
        return sorted(inside, key=lambda entry: ((entry / "summary.json").stat().st_mtime_ns, entry.name)) or [path]
    return [path]


def _load(path: Path) -> Result:
    from walltime.api import load

    return load(path)


def _differences(summaries: dict[str, Any]) -> list[str]:
    """A line for each result after the first: the change of each headline figure."""
    (base, first), *others = summaries.items()
    lines = []
    for name, summary in others:
        changes = []
        for metric in METRICS:
            old, new = first.get(metric.key), summary.get(metric.key)
            if old and new is not None and metric.text(old) != metric.text(new):
                changes.append(f"{metric.heading} {_change((new - old) / old, 1)}")
        lines.append(f"{name} against {base}: {', '.join(changes) or 'the same figures'}.")
    return lines


def _change(relative: float, digits: int = 0) -> str:
    """A change relative to the baseline: a percentage, or a factor where a percentage would be hard to read."""
    return f"×{1 + relative:,.0f}" if relative >= 9.5 else f"{100 * relative:+.{digits}f} %"


def _print_groups(table: pl.DataFrame, key: str, labels: list[str]) -> None:
    from rich.table import Table

    if table[key].is_null().all():
        say(f"The jobs of these results tell no {key}.")
        return
    base, *others = labels
    view = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False, header_style="bold")
    view.add_column(f"mean wait by {key}", no_wrap=True)
    for heading in ("jobs", base, *others):
        view.add_column(heading, justify="right", no_wrap=True)
    for row in _extremes(table, bool(others)).iter_rows(named=True):
        cells = [format_duration(row[base])]
        for name in others:
            change = row[f"{name} relative"]
            cells.append(format_duration(row[name]) + ("" if change is None else f" ({_change(change)})"))
        view.add_row("(none)" if row[key] is None else str(row[key]), f"{row['jobs']:,}", *cells)
    out().print(view)
    if table.height > SHOWN:
        say(f"{SHOWN} of {table.height:,}: those who gain most and those who lose most (--json lists all)", style="dim")


def _extremes(table: pl.DataFrame, compared: bool) -> pl.DataFrame:
    if table.height <= SHOWN:
        return table
    return table.head(SHOWN // 2).vstack(table.tail(SHOWN // 2)) if compared else table.head(SHOWN)
