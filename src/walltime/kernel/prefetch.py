"""Have a job's fields, or words of an array, on their way to the cache before they are needed; it changes nothing."""

from __future__ import annotations

from walltime.kernel.jobs import JobTable


def prefetch(jobs: JobTable, slot: int) -> None:
    """The job in this slot is about to be looked at; compiled modules have it from prefetch.pxd."""


def prefetch_line(at: object, line: int) -> None:
    """The cache line of this word, or the one so many lines behind it, is about to be looked at."""
