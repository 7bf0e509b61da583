"""Have a job's fields on their way to the cache before they are needed; nothing is changed by it."""

from __future__ import annotations

from walltime.kernel.jobs import JobTable


def prefetch(jobs: JobTable, slot: int) -> None:
    """The job in this slot is about to be looked at; compiled modules have it from prefetch.pxd."""
