"""Max-min fair shares: how fast each of many flows gets on, where they use the same resources.

A flow has a rate. On each of its resources it takes the rate times a coefficient. Rates rise together, each in
proportion to its flow's weight, until a flow reaches its own bound or one of its resources is used up; the others rise
on. So a flow has at its end a *bottleneck*: its bound, or a resource that is used up and on which no flow has a higher
level (rate over weight). An allocation in which every flow has one is the only max-min fair one (Bertsekas and
Gallager, "Data Networks", 1992, section 6.5.2).

That makes it exact to look only where something changed. A resource that is no flow's bottleneck passes no change on.
So a solution begins with the flows that are new or that shared a bottleneck with one that has gone, and with all that
are tied to those through bottlenecks. Other flows keep their rates, and what they use of a resource is taken off it.
Where the solution saturates a resource on which one of those others has a higher level, that one is no longer at its
bottleneck: it is included, and the solution begins again.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.kernel.arrays import doubled, doubles, integers

RESOURCE = ("first", "count", "open", "seen", "whole", "tight", "dirty", "curve", "updates")
FLOW = ("first", "mark", "fixed", "active")
USE = ("flow", "resource", "next", "after", "behind")
"""The whole numbers of ResourceFields, FlowFields and UseFields in sharing.pxd, in their order, after the others."""

INFINITE = cython.declare(cython.double, float("inf"))
CLOSE = cython.declare(cython.double, 1e-12)
"""Levels that differ by less, in relation to each other, are the same."""
OFTEN = cython.declare(cython.longlong, 1024)
"""After so many small changes the use of a resource is summed again."""


@cython.final
@cython.cclass
class FairShares:
    """Flows over resources. The caller numbers the flows: `open`, `use_resource` for each resource, `start`; later
    `stop` and `drop`. After `settle` the rates are right, and the first `changes` of `changed` are the flows that have
    another than before.

    Of a resource: `tight`, it is the bottleneck of a flow; `usage`, the sum of what its active flows take. While a
    group of flows is solved: `left` is what is not yet taken, `weight` the sum over the `open` flows that may rise.
    """

    def __init__(self) -> None:
        self.resources = _table(16, ("capacity", "usage", "left", "weight"), RESOURCE)
        self.flows = _table(16, ("weight", "bound", "rate", "before", "share"), FLOW)
        self.uses = _table(64, ("coefficient",), USE)
        self.size = self.uses_made = 0
        self.spare_use = -1
        self.curves = []
        self.dirty = integers(16)
        self.waiting = integers(64)
        self.group = integers(64)
        self.touched = integers(64)
        self.changed = integers(64)
        self.key = doubles(64)
        self.item = integers(64)
        self.dirties = self.waits = self.grouped = self.expanded = self.touches = self.heaped = self.changes = 0
        self.epoch = self.round = 0
        self.view()

    def view(self) -> None:
        """The tables as they are now: after one has grown."""
        if not cython.compiled:
            self.resources, self.flows, self.uses = (
                table.view(np.recarray) for table in (self.resources, self.flows, self.uses)
            )
        self.resource = self.resources
        self.flow = self.flows
        self.use = self.uses

    # ---- resources

    def add_resource(self, capacity, curve=None):
        """One more resource; its number. With a `curve` it has curve[k - 1] times its capacity while k flows use it,
        the last value for more."""
        r: cython.Py_ssize_t = self.size
        if r == len(self.resource):
            self.resources = doubled(self.resources)
            self.view()
        self.resource[r].capacity = capacity
        self.resource[r].first = -1
        self.resource[r].curve = -1
        if curve is not None:
            self.resource[r].curve = len(self.curves)
            self.curves.append(tuple(curve))
        self.size += 1
        return r

    def set_capacity(self, r, capacity):
        """The resource has another capacity from now on."""
        self.resource[r].capacity = capacity
        return self.mark_dirty(r)

    def room(self, r):
        """What the resource has for the flows that use it now."""
        k: cython.Py_ssize_t
        if self.resource[r].curve < 0:
            return self.resource[r].capacity
        curve: tuple = self.curves[self.resource[r].curve]
        k = self.resource[r].count
        k = len(curve) if k > len(curve) else k if k > 0 else 1
        return self.resource[r].capacity * cython.cast(cython.double, curve[k - 1])

    def mark_dirty(self, r):
        """All flows of the resource are to be looked at again."""
        if self.resource[r].dirty == 0:
            self.resource[r].dirty = 1
            if self.dirties == len(self.dirty):
                self.dirty = doubled(self.dirty)
            self.dirty[self.dirties] = r
            self.dirties += 1
        return 0

    # ---- flows

    def open(self, f, weight, bound):
        """A flow of this number, without resources, not yet active."""
        while f >= len(self.flow):
            self.flows = doubled(self.flows)
            self.view()
        self.flow[f].weight = weight
        self.flow[f].bound = bound
        self.flow[f].rate = 0.0
        self.flow[f].first = -1
        self.flow[f].active = 0
        return 0

    def use_resource(self, f, r, coefficient):
        """The flow, once it is active, takes so much of the resource for each unit of its rate."""
        u: cython.Py_ssize_t = self.spare_use
        if u >= 0:
            self.spare_use = self.use[u].next
        else:
            if self.uses_made == len(self.use):
                self.uses = doubled(self.uses)
                self.view()
            u = self.uses_made
            self.uses_made += 1
        self.use[u].coefficient = coefficient
        self.use[u].flow = f
        self.use[u].resource = r
        self.use[u].next = self.flow[f].first
        self.flow[f].first = u
        return 0

    def start(self, f):
        """The flow is active from now on."""
        u: cython.Py_ssize_t = self.flow[f].first
        r: cython.Py_ssize_t
        self.flow[f].active = 1
        while u >= 0:
            r = self.use[u].resource
            self.use[u].after = self.resource[r].first
            self.use[u].behind = -1
            if self.resource[r].first >= 0:
                self.use[self.resource[r].first].behind = u
            self.resource[r].first = u
            self.resource[r].count += 1
            if self.resource[r].curve >= 0:
                self.mark_dirty(r)
            u = self.use[u].next
        if self.waits == len(self.waiting):
            self.waiting = doubled(self.waiting)
        self.waiting[self.waits] = f
        self.waits += 1
        return 0

    def stop(self, f):
        """The flow is no longer active. What was tied to it by a bottleneck may rise."""
        u: cython.Py_ssize_t = self.flow[f].first
        r: cython.Py_ssize_t
        if self.flow[f].active == 0:
            return 0
        while u >= 0:
            r = self.use[u].resource
            if self.use[u].behind >= 0:
                self.use[self.use[u].behind].after = self.use[u].after
            else:
                self.resource[r].first = self.use[u].after
            if self.use[u].after >= 0:
                self.use[self.use[u].after].behind = self.use[u].behind
            self.resource[r].count -= 1
            self.resource[r].usage -= self.use[u].coefficient * self.flow[f].rate
            if self.resource[r].count == 0:
                self.resource[r].usage = 0.0
                self.resource[r].tight = 0
            elif self.resource[r].tight or self.resource[r].curve >= 0:
                self.mark_dirty(r)
            u = self.use[u].next
        self.flow[f].active = 0
        self.flow[f].rate = 0.0
        return 0

    def drop(self, f):
        """The number may be used for another flow."""
        u: cython.Py_ssize_t = self.flow[f].first
        following: cython.Py_ssize_t
        self.stop(f)
        while u >= 0:
            following = self.use[u].next
            self.use[u].next = self.spare_use
            self.spare_use = u
            u = following
        self.flow[f].first = -1
        return 0

    def rate_of(self, f):
        """What the flow does in a second, as of the last `settle`."""
        return self.flow[f].rate

    # ---- which flows

    def settle(self):
        """Make the rates right again; how many have changed."""
        k: cython.Py_ssize_t
        r: cython.Py_ssize_t
        self.changes = 0
        if self.waits == 0 and self.dirties == 0:
            return 0
        self.epoch += 1
        self.grouped = self.expanded = 0
        for k in range(self.waits):
            if self.flow[self.waiting[k]].active:
                self.take(self.waiting[k])
        for k in range(self.dirties):
            self.resource[self.dirty[k]].dirty = 0
            self.take_all(self.dirty[k])
        self.waits = self.dirties = 0
        self.expand()
        r = self.solve()
        while r >= 0:
            self.take_all(r)
            self.expand()
            r = self.solve()
        self.apply()
        return self.changes

    def take(self, f):
        """The flow is one of those that are solved."""
        if self.flow[f].mark != self.epoch:
            self.flow[f].mark = self.epoch
            if self.grouped == len(self.group):
                self.group = doubled(self.group)
            self.group[self.grouped] = f
            self.grouped += 1
        return 0

    def take_all(self, r):
        """All flows of the resource are."""
        u: cython.Py_ssize_t = self.resource[r].first
        if self.resource[r].whole != self.epoch:
            self.resource[r].whole = self.epoch
            while u >= 0:
                self.take(self.use[u].flow)
                u = self.use[u].after
        return 0

    def expand(self):
        """So are all that share a bottleneck with one that is."""
        u: cython.Py_ssize_t
        while self.expanded < self.grouped:
            u = self.flow[self.group[self.expanded]].first
            self.expanded += 1
            while u >= 0:
                if self.resource[self.use[u].resource].tight:
                    self.take_all(self.use[u].resource)
                u = self.use[u].next
        return 0

    # ---- their rates

    def solve(self):
        """Raise the flows of the group together; -1, or a resource whose other flows belong to the group as well."""
        number: cython.longlong
        r: cython.Py_ssize_t
        level: cython.double
        least: cython.double
        self.prepare()
        while self.heaped > 0:
            least = self.key[0]
            number = self.item[0]
            self.sink()
            if number < 0:
                if self.flow[-1 - number].fixed == 0:
                    self.fix(-1 - number, self.flow[-1 - number].bound)
                continue
            r = number
            if self.resource[r].open == 0:
                continue
            level = self.resource[r].left / self.resource[r].weight if self.resource[r].weight > 0 else 0.0
            if level <= least * (1 + CLOSE):
                level = self.recount(r)
            if level > least * (1 + CLOSE):  # flows that rise no more have left it more
                self.push(level, r)
            elif self.saturate(r, level) >= 0:
                return r
        return -1

    def prepare(self):
        """What each resource has for the group, and at which level it, or a flow's bound, would be reached."""
        k: cython.Py_ssize_t
        f: cython.Py_ssize_t
        r: cython.Py_ssize_t
        u: cython.Py_ssize_t
        self.round += 1
        self.touches = self.heaped = 0
        for k in range(self.grouped):
            f = self.group[k]
            self.flow[f].fixed = 0
            self.flow[f].share = 0.0
            if self.flow[f].bound < INFINITE:
                self.push(self.flow[f].bound / self.flow[f].weight, -1 - f)
            u = self.flow[f].first
            if u < 0 and self.flow[f].bound == INFINITE:
                self.flow[f].fixed = 1
                self.flow[f].share = INFINITE
            while u >= 0:
                r = self.use[u].resource
                if self.resource[r].seen != self.round:
                    self.resource[r].seen = self.round
                    self.resource[r].tight = 0
                    self.resource[r].open = 0
                    self.resource[r].weight = 0.0
                    self.resource[r].left = self.room(r) - self.resource[r].usage
                    if self.touches == len(self.touched):
                        self.touched = doubled(self.touched)
                    self.touched[self.touches] = r
                    self.touches += 1
                self.resource[r].open += 1
                self.resource[r].weight += self.use[u].coefficient * self.flow[f].weight
                self.resource[r].left += self.use[u].coefficient * self.flow[f].rate
                u = self.use[u].next
        for k in range(self.touches):
            r = self.touched[k]
            if self.resource[r].open == self.resource[r].count or self.resource[r].left < 0:
                self.recount(r)
            self.push(self.resource[r].left / self.resource[r].weight, r)
        return 0

    def recount(self, r):
        """`left` and `weight` of the resource by its flows, one by one; the level at which it is used up."""
        u: cython.Py_ssize_t = self.resource[r].first
        f: cython.Py_ssize_t
        left: cython.double = self.room(r)
        weight: cython.double = 0.0
        while u >= 0:
            f = self.use[u].flow
            if self.flow[f].mark != self.epoch:
                left -= self.use[u].coefficient * self.flow[f].rate
            elif self.flow[f].fixed:
                left -= self.use[u].coefficient * self.flow[f].share
            else:
                weight += self.use[u].coefficient * self.flow[f].weight
            u = self.use[u].after
        self.resource[r].left = left if left > 0 else 0.0
        self.resource[r].weight = weight
        return self.resource[r].left / weight

    def saturate(self, r, level):
        """The resource is used up at this level: its flows rise no more. Where one outside the group is higher, r."""
        u: cython.Py_ssize_t = self.resource[r].first
        f: cython.Py_ssize_t
        while u >= 0:
            f = self.use[u].flow
            if self.flow[f].mark != self.epoch and self.flow[f].rate > level * self.flow[f].weight * (1 + CLOSE):
                return r
            u = self.use[u].after
        self.resource[r].tight = 1
        u = self.resource[r].first
        while u >= 0:
            f = self.use[u].flow
            if self.flow[f].mark == self.epoch and self.flow[f].fixed == 0:
                self.fix(f, level * self.flow[f].weight)
            u = self.use[u].after
        return -1

    def fix(self, f, rate):
        """The flow has its rate."""
        u: cython.Py_ssize_t = self.flow[f].first
        r: cython.Py_ssize_t
        self.flow[f].fixed = 1
        self.flow[f].share = rate
        while u >= 0:
            r = self.use[u].resource
            self.resource[r].left -= self.use[u].coefficient * rate
            if self.resource[r].left < 0:
                self.resource[r].left = 0.0
            self.resource[r].weight -= self.use[u].coefficient * self.flow[f].weight
            self.resource[r].open -= 1
            u = self.use[u].next
        return 0

    def apply(self):
        """The group's new rates are those that hold."""
        k: cython.Py_ssize_t
        f: cython.Py_ssize_t
        u: cython.Py_ssize_t
        r: cython.Py_ssize_t
        change: cython.double
        while self.grouped > len(self.changed):
            self.changed = doubled(self.changed)
        for k in range(self.grouped):
            f = self.group[k]
            if self.flow[f].share == self.flow[f].rate:
                continue
            change = self.flow[f].share - self.flow[f].rate
            self.flow[f].before = self.flow[f].rate
            self.flow[f].rate = self.flow[f].share
            u = self.flow[f].first
            while u >= 0:
                r = self.use[u].resource
                self.resource[r].usage += self.use[u].coefficient * change
                self.resource[r].updates += 1
                if self.resource[r].updates > OFTEN:
                    self.refresh(r)
                u = self.use[u].next
            self.changed[self.changes] = f
            self.changes += 1
        return 0

    def refresh(self, r):
        """Sum up what the resource's flows use: a sum of many small changes drifts away."""
        u: cython.Py_ssize_t = self.resource[r].first
        f: cython.Py_ssize_t
        total: cython.double = 0.0
        while u >= 0:
            f = self.use[u].flow
            total += self.use[u].coefficient * self.flow[f].rate
            u = self.use[u].after
        self.resource[r].usage = total
        self.resource[r].updates = 0
        return 0

    # ---- a heap of levels

    def push(self, key, item):
        i: cython.Py_ssize_t = self.heaped
        p: cython.Py_ssize_t
        if i == len(self.key):
            self.key = doubled(self.key)
            self.item = doubled(self.item)
        self.heaped += 1
        while i > 0:
            p = (i - 1) >> 1
            if self.key[p] <= key:
                break
            self.key[i] = self.key[p]
            self.item[i] = self.item[p]
            i = p
        self.key[i] = key
        self.item[i] = item
        return 0

    def sink(self):
        """Take off the first."""
        i: cython.Py_ssize_t = 0
        c: cython.Py_ssize_t
        self.heaped -= 1
        n: cython.Py_ssize_t = self.heaped
        key: cython.double = self.key[n]
        item: cython.longlong = self.item[n]
        while True:
            c = 2 * i + 1
            if c >= n:
                break
            if c + 1 < n and self.key[c + 1] < self.key[c]:
                c += 1
            if self.key[c] >= key:
                break
            self.key[i] = self.key[c]
            self.item[i] = self.item[c]
            i = c
        self.key[i] = key
        self.item[i] = item
        return 0


def _table(size, reals, wholes):
    return np.zeros(size, [*((name, np.float64) for name in reals), *((name, np.int64) for name in wholes)])
