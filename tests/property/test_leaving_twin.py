"""Processes that are released before their job ends: the engine and its slow twin agree, on every node and instant."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from twin import reference
from walltime import simulate
from walltime.core.time import microseconds
from walltime.core.workload import Workload
from walltime.programs import Profile, gather, register
from walltime.programs.profiles import write_out
from walltime.scenario import parse


class Leaving(Profile):
    """The process of rank k stays for `stays[k]` seconds and is released."""

    def __init__(self, stays: list[float]) -> None:
        self.stays = stays

    async def stay(self, process: Any, time: float) -> None:
        await process.sleep(time)
        process.release()

    async def run(self, processes: list[Any]) -> None:
        await gather(*(self.stay(process, time) for process, time in zip(processes, self.stays, strict=True)))


register("leaving", Leaving)

JOB = st.fixed_dictionaries(
    {
        "submit": st.integers(0, 30),
        "cores": st.integers(1, 4),
        "stays": st.lists(st.integers(1, 15), min_size=1, max_size=4),
        "limit": st.integers(1, 20).map(lambda whole: whole + 0.5),
    }
)
"""`cores` are wanted on each node; `stays` is how long each process stays, one a node."""


@settings(max_examples=150, deadline=None)
@given(st.lists(JOB, min_size=1, max_size=12), st.integers(4, 6), st.booleans())
def test_leaving(jobs: list[dict[str, Any]], nodes: int, overtake: bool) -> None:
    jobs.sort(key=lambda job: job["submit"])
    columns = {
        "submit": [job["submit"] for job in jobs],
        "run_time": [None for _ in jobs],
        "requested_time": [job["limit"] for job in jobs],
        "cores": [job["cores"] * len(job["stays"]) for job in jobs],
        "nodes": [len(job["stays"]) for job in jobs],
        "profile": [write_out("leaving", stays=job["stays"]) for job in jobs],
    }
    scheduler = {"place": "first-fit", "backfill": "aggressive" if overtake else "none"}
    scenario = parse(
        {
            "workload": {"table": Workload.from_columns(**columns)},
            "cluster": {"nodes": {"count": nodes, "cores": 4}, "scheduler": scheduler},
            "execution": {"model": "programs"},
        }
    )
    result = simulate(scenario)
    twin = reference.simulate(scenario)
    assert result.audit() == []
    found = [(job.start, job.end, job.state) for job in twin]
    assert [(*times(*row[:2]), row[2]) for row in result.jobs.select("start", "end", "state").rows()] == found
    held: dict[int, list[tuple[int, int, str]]] = {}
    for number, start, end, text in result.allocations.select("job_id", "start", "end", "nodes").iter_rows():
        if start < end:  # where several leave at one instant, one goes after the other
            held.setdefault(number, []).append((*times(start, end), text))
    assert held == {job.job_id: [(one.start, one.end, one.nodes) for one in job.intervals] for job in twin}


def times(start: float, end: float) -> tuple[int, int]:
    return microseconds(start), microseconds(end)
