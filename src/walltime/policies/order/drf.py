"""Dominant resource fairness: the user comes first that holds the least, of the resource of which it holds the most.

A. Ghodsi, M. Zaharia, B. Hindman, A. Konwinski, S. Shenker, I. Stoica, "Dominant resource fairness: fair allocation of
multiple resource types", NSDI 2011.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import PolicyError
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.jobs import JobTable, require_job, require_jobs
from walltime.policies.fairshare.settings import count_resources
from walltime.policy.api import Order, float_key

KINDS = cython.declare(cython.Py_ssize_t, 3)  # cores, memory and GPUs


@cython.cclass
class DominantShare(Order):
    """Lowest dominant share first: by what the user's jobs hold now, of cores, memory or GPUs as a part of what the
    cluster has, whichever is the largest; ties by order of entry.

    Of one user's waiting jobs each is looked at as if those that entered before it had started: so the order of the
    queue is that in which the shares of all would grow together. Nothing that was used before counts.
    """

    def __init__(self) -> None:
        Order.__init__(self)
        self.dynamic = self.charges = self.joint = True
        self.total = np.zeros(3)
        self.held = integers(3 * 64)
        self.users = 64
        self.grows = integers(3 * 64)
        self.made = True
        self.taken = integers(64, -1)  # by slot, the cores that a running job was told to hold

    def attach(self, surroundings):
        if not self.made:
            raise PolicyError("drf: it was never made")
        amounts = count_resources(surroundings.cluster)
        self.total = np.array([amounts.get(name, 0) for name in ("cores", "memory", "gpus")], np.float64)
        self.held[:] = 0
        self.taken[:] = -1
        return 0

    def require_made(self, jobs: JobTable, slot):
        """Raise unless there is a job, and somewhere to count it."""
        if not self.made:
            raise PolicyError("drf: it was never made")
        return require_job(jobs, slot)

    def place_of(self, jobs: JobTable, slot):
        """Where the user's amounts are; jobs without a user are those of one."""
        u: cython.Py_ssize_t = jobs.at[slot].user + 1
        while u >= self.users:
            self.held = doubled(self.held)
            self.grows = doubled(self.grows)
            self.users *= 2
        return u * KINDS

    def add(self, jobs: JobTable, slot, cores, sign):
        """The user has so much more, or less."""
        at: cython.Py_ssize_t = self.place_of(jobs, slot)
        self.held[at] += sign * cores
        self.held[at + 1] += sign * jobs.at[slot].memory
        self.held[at + 2] += sign * jobs.at[slot].gpus
        return 0

    def share_at(self, amounts, at):
        """The dominant share of the amounts at a place."""
        k: cython.Py_ssize_t
        most: cython.double = 0.0
        one: cython.double
        for k in range(KINDS):
            if self.total[k] > 0:
                one = amounts[at + k] / self.total[k]
                if one > most:
                    most = one
        return most

    def share(self, jobs: JobTable, slot):
        """The dominant share of the job's user now."""
        self.require_made(jobs, slot)
        return self.share_at(self.held, self.place_of(jobs, slot))

    def keys(self, jobs: JobTable, slots, now, keys):
        require_jobs(jobs, slots, keys)
        if not self.made:
            raise PolicyError("drf: it was never made")
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        seqs: cython.longlong[::1] = integers(len(slots))
        turn: cython.longlong[::1]
        for i in range(len(slots)):
            self.place_of(jobs, slots[i])
            seqs[i] = jobs.at[slots[i]].seq
        turn = np.argsort(seqs, kind="stable")
        self.grows[:] = self.held
        for i in range(len(slots)):
            slot = slots[turn[i]]
            at = self.place_of(jobs, slot)
            keys[turn[i]] = float_key(self.share_at(self.grows, at))
            self.grows[at] += jobs.at[slot].cores
            self.grows[at + 1] += jobs.at[slot].memory
            self.grows[at + 2] += jobs.at[slot].gpus
        return 0

    def started(self, jobs: JobTable, slot, now, cores):
        self.require_made(jobs, slot)
        while slot >= len(self.taken):
            self.taken = np.concatenate([self.taken, integers(len(self.taken), -1)])
        if self.taken[slot] >= 0:
            raise PolicyError(f"drf: job {jobs.at[slot].job_id} has started already")
        self.taken[slot] = cores
        return self.add(jobs, slot, cores, 1)

    def stopped(self, jobs: JobTable, slot, now):
        self.require_made(jobs, slot)
        if slot >= len(self.taken) or self.taken[slot] < 0:
            raise PolicyError(f"drf: job {jobs.at[slot].job_id} stops without having started")
        self.add(jobs, slot, self.taken[slot], -1)
        self.taken[slot] = -1
        return 0

    def parts(self, jobs: JobTable, slot, now):
        """The user's dominant share, and its parts."""
        self.require_made(jobs, slot)
        at: cython.Py_ssize_t = self.place_of(jobs, slot)
        told = {"dominant_share": self.share_at(self.held, at)}
        for k, name in enumerate(("cores_share", "memory_share", "gpus_share")):
            if self.total[k] > 0:
                told[name] = self.held[at + k] / self.total[k]
        return told
