"""Dominant resource fairness: first the user whose largest share of a resource is the smallest.

A. Ghodsi, M. Zaharia, B. Hindman, A. Konwinski, S. Shenker, I. Stoica, "Dominant resource fairness: fair allocation of
multiple resource types", NSDI 2011.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import PolicyError
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.jobs import JobTable, require_job, require_jobs
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.policies.fairshare.settings import count_resources
from walltime.policy.api import Order, float_key

USUAL = cython.declare(cython.Py_ssize_t, 3)  # cores, memory and GPUs: the job table has their amounts


@cython.cclass
class DominantShare(Order):
    """Lowest dominant share first: by what the user's jobs hold now, of cores, memory, GPUs, resources with names of
    their own or licences, as a part of what the cluster has, whichever is the largest; ties by order of entry.

    Of one user's waiting jobs each is looked at as if those that entered before it had started: so the order of the
    queue is that in which the shares of all would grow together. Nothing that was used before counts.
    """

    def __init__(self) -> None:
        Order.__init__(self)
        self.dynamic = self.charges = self.joint = True
        self.names = ("cores", "memory", "gpus")
        self.kinds = USUAL
        self.total = np.zeros(3)
        self.held = integers(3 * 64)
        self.users = 64
        self.grows = integers(3 * 64)
        self.ledgers = {}
        self.licences = ()
        self.wanted = {}
        self.made = True
        self.taken = integers(64, -1)  # by slot, the cores that a running job was told to hold

    def attach(self, surroundings):
        if not self.made:
            raise PolicyError("drf: it was never made")
        layout = surroundings.cluster.layout()
        amounts = count_resources(surroundings.cluster)
        for name in () if layout is None else layout.resources():
            amounts.setdefault(name, int(layout.amounts(name).sum()) if name not in ("memory", "gpus") else 0)
        amounts |= {} if layout is None else layout.licences
        usual = ["cores", "memory", "gpus"]
        self.names = tuple(usual + [name for name in amounts if name not in usual])
        self.kinds = len(self.names)
        self.total = np.array([amounts.get(name, 0) for name in self.names], np.float64)
        self.held = integers(self.kinds * self.users)
        self.grows = integers(self.kinds * self.users)
        self.taken[:] = -1
        self.ledgers = surroundings.ledgers
        self.licences = () if layout is None else tuple(layout.licences)
        self.wanted = {}
        return 0

    def named(self, jobs: JobTable, slot):
        """What the job asks for of all that is not in the job table, in the order of `names`; nothing without nodes."""
        x: cython.Py_ssize_t = jobs.at[slot].shape
        where = (jobs.at[slot].cluster, jobs.at[slot].domain)
        if where not in self.ledgers:
            where = (jobs.at[slot].cluster, -1)
        key = (*where, x)
        if key not in self.wanted:
            ledger = self.ledgers.get(where)
            told = {} if x < 0 or not isinstance(ledger, ResourceLedger) else ledger.in_all(x, self.licences)
            self.wanted[key] = [told.get(name, 0) for name in self.names[USUAL:]]
        return self.wanted[key]

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
        return u * self.kinds

    def add(self, jobs: JobTable, slot, cores, sign):
        """The user has so much more, or less; with fewer cores than it asked for a job has less of the rest."""
        at: cython.Py_ssize_t = self.place_of(jobs, slot)
        asked: cython.longlong = jobs.at[slot].cores
        memory: cython.longlong = jobs.at[slot].memory
        gpus: cython.longlong = jobs.at[slot].gpus
        if 0 <= cores < asked:
            memory = memory * cores // asked
            gpus = gpus * cores // asked
        self.held[at] += sign * cores
        self.held[at + 1] += sign * memory
        self.held[at + 2] += sign * gpus
        if self.kinds > USUAL:
            for k, amount in enumerate(self.named(jobs, slot)):
                self.held[at + USUAL + k] += sign * (amount * cores // asked if 0 <= cores < asked else amount)
        return 0

    def share_at(self, amounts, at):
        """The dominant share of the amounts at a place."""
        k: cython.Py_ssize_t
        most: cython.double = 0.0
        one: cython.double
        for k in range(self.kinds):
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
            if self.kinds > USUAL:
                for k, amount in enumerate(self.named(jobs, slot)):
                    self.grows[at + USUAL + k] += amount
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
        for k, name in enumerate(self.names):
            if self.total[k] > 0:
                told[f"{name}_share"] = self.held[at + k] / self.total[k]
        return told
