"""The keys of a scenario that the native engine honours, or refuses with a reason of its own."""

from __future__ import annotations

_CAPS = "running_jobs running_cores running_gpus running_memory running_core_minutes submitted_jobs"
_WHO = "users groups accounts queues qos types min_cores max_cores min_time max_time"
_LINK = "bandwidth latency duplex"
_DISK = "capacity read write falling operations"
_DRAW = "distribution mean shape sigma"
HONOURED = {
    "": "walltime seed engine workload clusters broker execution users dependencies deadlines cancellations start "
    "record slurm timezone until",
    "clusters": "name cores nodes sharing threads_per_core default_memory max_memory licences queues routes accounts "
    "shares limits reservations failures interrupted requeue_delay attributes scheduler network components",
    "clusters.nodes": "count cores speed name memory gpus resources features per_switch max_load quantum switch_cost "
    "sync_delay disk",
    "clusters.nodes.disk": _DISK,
    "clusters.network": "type link local switch levels downlink uplink l1_switch_count l2_switch_count file",
    "clusters.network.levels": f"{_LINK} size",
    **{f"clusters.network.{key}": _LINK for key in ("link", "local", "switch", "downlink", "uplink")},
    "clusters.components": f"{_LINK} disk",
    "clusters.components.disk": _DISK,
    "clusters.queues": f"{_CAPS} priority nodes order place sharing default_memory max_memory job_factor "
    "default_time max_time min_cores max_cores users groups accounts per_user per_group per_account default",
    "clusters.queues.per_user": _CAPS,
    "clusters.queues.per_group": _CAPS,
    "clusters.queues.per_account": _CAPS,
    "clusters.routes": "queue min_cores max_cores min_time max_time users groups accounts named",
    "clusters.accounts": "parent users shares priority",
    "clusters.limits": f"{_CAPS} accruing_jobs user group account qos queue per optional",
    "clusters.reservations": "name start length every times nodes count cores users groups accounts",
    "clusters.failures": "nodes cores between repair together at length file notice known",
    "clusters.failures.between": _DRAW,
    "clusters.failures.repair": _DRAW,
    "clusters.scheduler": "order backfill estimate place preempt rhythm holds",
    "broker": "name parameters order queues hold overtake shared_limits bind migrate optimise",
    "broker.queues": f"{_WHO} priority order broker",
    "broker.bind": f"{_WHO} clusters",
    "broker.migrate": "every gain most depth",
    "execution": "model overrun overtime limit_check checkpoint profiles",
    "execution.checkpoint": "interval cost restart",
    "users": "mode session_gap campaign overlap waits think hours population files reactions",
    "dependencies": "never unknown preceding",
    "cancellations": "share after distribution spread running",
    "start": "time jobs usage timezone",
}
"""By the key that they are under. The workload is read before an engine sees it, `record` is looked at after."""
