"""Packing by vectors: each node takes the jobs whose requests are most like what it has free, of the poorest users.

R. Grandl, G. Ananthanarayanan, S. Kandula, S. Rao, A. Akella, "Multi-resource packing for cluster schedulers", SIGCOMM
2014; A. Makogon, "A simulator of a computing cluster", Higher School of Economics 2024, whose rule this is.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import InputError, PolicyError
from walltime.core.time import microseconds
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.ledger.interface import Ledger
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.policies.order.drf import DominantShare
from walltime.policy.api import Pass, Policy, require_open
from walltime.scenario.values import read_size

UNLIMITED = cython.declare(cython.longlong, 1 << 60)  # an amount that is not counted, as in cluster.nodes
CORES = cython.declare(cython.longlong, 0xFFFFFF)  # the part of a share that is its cores, as in Shares
NEAR = cython.declare(cython.double, 1e-9)  # rounding errors in a share of users, and between equal directions

if not cython.compiled:
    from math import ceil, sqrt


@cython.cclass
class Tetris(Policy):
    """Node by node, in order of their numbers: of the users with waiting jobs those with the lowest dominant share, and
    of their first jobs the one whose request points most in the direction of what the node has free; it starts there.
    The turn of a node ends where that job does not fit.

    `fairness`, from 0 to 1, is the part of the users that is left out: of n users max(1, ceil((1 - fairness) n)) are
    looked at, those with the lowest dominant share (see the order `drf`), ties by the places of their first jobs. The
    direction is the cosine between the job's request for a node and the node's free amounts; each is counted in the
    unit that `scale` gives its resource, or else as a part of what the cluster has of it. With `every` a node is asked
    at multiples of so many seconds, and at once where something has become free on it since a job last waited when it
    was asked; else at each pass. A job of several nodes, or of more cores than any node has, starts where the `place`
    part puts it.
    """

    def __init__(self, fairness=0.0, every=0, scale=None) -> None:
        Policy.__init__(self)
        if isinstance(fairness, bool) or not isinstance(fairness, int | float) or not 0 <= fairness <= 1:
            raise InputError("fairness is a number from 0 to 1", value=fairness)
        self.fairness = fairness
        self.every = _read_interval(every)
        self.given = _read_scale(scale)
        self.shares = DominantShare()
        self.charged = self.shares
        self.attached = False
        self.scale = np.zeros(0)
        self.asked = -1
        self.before = integers(0)
        self.line = integers(64)
        self.later = integers(64)  # of each place in the line: that of the same user's next job, or -1
        self.first = integers(16)  # of each user: the place of the first waiting job, or -1
        self.last = integers(16)
        self.rank = integers(16)  # the users, the lowest share first
        self.numbers = {}
        self.users = 0

    def attach(self, surroundings):
        if self.shares is None:
            raise PolicyError("tetris: it was never made")
        layout = surroundings.cluster.layout()
        names = ["cores"] if layout is None else layout.resources()
        for name in self.given:
            if name not in names:
                raise InputError("scale names a resource that no node has", value=name, choices=names)
        units = [self.given.get(name, 0) for name in names]
        for k in range(len(names) if layout is not None else 0):
            amounts = layout.amounts(names[k])
            units[k] = units[k] or float(amounts[amounts < UNLIMITED].sum())
        self.scale = np.array([unit or 1.0 for unit in units], np.float64)
        self.before = integers(0)
        self.asked = -1
        self.attached = True
        return self.shares.attach(surroundings)

    # ---- a pass

    def schedule(self, p: Pass):
        i: cython.Py_ssize_t
        began: cython.Py_ssize_t = require_open(p).decided
        if not self.attached:
            raise PolicyError("tetris: it is attached to no cluster")
        ledger: ResourceLedger = p.raw_ledger if isinstance(p.raw_ledger, ResourceLedger) else None
        nodes: cython.Py_ssize_t = 1 if ledger is None else ledger.n
        if len(self.before) == 0:
            self.before = integers(nodes * len(self.scale), -1)
        due: cython.bint = self.every == 0 or p.now % self.every == 0
        self.list_users(p)
        for i in range(nodes):
            if (due or self.has_more(p.raw_ledger, ledger, i)) and self.fill(p, ledger, i):
                self.remember(p.raw_ledger, ledger, i, False)
        for i in range(nodes):
            self.remember(p.raw_ledger, ledger, i, True)
        for i in range(began, p.decided):  # the engine will say so once the pass is over
            self.count(p, ledger, p.slot[i], -1)
        if self.every > 0 and p.raw_queue.size > 0:
            return self.wake(p)
        return 0

    def wake(self, p: Pass):
        time: cython.longlong = p.now - p.now % self.every + self.every
        if time == self.asked:
            return 0
        self.asked = time
        return p.wake(time)

    def left(self, plain: Ledger, ledger: ResourceLedger, i, r):
        """What node i has free of resource r; -1 where it is not counted. Without a free core it has nothing."""
        at: cython.Py_ssize_t
        if ledger is None:
            return plain.free
        at = i * ledger.timelines.kinds + r
        if ledger.timelines.full[at] >= UNLIMITED:
            return -1
        if ledger.timelines.cap[at - r] <= ledger.timelines.used[at - r]:
            return 0
        return max(ledger.timelines.cap[at] - ledger.timelines.used[at], 0)

    def remember(self, plain: Ledger, ledger: ResourceLedger, i, less):
        """What the node has free once it has been asked; with `less` only what has been taken from it since."""
        r: cython.Py_ssize_t
        at: cython.Py_ssize_t
        left: cython.longlong
        for r in range(len(self.scale)):
            at = i * len(self.scale) + r
            left = self.left(plain, ledger, i, r)
            if not less or left < self.before[at]:
                self.before[at] = left
        return 0

    def has_more(self, plain: Ledger, ledger: ResourceLedger, i):
        """Whether something has become free on the node since it was asked last."""
        r: cython.Py_ssize_t
        kinds: cython.Py_ssize_t = len(self.scale)
        more: cython.bint = False
        for r in range(kinds):
            more |= self.left(plain, ledger, i, r) > self.before[i * kinds + r]
        return more

    # ---- users and their jobs

    def list_users(self, p: Pass):
        """The users whose jobs wait, with the jobs of each in the order of the queue."""
        k: cython.Py_ssize_t
        u: cython.Py_ssize_t
        slots: list = p.waiting() if p.lines is None else self.list_lines(p)
        self.numbers.clear()
        self.users = 0
        while len(self.line) < len(slots):
            self.line = doubled(self.line)
            self.later = doubled(self.later)
        for k in range(len(slots)):
            self.line[k] = slots[k]
            self.later[k] = -1
            u = self.numbers.setdefault(p.jobs.at[self.line[k]].user, self.users)
            if u == self.users:
                self.add_user(k)
            else:
                self.later[self.last[u]] = k
                self.last[u] = k
        return 0

    def list_lines(self, p: Pass):
        """The jobs in the order of several queues, without those at a limit."""
        slot: cython.Py_ssize_t = p.raw_queue.head()
        found: list = []
        while slot >= 0:
            found.append(slot)
            slot = p.raw_queue.behind(slot)
        return found

    def add_user(self, k):
        u: cython.Py_ssize_t = self.users
        if u == len(self.first):
            self.first = doubled(self.first)
            self.last = doubled(self.last)
            self.rank = doubled(self.rank)
        self.first[u] = self.last[u] = k
        self.rank[u] = u
        self.users = u + 1
        return 0

    def goes_before(self, p: Pass, a, b):
        """Whether user a has the lower dominant share, or the same and stands before b."""
        x: cython.double = self.shares.share(p.jobs, self.line[self.first[a]])
        y: cython.double = self.shares.share(p.jobs, self.line[self.first[b]])
        return x < y or (x == y and self.first[a] < self.first[b])

    def rank_users(self, p: Pass):
        """Put those with waiting jobs in order; how many they are."""
        k: cython.Py_ssize_t
        j: cython.Py_ssize_t
        u: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        for k in range(self.users):
            u = self.rank[k]
            while self.first[u] >= 0 and not self.may_start(p, self.first[u]):
                self.first[u] = self.later[self.first[u]]
            if self.first[u] >= 0:
                self.rank[n] = u
                n += 1
        for k in range(1, n):
            u = self.rank[k]
            j = k
            while j > 0 and self.goes_before(p, u, self.rank[j - 1]):
                self.rank[j] = self.rank[j - 1]
                j -= 1
            self.rank[j] = u
        self.users = n
        return n

    def may_start(self, p: Pass, k):
        """Whether the job at this place still waits, and no limit refuses it."""
        return self.line[k] >= 0 and (p.lines is None or p.admits(self.line[k]))

    def first_on(self, p: Pass, ledger: ResourceLedger, u, i):
        """The place of the user's first job that may run on the node at all, or -1."""
        k: cython.Py_ssize_t = self.first[u]
        while k >= 0 and not (self.may_start(p, k) and (ledger is None or ledger.may_use(self.line[k], i))):
            k = self.later[k]
        return k

    # ---- a node

    def fill(self, p: Pass, ledger: ResourceLedger, i):
        """Start jobs on the node until the one whose turn it is does not fit; whether there was one."""
        k: cython.Py_ssize_t = self.pick(p, ledger, i)
        slot: cython.Py_ssize_t
        if k < 0:
            return False
        while k >= 0:
            slot = self.line[k]
            if ledger is None or self.is_spread(ledger, slot):
                if not p.fits(slot):
                    break
                p.start(slot)
            else:
                if not self.has_room(ledger, slot, i) or not p.fits_on(slot, (i,)):
                    break
                p.start_on(slot, (i,))
            self.line[k] = -1
            self.count(p, ledger, slot, 1)
            k = self.pick(p, ledger, i)
        return True

    def count(self, p: Pass, ledger: ResourceLedger, slot, sign):
        """What a job holds that has started in this pass is its user's."""
        k: cython.Py_ssize_t
        cores: cython.longlong = 0
        if ledger is None:
            cores = p.jobs.at[slot].cores
        else:
            mine: cython.p_longlong = ledger.shares.of(slot)
            for k in range(ledger.shares.count(slot)):
                cores += mine[k] & CORES
        return self.shares.add(p.jobs, slot, cores, sign)

    def pick(self, p: Pass, ledger: ResourceLedger, i):
        """The place of the job whose turn it is on the node, or -1."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        many: cython.Py_ssize_t = 0
        best: cython.Py_ssize_t = -1
        like: cython.double
        most: cython.double = -1.0
        users: cython.Py_ssize_t = self.rank_users(p)
        for j in range(users):
            if self.first_on(p, ledger, self.rank[j], i) >= 0:
                n += 1
        many = cython.cast(cython.Py_ssize_t, ceil((1.0 - self.fairness) * n - NEAR))
        if many < 1:
            many = 1
        for j in range(users):
            k = self.first_on(p, ledger, self.rank[j], i)
            if k < 0:
                continue
            like = self.cosine(p, ledger, self.line[k], i)
            if like > most + NEAR:
                most = like
                best = k
            many -= 1
            if many == 0:
                break
        return best

    def want(self, ledger: ResourceLedger, slot, r):
        """What the job wants of a resource on a node: that of all its cores where it asks for cores alone."""
        x: cython.Py_ssize_t = ledger.jobs.at[slot].shape
        each: cython.longlong = ledger.timelines.each[ledger.demand_of[x] * ledger.timelines.kinds + r]
        return each if ledger.nodes_of[x] > 0 else each * ledger.cores_of[x]

    def cosine(self, p: Pass, ledger: ResourceLedger, slot, i):
        """How much the request has the direction of what the node has free; 0 where either is nothing."""
        r: cython.Py_ssize_t
        x: cython.double
        y: cython.double
        left: cython.longlong
        both: cython.double = 0.0
        one: cython.double = 0.0
        other: cython.double = 0.0
        for r in range(len(self.scale)):
            left = self.left(p.raw_ledger, ledger, i, r)
            if left < 0:
                continue
            x = left / self.scale[r]
            y = (p.jobs.at[slot].cores if ledger is None else self.want(ledger, slot, r)) / self.scale[r]
            both += x * y
            one += x * x
            other += y * y
        if one <= 0 or other <= 0:
            return 0.0
        return both / sqrt(one) / sqrt(other)

    def has_room(self, ledger: ResourceLedger, slot, i):
        """Whether so much is free on the node; what is kept there for others is another question."""
        r: cython.Py_ssize_t
        left: cython.longlong
        for r in range(ledger.timelines.kinds):
            left = self.left(ledger, ledger, i, r)
            if 0 <= left < self.want(ledger, slot, r):
                return False
        return True

    def is_spread(self, ledger: ResourceLedger, slot):
        """Whether one node alone can never hold the job."""
        x: cython.Py_ssize_t = ledger.jobs.at[slot].shape
        if ledger.nodes_of[x] > 0:
            return ledger.nodes_of[x] > 1
        return ledger.cores_of[x] > ledger.largest[ledger.set_of[x]]


def _read_interval(every):
    """Microseconds, from seconds."""
    if isinstance(every, bool) or not isinstance(every, int | float) or not 0 <= every < 1e9:
        raise InputError("every is a number of seconds, 0 for each pass", value=every)
    return microseconds(every)


def _read_scale(scale):
    """Units by resource, as numbers; memory also as `1G`."""
    if scale is None:
        return {}
    if not isinstance(scale, dict):
        raise InputError("scale is a mapping from resources to their units", value=scale)
    found = {}
    for name, unit in scale.items():
        try:
            found[str(name)] = float(read_size(unit) if isinstance(unit, str) else unit)
        except (TypeError, ValueError):
            raise InputError(f"scale.{name} is not an amount above zero", value=unit) from None
        if not 0 < found[str(name)] < 1e18:
            raise InputError(f"scale.{name} is not an amount above zero", value=unit)
    return found
