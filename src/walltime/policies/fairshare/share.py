"""Fair share of one cluster: who is charged for a job, at which rate, and what factor follows; renewed every so often.

Associations come from the scenario's accounts and from the jobs: whom an account lists exists from the beginning,
all others from their first job on.
"""

from __future__ import annotations

import cython

from walltime.core.errors import PolicyError
from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND as _SECOND
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.jobs import JobTable, require_job
from walltime.kernel.usage import HalfLife, SteppedUsage, Usage  # noqa: F401 - as in share.pxd
from walltime.policies.fairshare.people import ShareLeaves
from walltime.policies.fairshare.resets import next_reset
from walltime.policies.fairshare.samples import Samples
from walltime.policies.fairshare.settings import CHARGES, FairShareSettings
from walltime.policies.fairshare.tree import FORMULAS, ShareTree

NEVER = cython.declare(cython.longlong, _NEVER)
SECOND = cython.declare(cython.double, _SECOND)
CPU, MAX, ROOT, PRODUCT, DOMINANT = range(5)

if not cython.compiled:
    from math import sqrt


def require_share(share):
    """The fair share, where it is that of a cluster; else PolicyError."""
    if share is None or share.tree is None:
        raise PolicyError("fair share: it is attached to no cluster")
    return share


@cython.final
@cython.cclass
class FairShare:
    """The ledger of usage, the tree of shares, and the factors of the last renewal.

    `renew` brings the factors to the last full interval, lazily: before anything is charged that comes later, and
    before a pass. A job of an association that was not there before has them renewed as of its coming.
    """

    def __init__(self, settings: FairShareSettings) -> None:
        self.settings = settings
        self.formula = FORMULAS.index(settings.formula)
        self.kind = CHARGES.index(settings.charge)
        self.interval = settings.interval
        self.dampening = settings.dampening

    def attach(self, surroundings):
        """Get to know the cluster, its accounts and its size; nothing has been used yet."""
        self.renewals = 0
        self.time = -1  # of the state that the factors follow
        self.grown = 0  # when a user joined since; -1 if none did
        self.next_reset = NEVER
        self.found = {}
        self.leaf_of = integers(64)  # of a user or whatever else is charged, and one more, where accounts do not matter
        amounts = self.settings.amounts(surroundings.cluster)
        self.width = len(amounts) if self.kind == DOMINANT else 1
        self.cores = amounts["cores"]
        self.memory = amounts.get("memory", 0)
        self.gpus = amounts.get("gpus", 0)
        self.usage = self.settings.make_usage(self.width)
        self.half = self.usage if isinstance(self.usage, HalfLife) else None
        self.tree = ShareTree(self.width)
        self.people = ShareLeaves(self.tree, self.usage, self.settings.by, surroundings)
        self.samples = Samples(self.interval)
        self.origin = surroundings.origin
        if self.settings.reset != "none":
            self.next_reset = next_reset(self.settings.reset, 0, self.origin)
        for name, seconds in self.settings.usage.items():
            self.load(name, seconds)
        return 0

    def load(self, name, seconds):
        """Put down what a user has used before the beginning, in core-seconds: a user, or `account/user`."""
        self.usage.load(self.tree.charged[self.people.named(name)], 0, seconds)

    def find_leaf(self, jobs: JobTable, slot, now):
        """The leaf that the job is charged to; one that is new changes the factors of all as of `now`."""
        require_job(jobs, slot)
        code: cython.longlong = jobs.at[slot].user
        account: cython.longlong = -1 if self.people.flat else jobs.at[slot].account
        if self.people.kind > 0:
            code = jobs.at[slot].group if self.people.kind == 1 else jobs.at[slot].account
            account = -1
        if account < 0 and 0 <= code < len(self.leaf_of) and self.leaf_of[code] > 0:
            return self.leaf_of[code] - 1
        at: cython.longlong = ((account + 1) << 32) + code + 1
        found = self.found.get(at)
        if found is None:
            before: cython.Py_ssize_t = self.tree.size
            found = self.people.leaf(code, account)
            self.found[at] = found
            if self.tree.size > before and now > self.grown:
                self.grown = now
        if account < 0 <= code:
            while code >= len(self.leaf_of):
                self.leaf_of = doubled(self.leaf_of)
            self.leaf_of[code] = found + 1
        return found

    def renew(self, now):
        """How often the factors have been renewed; they are, if an interval has passed or a user is new."""
        due: cython.longlong = self.due(now)
        if due > self.time or self.grown >= 0:
            self.calculate(due)
        return self.renewals

    def due(self, now):
        """The time whose state the factors follow, if nothing is charged before `now`."""
        due: cython.longlong = now if self.interval == 0 else now - now % self.interval
        if due < self.grown:
            due = self.grown
        return due if due > self.time else self.time

    def calculate(self, time):
        require_share(self)
        self.forget(time)
        self.tree.calculate(self.usage, time, self.formula, self.dampening)
        self.time = time
        self.grown = -1
        self.renewals += 1
        if time >= self.samples.next:
            self.samples.take(time, self.tree)
        return 0

    def forget(self, time):
        """Usage begins at zero again where a reset was due by then."""
        while self.next_reset <= time:
            self.half.reset_at(self.next_reset)
            self.next_reset = next_reset(self.settings.reset, self.next_reset, self.origin)
        return 0

    def catch_up(self, now):
        """Factors that were due before `now` are still to be made of what was before it."""
        require_share(self)
        due: cython.longlong = self.due(now)
        if due < now and (due > self.time or self.grown >= 0):
            self.calculate(due)
        return self.forget(now)

    def started(self, jobs: JobTable, slot, now, cores):
        """The job is charged from now on, for the cores that it holds and the rest that it asks for."""
        self.catch_up(now)
        leaf: cython.Py_ssize_t = self.find_leaf(jobs, slot, now)
        self.set_charge(jobs, slot, cores)
        return self.usage.start(self.tree.charged[leaf], slot, jobs.at[slot].requested, now)

    def stopped(self, jobs: JobTable, slot, now):
        """The job is charged no longer."""
        self.catch_up(now)
        return self.usage.stop(slot, jobs.at[slot].start, now)

    def set_charge(self, jobs: JobTable, slot, cores):
        """The rate, in cores or what is worth as much: parts of the cluster's resources times its cores."""
        c: cython.double = cores / self.cores
        m: cython.double = jobs.at[slot].memory / self.memory if self.memory > 0 else 0.0
        g: cython.double = jobs.at[slot].gpus / self.gpus if self.gpus > 0 else 0.0
        k: cython.Py_ssize_t = 0
        if self.kind == DOMINANT:
            self.usage.set_charge(0, c * self.cores)
            if self.memory > 0:
                k += 1
                self.usage.set_charge(k, m * self.cores)
            if self.gpus > 0:
                k += 1
                self.usage.set_charge(k, g * self.cores)
            return 0
        if self.kind == MAX:
            c = m if m > c else c
        elif self.kind == ROOT:
            c = 1.0 - sqrt((1.0 - c if c < 1 else 0.0) * (1.0 - m if m < 1 else 0.0))
        elif self.kind == PRODUCT:
            c = c * m
        return self.usage.set_charge(0, c * self.cores)

    def history(self):
        """Factors and use over time, for pictures."""
        return self.samples.series(self.tree, self.people.names)

    def table(self):
        """What is known of every node: a row for each, the root first, as a mapping; like Slurm's `sshare`."""
        rows = []
        for node in range(self.tree.size):
            rows.append(
                {
                    "name": self.people.names[node],
                    "parent": self.people.names[self.tree.parent[node]] if node > 0 else None,
                    "leaf": self.tree.charged[node] >= 0,
                    "norm_shares": self.tree.share[node],
                    "usage": self.tree.use[node],
                    "norm_usage": self.tree.use[node] / self.tree.use[0] if self.tree.use[0] > 0 else 0.0,
                    "effective_usage": self.tree.effective[node],
                    "level_fs": self.tree.level[node],
                    "factor": self.tree.factor[node],
                }
            )
        return rows
