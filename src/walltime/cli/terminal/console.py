"""The two streams that Walltime prints to: answers on standard output, everything else on standard error."""

from __future__ import annotations

import functools
import json
import sys
from typing import TYPE_CHECKING, Any

from walltime.cli.terminal.streams import OBEYED, is_unicode

if TYPE_CHECKING:
    from rich.console import Console


@functools.cache
def out() -> Console:
    """Standard output, for answers; plain text of a steady width where it is not a terminal."""
    from walltime.cli.terminal.names import Terminal

    return Terminal(width=None if sys.stdout.isatty() else _piped_width(), soft_wrap=False)


@functools.cache
def err() -> Console:
    """Standard error, for errors and progress."""
    from walltime.cli.terminal.names import Terminal

    return Terminal(stderr=True)


def say(text: str = "", style: str | None = None) -> None:
    """A line of an answer, wrapped by the terminal only."""
    out().print(text, style=style, soft_wrap=True)


def remark(text: str, style: str | None = None) -> None:
    """A line beside the answer, on standard error."""
    err().print(text, style=style, soft_wrap=True)


def emit(data: Any) -> None:
    """JSON on standard output, strict: no NaN, keys as they are; in escapes where the stream has not every letter, and
    what a terminal would obey."""
    narrow = not is_unicode(sys.stdout.encoding)
    text = json.dumps(data, indent=2, ensure_ascii=narrow, allow_nan=False, default=str)  # which escapes those below 32
    sys.stdout.write(OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")


def _piped_width() -> int:
    """COLUMNS where it is set, else wide enough for every table: a pipe has no edge."""
    import os

    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdigit() and int(columns) > 20 else 120
