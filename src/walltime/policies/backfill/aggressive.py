"""Aggressive backfilling: whatever fits, starts; nothing is reserved, so wide jobs may starve."""

from __future__ import annotations

import cython

from walltime.policy.api import Pass, Policy


@cython.cclass
class Aggressive(Policy):
    """Go through the queue in order and start every job that fits, without any reservation."""

    def schedule(self, p: Pass):
        slot: cython.Py_ssize_t = p.candidate(-1)
        while slot >= 0:
            p.start(slot)
            slot = p.candidate(-1)
        return 0
