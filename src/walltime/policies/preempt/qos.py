"""Jobs of one quality of service displace those of another."""

from __future__ import annotations

import cython

from walltime.core.errors import InputError
from walltime.kernel.jobs import JobTable, require_job  # noqa: F401 - as in qos.pxd
from walltime.policy.preempt import Preempt
from walltime.policy.surroundings import Surroundings


@cython.cclass
class ByQos(Preempt):
    """By `ranks` of the qualities of service; a job with none, or one that is not named, has the rank 0."""

    def attach(self, around: Surroundings) -> None:
        if not self.ranks:
            raise InputError("preempt by qos needs ranks, such as {urgent: 1, scavenger: -1}")
        self.codes = around.codes["qos"]
        self.of = []

    def rank(self, jobs, slot):
        require_job(jobs, slot)
        code: cython.Py_ssize_t = jobs.at[slot].qos
        if code >= len(self.of):
            self.of = [self.ranks.get(name, 0) for name in self.codes]
        return self.of[code] if 0 <= code < len(self.of) else 0
