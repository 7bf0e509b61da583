"""`--margin`: how small a difference must be not to matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from walltime.core.errors import InputError

Margin = Annotated[
    str | None,
    typer.Option(
        "--margin",
        metavar="PERCENT|FIGURE=PERCENT,...",
        help="Differences below this do not matter: figures are told equal where that is shown.",
        show_default=False,
    ),
]


def parse_margins(text: str | None, figures: Sequence[str]) -> dict[str, float]:
    """Fractions by figure of `1%` (all of them) or `utilization_window=1%,mean_wait=5%`; raises InputError."""
    found: dict[str, float] = {}
    for part in text.split(",") if text is not None else ():
        name, equals, value = part.rpartition("=")
        name = name.strip()
        if equals and name not in figures:
            raise InputError("--margin: no such figure", value=name, choices=figures)
        margin = parse_percent("--margin", value)
        found |= {name: margin} if equals else dict.fromkeys(figures, margin)
    return found


def parse_percent(option: str, text: str) -> float:
    """A fraction of `5%`, `5 %` or `5`; raises InputError for what is not between 0 and 100."""
    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError:
        number = -1.0
    if not 0 < number < 100:
        raise InputError(f"{option} takes a percentage between 0 and 100", value=text)
    return number / 100
