"""The report: everything about one result or several, in one HTML file that needs no network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from walltime.core.errors import InputError

if TYPE_CHECKING:
    from walltime.analysis.charts.quantities import Shown

MOST_JOBS = 50_000
"""Jobs that a report has in full detail, of all its results together."""
MOST_RESULTS = 8
"""Results in one report: as many as there are colours that can be told apart."""


def write_report(
    results: Sequence[Shown],
    path: str | Path,
    *,
    title: str | None = None,
    window: tuple[float | None, float | None] = (None, None),
    most: int = MOST_JOBS,
    analyses: Sequence[str] = (),
    force: bool = True,
) -> Path:
    """Writes the report of one result or several (the first is the baseline) and returns its path.

    `window` (seconds of the trace) limits the schedule; of `most` jobs everything is told, all figures are over all.
    `analyses` are names of analyses whose figures and tables it also has.
    """
    from walltime.analysis.report.page import make_report
    from walltime.core.files import write_whole

    target = check_report(path, force=force)
    return write_whole(target, make_report(results, title=title, window=window, most=most, analyses=analyses).encode())


def check_report(path: str | Path, *, force: bool = True) -> Path:
    """The path, if a report may be written there; raises InputError. Ask before long work."""
    from walltime.core.files import check_file

    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError("a report is one HTML file; its name ends in .html", value=str(path))
    return check_file(target, force=force)
