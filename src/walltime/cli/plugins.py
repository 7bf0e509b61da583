"""Own code that the person at the keyboard asks for: `--plugins`, and `--policy module:attribute`.

Only then is the current folder among the places that Python imports from: it may hold files of strangers.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer


def allow_policy(name: str) -> None:
    """Allow the code that a name of --policy stands for, where it is one of `module:attribute`."""
    from walltime.core.plugins import allow

    if ":" in name:
        _look_here()
        allow(name)


def _allow_plugins(places: list[str] | None) -> list[str] | None:
    if places:
        from walltime.core.plugins import allow_plugins

        _look_here()
        allow_plugins(*places)
    return places


def _look_here() -> None:
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # last: what is beside the person is found, and shadows nothing of ours


Plugins = Annotated[
    list[str] | None,
    typer.Option(
        "--plugins",
        metavar="FOLDER|PACKAGE",
        help="Allow the code in it to be imported, where a scenario or a result names it; may be repeated.",
        callback=_allow_plugins,
        show_default=False,
    ),
]
"""Of every command that takes a scenario or a result; the callback does what it asks for."""
