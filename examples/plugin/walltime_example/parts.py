"""Parts of a scheduler: an order, a policy and a broker."""

from __future__ import annotations

from walltime.policy.api import Order


class Thrift(Order):
    """Least requested core-time first; a job below `size` core-seconds counts as that size."""

    def __init__(self, size: int = 1) -> None:
        super().__init__()
        self.size = size * 1_000_000  # times in a pass are microseconds

    def key(self, jobs, slot):
        return max(int(jobs.cores[slot]) * int(jobs.requested[slot]), self.size)


def modest(p) -> None:
    """Start jobs in their order as long as they fit; behind one that does not, only jobs of one core may start."""
    for slot in p.waiting():
        if not p.fits(slot):
            break
        p.start(slot)
    for slot in p.waiting():
        if p.cores(slot) == 1 and p.fits(slot):
            p.start(slot)


def emptiest(job, clusters):
    """Send a job to the cluster with the most free cores, the first of equals."""
    return max(clusters, key=lambda cluster: cluster.free)
