"""An analysis: figures of a result."""

from __future__ import annotations


def patience(result) -> dict[str, float | int | None]:
    """How many jobs waited longer than they asked to run, and the longest wait in units of the request."""
    jobs = result.jobs.filter(result.jobs["wait"].is_not_null() & (result.jobs["requested_time"] > 0))
    ratio = jobs["wait"] / jobs["requested_time"]
    return {"jobs": jobs.height, "waited longer than they asked": int((ratio > 1).sum()), "worst ratio": ratio.max()}
