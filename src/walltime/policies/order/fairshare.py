"""Fair share as an order: jobs of the user with the least of what is due come first.

D. Klusacek, H. Rudova, "Multi-resource aware fairsharing for heterogeneous systems", JSSPP 2014; Slurm's documentation
of the classic fair-share algorithm and of Fair Tree.
"""

from __future__ import annotations

import cython

from walltime.core.errors import PolicyError
from walltime.core.time import SECOND as _SECOND
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.jobs import JobTable, require_job, require_jobs
from walltime.policies.fairshare.settings import read_settings
from walltime.policies.fairshare.share import FairShare, require_share
from walltime.policy.api import Order, float_key

SECOND = cython.declare(cython.longlong, _SECOND)


@cython.cclass
class FairShareOrder(Order):
    """Lowest use against share first, by one of the formulas `alea`, `classic` and `fair-tree`; ties by order of entry.

    The queue is put in order again every `interval` (60 s for alea, 5 min for the others; 0: before each pass). `by`:
    user, group or account. `charge`: cpu, max, root, product or dominant. Of alea: `decay` (0.75) every
    `decay_interval` (48 h), `temporary` charges of running jobs (true, false, or for how long). Of the others:
    `half_life` (7 d), `reset` (none, daily, weekly, monthly, quarterly, yearly), `dampening` (1). `usage`: earlier use
    by name, in core-seconds.
    """

    def __init__(
        self,
        formula="alea",
        interval=None,
        by=None,
        charge=None,
        decay=None,
        decay_interval=None,
        temporary=None,
        half_life=None,
        reset=None,
        dampening=None,
        usage=None,
    ) -> None:
        Order.__init__(self)
        self.periodic = self.charges = self.remembers = True
        given = {
            "interval": interval,
            "by": by,
            "charge": charge,
            "decay": decay,
            "decay_interval": decay_interval,
            "temporary": temporary,
            "half_life": half_life,
            "reset": reset,
            "dampening": dampening,
            "usage": usage,
        }
        settings = read_settings({name: value for name, value in given.items() if value is not None}, formula)
        self.share = FairShare(settings)
        self.leaf = integers(64)
        self.of_leaf = integers(64)
        self.made = -1

    def attach(self, surroundings):
        self.now = 0
        self.made = -1
        return self.share.attach(surroundings) if self.share is not None else 0

    def set_time(self, now):
        self.now = now
        return 0

    def renew(self, now):
        node: cython.Py_ssize_t
        renewals: cython.longlong = require_share(self.share).renew(now)
        if renewals != self.made:
            self.made = renewals
            while len(self.of_leaf) < self.share.tree.size:
                self.of_leaf = doubled(self.of_leaf)
            for node in range(self.share.tree.size):
                self.of_leaf[node] = float_key(self.share.tree.standing[node])
        return renewals

    def key(self, jobs: JobTable, slot):
        require_job(jobs, slot)
        node: cython.Py_ssize_t = require_share(self.share).find_leaf(jobs, slot, self.now)
        while slot >= len(self.leaf):
            self.leaf = doubled(self.leaf)
        self.leaf[slot] = node
        return self.of_leaf[node] if node < len(self.of_leaf) else 0  # a new one gets its key before the next pass

    def keys(self, jobs: JobTable, slots, now, keys):
        require_jobs(jobs, slots, keys)
        i: cython.Py_ssize_t
        node: cython.Py_ssize_t
        for i in range(len(slots)):
            node = self.leaf[slots[i]] if slots[i] < len(self.leaf) else len(self.of_leaf)
            if node >= len(self.of_leaf):
                raise PolicyError("fairshare: key and renew come before keys")
            keys[i] = self.of_leaf[node]
        return 0

    def started(self, jobs: JobTable, slot, now, cores):
        return require_share(self.share).started(jobs, slot, now, cores)

    def stopped(self, jobs: JobTable, slot, now):
        return require_share(self.share).stopped(jobs, slot, now)

    def parts(self, jobs: JobTable, slot, now):
        """The factor of the last renewal, and what it is made of: use in core-seconds, shares and use of the whole."""
        require_job(jobs, slot)
        node: cython.Py_ssize_t = require_share(self.share).find_leaf(jobs, slot, self.now)
        self.share.renew(self.share.time)  # where nothing has been calculated yet
        all: cython.double = self.share.tree.use[0]
        return {
            "fair_share_factor": self.share.tree.factor[node],
            "shares": self.share.tree.share[node],
            "usage": self.share.tree.use[node],
            "usage_share": self.share.tree.use[node] / all if all > 0 else 0.0,
        }

    def history(self):
        return require_share(self.share).history()
