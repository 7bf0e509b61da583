"""What Walltime does, told to a program through `logging`: silent unless the program, or `walltime -v`, listens."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

logging.getLogger("walltime").addHandler(logging.NullHandler())


def logger(module: str) -> logging.Logger:
    """The logger of a module, by its `__name__`: all of them are under `walltime`."""
    return logging.getLogger(module)


@contextmanager
def timed(log: logging.Logger, what: str) -> Iterator[None]:
    """Log at level INFO what was done, and in how many seconds; nothing where it failed."""
    begin = time.perf_counter()
    yield
    log.info("%s in %.3f s", what, time.perf_counter() - begin)
