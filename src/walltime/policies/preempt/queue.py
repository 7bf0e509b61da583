"""Jobs of one queue displace those of another."""

from __future__ import annotations

import cython

from walltime.core.errors import InputError
from walltime.kernel.jobs import JobTable, require_job  # noqa: F401 - as in queue.pxd
from walltime.policy.preempt import Preempt
from walltime.policy.surroundings import Surroundings


@cython.cclass
class ByQueue(Preempt):
    """By the queues' priorities, or by `ranks` that are given for them."""

    def attach(self, around: Surroundings) -> None:
        queues = around.cluster.queues
        if not queues:
            raise InputError("preempt by queue, but the cluster has no queues")
        for name in self.ranks:
            if name not in queues:
                raise InputError("a rank for a queue that is not there", value=name, choices=list(queues))
        self.of = [self.ranks.get(name, queue.priority) for name, queue in queues.items()]

    def rank(self, jobs, slot):
        require_job(jobs, slot)
        queue: cython.Py_ssize_t = jobs.at[slot].queue
        return self.of[queue] if 0 <= queue < len(self.of) else 0
