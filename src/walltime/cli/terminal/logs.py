"""`walltime -v`: what the loggers under `walltime` say, on standard error."""

from __future__ import annotations

import logging
import sys

from walltime.cli.terminal.streams import harmless


class _Lines(logging.Formatter):
    """A line a message; what a terminal would obey in a file's name is escaped."""

    def format(self, record: logging.LogRecord) -> str:
        return harmless(super().format(record))


def show_logs() -> None:
    """Print all that is logged from level INFO on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines("%(name)s: %(message)s"))
    top = logging.getLogger("walltime")
    top.addHandler(handler)
    top.setLevel(logging.INFO)
