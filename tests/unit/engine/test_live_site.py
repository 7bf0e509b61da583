"""Jobs that are submitted while a simulation runs obey the site's rules."""

from __future__ import annotations

from walltime.core.time import NEVER, SECOND
from walltime.core.workload import Workload
from walltime.engine.build import build_simulation
from walltime.engine.loop import Rank
from walltime.engine.recording.tables import build_tables
from walltime.execution.trace import TraceExecution
from walltime.kernel.source import Source
from walltime.scenario import parse


class Submitter(Source):
    """Submits the given jobs at their times."""

    def __init__(self, jobs):
        super().__init__()
        self.jobs = jobs
        self.next = jobs[0][0] * SECOND

    def fire(self, now):
        _, description = self.jobs.pop(0)
        self.next = self.jobs[0][0] * SECOND if self.jobs else NEVER
        self.engine.submit(run_time=10 * SECOND, requested_time=10 * SECOND, **description)
        return 0


def test_a_live_job_is_routed_counted_and_placed():
    workload = Workload.from_columns(submit=[0], run_time=[10], requested_time=[10], cores=[2], user=["ann"])
    cluster = {
        "nodes": [
            {"count": 1, "cores": 4, "memory": 8, "name": "a"},
            {"count": 1, "cores": 4, "memory": 2, "name": "b"},
        ],
        "queues": {"small": {"max_cores": 4}, "large": {"default": True, "nodes": "a"}},
        "routes": [{"queue": "small", "max_cores": 2}],
        "limits": [{"user": "ann", "running_cores": 3}],
    }
    scenario = parse({"workload": {"table": workload}, "cluster": cluster})
    live = Submitter(
        [
            (1, {"cores": 1, "user": "ann", "memory": 4}),  # beside the first: 3 cores of 3, on the node with memory
            (2, {"cores": 1, "user": "ann"}),  # at ann's limit until 10
            (3, {"cores": 3, "user": "bo"}),  # in `large`, on node a alone, where the first two run until 11
            (4, {"cores": 5, "user": "bo"}),  # no node of `large` has that many
        ]
    )
    options = {"execution": TraceExecution(), "sources": [(Rank.ARRIVALS, live)]}
    simulation, arrivals = build_simulation(scenario, workload, [workload], options)
    simulation.run()
    jobs, allocations = build_tables(simulation, arrivals, ["cluster"])
    assert jobs["start"].to_list() == [0.0, 1.0, 10.0, 11.0, None]
    assert jobs["queue"].cast(str).to_list() == ["small", "small", "small", "large", "large"]
    assert simulation.reasons == {"more cores than queue large has": 1}
    assert dict(allocations.select("job_id", "nodes").rows())[2] == "0:1"
