"""Workflow-aware tasks on a controller, which knows nothing of them: all tasks of a workflow get one priority.

Their age counts from the submission of the workflow (ACCRUE_ALWAYS), and what the size of a task makes its priority
differ from that of the whole workflow, as one job, is taken back by its nice value, a whole number: so priorities of
one workflow's tasks may differ by one. Under priority/basic a job keeps the place that it got when it was submitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from walltime.core.errors import UnsupportedError
from walltime.core.workload import Workload
from walltime.slurm.conf.settings import split_words
from walltime.slurm.site import Site
from walltime.slurm.translate.submission import TraceJob
from walltime.workload.conditions.aware import Flows, find_flows

NICE = 1 << 31
"""Slurm's zero of nice values."""
ALWAYS, RELATIVE = "ACCRUE_ALWAYS", "SMALL_RELATIVE_TO_TIME"


def prepare_aware(site: Site, workload: Workload) -> Site:
    """The site in which ages count from submission, where tasks want that; raises UnsupportedError where it cannot."""
    if find_flows(workload) is None:
        return site
    settings = _settings(site)
    if not _is_weighted(settings):
        return site
    flags = split_words(settings.get("PriorityFlags", ""))
    if _weight(settings, "PriorityWeightTRES") or (_weight(settings, "PriorityWeightJobSize") and RELATIVE in flags):
        what = "workflow-aware tasks, together with weights of TRES or a size relative to time"
        raise UnsupportedError("slurm", [("workload.aware", f"{what}: the controller weighs each task by itself")])
    if not _weight(settings, "PriorityWeightAge") or ALWAYS in flags:
        return site
    others = workload.column("aware") <= 0
    texts = np.array([bool(text) for text in workload.column("dependencies")], np.bool_)
    if (others & (texts | (workload.column("begin") > workload.column("submit")))).any():
        what = "workflow-aware tasks count their age from submission, and the controller has one rule for all jobs"
        raise UnsupportedError(
            "slurm", [("workload.aware", f"{what}; others have dependencies or begin times (order.accrue_always)")]
        )
    kept = [line for line in site.settings if not line.startswith("PriorityFlags=")]
    return replace(site, settings=(f"PriorityFlags={','.join([*flags, ALWAYS])}", *kept))


def set_nice(jobs: Sequence[TraceJob], site: Site, workload: Workload) -> None:
    """Take back what the sizes of tasks would add to the priority of their workflow, or take from it."""
    flows = find_flows(workload)
    settings = _settings(site)
    weight = _weight(settings, "PriorityWeightJobSize")
    if flows is None or not weight or not _is_weighted(settings):
        return
    small = settings.get("PriorityFavorSmall", "").upper() in ("YES", "1", "TRUE")
    for job in jobs:
        if (flow := int(flows.of[job.row])) >= 0:
            own = _size(site, int(job.request["min_cpus"]), int(job.request["min_nodes"]), small)
            whole = _size(site, *_shape(site, flows, flow), small)
            job.request["nice"] = NICE + round(weight * (own - whole))


def _shape(site: Site, flows: Flows, flow: int) -> tuple[int, int]:
    """Cores and nodes of the workflow as one job."""
    cores = int(flows.columns["cores"][flow])
    return cores, cores if site.pool else max(int(flows.columns["nodes"][flow]), 1)


def _size(site: Site, cores: int, nodes: int, small: bool) -> float:
    """The controller's size factor: the mean of the shares of nodes and cores."""
    share = (nodes / len(site.nodes) + cores / sum(node.cpus for node in site.nodes)) / 2
    return min(max(1 - share if small else share, 0.0), 1.0)


def _settings(site: Site) -> dict[str, str]:
    return dict(line.partition("=")[::2] for line in site.settings)


def _is_weighted(settings: dict[str, str]) -> bool:
    return settings.get("PriorityType") == "priority/multifactor"


def _weight(settings: dict[str, str], name: str) -> float:
    """A weight of the priority, or 1 for a list of them; 0 for none."""
    text = settings.get(name, "")
    return (float(text) if text.isdigit() else 1.0) if text else 0.0
