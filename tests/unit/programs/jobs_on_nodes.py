"""Jobs with profiles, simulated and audited."""

from __future__ import annotations

from typing import Any

from walltime import api
from walltime.core.workload import Workload

STAR = {"type": "star", "link": {"bandwidth": 100.0}}


def simulate(cluster: dict[str, Any], *rows: dict[str, Any], **keys: Any) -> api.Result:
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    execution = {"model": "programs"} | keys.pop("execution", {})
    given = {"workload": {"table": Workload.from_columns(**columns)}, "cluster": cluster, "execution": execution}
    result = api.simulate(given | keys)
    assert result.audit() == []
    return result


def job(profile: str | None, cores: int = 1, nodes: int = 1, submit: float = 0, **more: Any) -> dict[str, Any]:
    given = {"submit": submit, "cores": cores, "nodes": nodes, "profile": profile}
    return given | {"requested_time": more.pop("limit", 1000), "run_time": None} | more


def times(result: api.Result) -> list[tuple[float | None, float | None, str]]:
    return list(result.jobs.sort("job_id").select("start", "end", "state").iter_rows())
