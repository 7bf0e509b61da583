"""A weighted sum of factors, as Slurm's priority/multifactor: age, association, fair share, size, partition, QOS, TRES.

Every factor is a number from 0 to 1 and has a weight, a whole number; the sum, with the site's factor added and the
nice value taken away, is cut to a whole number from 1 to 2**32 - 1: the priority.
"""

from __future__ import annotations

import cython

from walltime.core.errors import PolicyError
from walltime.kernel.arrays import doubled, doubles, integers
from walltime.kernel.jobs import JobTable, require_job, require_jobs
from walltime.policies.fairshare.share import FairShare
from walltime.policies.order.factors import NAMES, StaticFactors, read_weights, split_fairshare
from walltime.policies.order.job_size import JobSize  # noqa: F401 - as in multifactor.pxd
from walltime.policy.api import Order

MOST = cython.declare(cython.double, (1 << 32) - 1)


@cython.cclass
class Multifactor(Order):
    """Highest weighted sum of factors first, calculated when a job joins and again for all every `interval`.

    `weights`: of age, fairshare, job_size, partition, qos and association (0 where not given). `max_age` (7 d): from
    then on the age counts in full; `accrue_always` counts it from submission, whatever limits (`accruing_jobs`) say. Of
    a job that was put back it counts from then on.
    `favor_small`, `relative_to_time`: job size as in Slurm. `qos`: priorities by name. `tres`: weights of cpu, mem, gpu
    and node. `site`, `nice`: a number, or a formula of the job. `fairshare`: the parameters of fair share (formula, by
    default fair-tree; half_life, ...).
    """

    def __init__(
        self,
        weights=None,
        interval="5m",
        max_age="7d",
        accrue_always=False,
        favor_small=False,
        relative_to_time=False,
        qos=None,
        tres=None,
        site=0,
        nice=0,
        fairshare=None,
    ) -> None:
        Order.__init__(self)
        self.periodic = True
        self.weights = read_weights(weights)
        self.age_weight = self.weights["age"]
        self.share_weight = self.weights["fairshare"]
        self.charges = self.share_weight > 0
        settings = split_fairshare(fairshare, interval)
        self.interval = settings.interval
        self.share = FairShare(settings) if self.charges else None
        self.static = StaticFactors(self.weights, favor_small, relative_to_time, qos, tres, site, nice)
        self.max_age, self.accrue_always = self.static.read_age(max_age, accrue_always)
        self.leaf = integers(64)
        self.since = integers(64)  # from when on a job's age counts
        self.base = doubles(64)
        self.remembers = not self.static.uses("estimate")

    def attach(self, surroundings):
        self.now = 0
        self.time = -1
        self.renewals = 0
        self.accruals = None if self.accrue_always else surroundings.accruals
        self.static.attach(surroundings)
        self.size, self.size_weight = self.static.only_size()
        self.terms = {} if self.static.only_labels() else None
        self.sized = self.static.size if self.weights["job_size"] else None
        if self.share is not None:
            self.share.attach(surroundings)
        return 0

    def set_time(self, now):
        self.now = now
        return 0

    def renew(self, now):
        due: cython.longlong
        if self.share is not None:
            self.renewals = self.share.renew(now)
            self.time = self.share.time
            return self.renewals
        due = now if self.interval == 0 else now - now % self.interval
        if due > self.time:
            self.time = due
            self.renewals += 1
        return self.renewals

    def key(self, jobs: JobTable, slot):
        require_job(jobs, slot)
        if self.static is None:
            raise PolicyError("multifactor: it was never made")
        while slot >= len(self.base):
            self.leaf = doubled(self.leaf)
            self.since = doubled(self.since)
            self.base = doubled(self.base)
        if self.size is not None:
            self.base[slot] = self.size.of(jobs, slot) * self.size_weight
        elif self.terms is not None:
            self.base[slot] = self.sum_up(jobs, slot)
        else:
            self.base[slot] = self.static.sum(jobs, slot)
        self.since[slot] = self.now
        self.since[slot] = self.begin(jobs, slot)  # of a job that was put back that very time
        if self.share is not None:
            self.leaf[slot] = self.share.find_leaf(jobs, slot, self.now)
        return -self.priority(slot)

    def sum_up(self, jobs: JobTable, slot):
        """The sum of the factors that stay as they are, where but for the size labels tell them: the same terms are
        added in the same order."""
        total: cython.double = 0.0
        term: cython.double
        labels = (jobs.at[slot].queue, jobs.at[slot].qos, jobs.at[slot].account, jobs.at[slot].user)
        found: tuple = self.terms.get(labels)
        if found is None:
            found = self.terms[labels] = self.static.split(jobs, slot)
        for term in found[0]:
            total += term
        if self.sized is not None:
            total += self.sized.of(jobs, slot) * self.weights["job_size"]
        for term in found[1]:
            total += term
        return total

    def keys(self, jobs: JobTable, slots, now, keys):
        require_jobs(jobs, slots, keys)
        i: cython.Py_ssize_t
        room: cython.Py_ssize_t = len(self.base)
        for i in range(len(slots)):
            if slots[i] >= room or (self.share is not None and self.share.tree is None):
                raise PolicyError("multifactor: attach and key come before keys")
            if self.accruals is not None:
                since = self.accruals.since(slots[i])
                self.since[slots[i]] = self.since[slots[i]] if since is None else since
            keys[i] = -self.priority(slots[i])
        return 0

    def priority(self, slot):
        """The priority at the last renewal, of a job whose key was asked for."""
        value: cython.double = self.age_weight * find_age(self.time - self.since[slot], self.max_age)
        if self.share is not None:
            value += self.share_weight * self.share.tree.factor_of(self.leaf[slot])
        value += self.base[slot]
        if not value >= 1.0:
            return 1
        return cython.cast(cython.longlong, value if value < MOST else MOST)

    def begin(self, jobs: JobTable, slot):
        """From when on the job's age counts; that stays as it is while it waits, unless a limit is on it."""
        if self.accruals is not None:
            since = self.accruals.since(slot)
            if since is not None:
                return since
        if jobs.at[slot].attempt > 0 and slot < len(self.since):  # else its key was never asked for
            return self.since[slot]
        return jobs.at[slot].submit if self.accrue_always else jobs.at[slot].eligible

    def started(self, jobs: JobTable, slot, now, cores):
        return 0 if self.share is None else self.share.started(jobs, slot, now, cores)

    def stopped(self, jobs: JobTable, slot, now):
        return 0 if self.share is None else self.share.stopped(jobs, slot, now)

    def factors(self, jobs: JobTable, slot):
        """Every factor and its weight, as {name: (factor, weight)}, at the last renewal; like Slurm's `sprio`."""
        require_job(jobs, slot)
        found = {"age": (find_age(self.time - self.begin(jobs, slot), self.max_age), self.age_weight)}
        if self.share is not None:
            self.share.renew(self.share.time)  # where nothing has been calculated yet
            found["fairshare"] = (
                self.share.tree.factor[self.share.find_leaf(jobs, slot, self.now)],
                self.share_weight,
            )
        else:
            found["fairshare"] = (0.0, 0.0)
        found |= self.static.factors(jobs, slot)
        return {name: found[name] for name in (*NAMES, *found) if name in found}

    def parts(self, jobs: JobTable, slot, now):
        """The priority, and by how much each factor adds to it; with `NAME.factor` and `NAME.weight` of each."""
        require_job(jobs, slot)
        parts = {"priority": 0.0}
        total: cython.double = 0.0
        for name, (factor, weight) in self.factors(jobs, slot).items():
            parts[name] = factor * weight
            parts[f"{name}.factor"] = factor
            parts[f"{name}.weight"] = weight
            total += factor * weight
        parts["priority"] = float(min(max(int(total), 1), int(MOST)))
        return parts

    def history(self):
        return {} if self.share is None else self.share.history()


def find_age(age, most):
    """The age factor of a job that has waited so long (microseconds)."""
    if age <= 0:
        return 0.0
    if age >= most:
        return 1.0
    return cython.cast(cython.double, age) / cython.cast(cython.double, most)
