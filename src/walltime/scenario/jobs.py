"""From a scenario's `workload` to the jobs themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walltime.core.workload import Workload

if TYPE_CHECKING:
    from walltime.scenario.model import Generate, WorkloadSpec


def read_workload(spec: WorkloadSpec, seed: int) -> Workload:
    """The jobs, read, generated or given, each with a requested time; raises InputError.

    The notes say how many requests were filled in (`filled_requests`), and for how many of them the run time itself
    was taken (`perfect_estimates`).
    """
    from walltime.workload.requests import fill_requests

    workload = _source(spec, seed)
    filled, count = fill_requests(workload, spec.missing_request, seed)
    notes = workload.notes | {
        "filled_requests": count,
        "perfect_estimates": count if spec.missing_request == "exact" else 0,
    }
    return filled.replace(filled.columns, notes=notes)


def _source(spec: WorkloadSpec, seed: int) -> Workload:
    if isinstance(spec.table, Workload):
        return spec.table
    if spec.generate is not None:
        return _generate(spec.generate, seed)
    from walltime.workload.formats import read

    return read(str(spec.trace))


def _generate(spec: Generate, seed: int) -> Workload:
    from walltime.workload.generate import Model, generate

    return generate(spec.jobs, spec.cores, spec.load, seed, Model(**spec.model))
