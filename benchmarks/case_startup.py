"""How long a person waits before anything happens."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from benchmarks.figures import Figure, at_most, seconds
from benchmarks.measuring import time_command
from benchmarks.setting import Setting

CASE = "startup"
COMMANDS = (
    ("python -c pass", ("-c", "pass"), None),
    ("import walltime", ("-c", "import walltime"), at_most(0.3)),
    ("walltime --help", ("-m", "walltime", "--help"), at_most(0.5)),
)


def measure(setting: Setting) -> Iterator[Figure]:
    """CPU seconds of new processes, Python's own start included."""
    for what, arguments, target in COMMANDS:
        usage = time_command([sys.executable, *arguments], 2 * setting.repeats + 1)
        yield seconds(CASE, what, usage.cpu, target)
