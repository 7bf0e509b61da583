"""From when on so many nodes have room at once."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import integers
from walltime.kernel.profiles.node_starts import NodeStarts, RoomTimes
from walltime.kernel.profiles.timelines import Timelines

NEVER = cython.declare(cython.longlong, _NEVER)


@cython.final
@cython.cclass
class RoomSweep:
    """A sweep through the times from which on nodes have room for a demand, for so long, before a `limit`.

    Nodes wait in a heap, by `time`: from then on a node has room, or, where that is not `sure`, it has none before. The
    first of them is looked at, if need be, and is then one of those that have room. Once these are enough, each whose
    room may be over by now (`last` is the last start that it is known to serve) is looked at again, and waits again if
    it has lost it. So a node is looked at only if the answer may depend on it.
    """

    def __init__(self, lines: Timelines, starts: NodeStarts, rooms: RoomTimes, nodes) -> None:
        self.timelines = lines
        self.starts = starts
        self.rooms = rooms
        self.time = integers(nodes)
        self.sure = integers(nodes)
        self.last = integers(nodes)
        self.heap = integers(nodes)
        self.key = integers(nodes)
        self.size = 0
        self.has = integers(nodes)
        self.count = 0
        self.slot = self.demand = self.at = 0
        self.known = -1
        self.length = self.limit = 0

    def begin(self, slot, d, length, limit, known):
        """Ask for this job; what is found out is noted in the row of `rooms` that begins at `known`, if not -1."""
        self.slot = slot
        self.demand = d
        self.length = length
        self.limit = limit
        self.known = known
        self.at = self.starts.times(d)
        self.size = self.count = 0
        return 0

    def put(self, first, last, after):
        """Consider these nodes, from `after` on. It is known before when they have no room by what runs there, and by
        what looks have found out: but on its own nodes that does not count, as its hold was in the way."""
        i: cython.Py_ssize_t
        n: cython.Py_ssize_t = self.size
        lines: Timelines = self.timelines
        later: cython.longlong = after if after > lines.now else lines.now + 1
        time: cython.longlong
        for i in range(first, last):
            time = self.starts.time[self.at + i]
            time = after if time < 0 else time if time > later else later
            if self.known >= 0 and self.rooms.time[self.known + i] > time and lines.aside_mark[i] != lines.asides:
                time = self.rooms.time[self.known + i]
            self.time[i] = time
            self.sure[i] = lines.kept_on[i] < 0  # then for good
            self.last[i] = NEVER
            if time < self.limit:
                self.heap[n] = i
                self.key[n] = time
                n += 1
        self.size = n
        return 0

    def first(self, want):
        """The first time at which so many of the nodes have room; NEVER where that is not before the limit."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        if self.size + self.count >= want:
            for k in range((self.size >> 1) - 1, -1, -1):
                self.sink(k)
        while self.size > 0 and self.size + self.count >= want:
            i = self.heap[0]
            if not self.sure[i] and not self.look(i):
                continue
            self.pop()
            self.has[self.count] = i
            self.count += 1
            if self.count >= want and self.check(self.time[i]) >= want:
                return self.time[i]
        return NEVER

    def start_at(self, time):
        """Forget what is before this time."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        self.known = -1
        for k in range(self.count):
            self.heap[self.size] = self.has[k]
            self.size += 1
        self.count = 0
        for k in range(self.size):
            i = self.heap[k]
            if self.time[i] < time:
                self.time[i] = time
                self.sure[i] = self.sure[i] and time <= self.last[i]
            self.key[k] = self.time[i]
        return 0

    # ---- inside

    def look(self, i):
        """Look at the first node of the heap; whether it has room at its time."""
        time: cython.longlong = self.time[i]
        found: cython.longlong = self.search(i, time)
        if (
            self.known >= 0 and self.timelines.aside_mark[i] != self.timelines.asides
        ):  # on its own nodes its hold is in the way
            self.rooms.time[self.known + i] = min(found, self.limit)
        if found == NEVER:
            self.pop()
        elif found > time:
            self.key[0] = found
            self.sink(0)
        return found == time

    def tell(self, i, time):
        """What is known of the node at this time, once that was the answer: 1 that it has room, -1 that it has none."""
        if self.time[i] > time:
            return -1
        return self.sure[i] and time <= self.last[i]

    def search(self, i, time):
        """From when on the node has room, from this time on."""
        found: cython.longlong = self.timelines.first_clear(
            i, self.demand, self.slot, time, self.length, self.limit, self.starts.time[self.at + i]
        )
        self.time[i] = min(found, self.limit)
        self.sure[i] = found < NEVER
        self.last[i] = self.timelines.until
        return found

    def check(self, time):
        """How many of the nodes that had room have it at this time; the others wait again."""
        k: cython.Py_ssize_t = 0
        i: cython.Py_ssize_t
        found: cython.longlong
        while k < self.count:
            i = self.has[k]
            if self.last[i] < time:
                found = self.search(i, time)
                if found > time:
                    self.count -= 1
                    self.has[k] = self.has[self.count]
                    if found < NEVER:
                        self.push(i)
                    continue
            k += 1
        return self.count

    def pop(self):
        self.size -= 1
        self.heap[0] = self.heap[self.size]
        self.key[0] = self.key[self.size]
        return self.sink(0)

    def push(self, i):
        k: cython.Py_ssize_t = self.size
        up: cython.Py_ssize_t
        time: cython.longlong = self.time[i]
        self.size += 1
        while k > 0:
            up = (k - 1) >> 1
            if self.key[up] <= time:
                break
            self.heap[k] = self.heap[up]
            self.key[k] = self.key[up]
            k = up
        self.heap[k] = i
        self.key[k] = time
        return 0

    def sink(self, k):
        i: cython.Py_ssize_t = self.heap[k]
        time: cython.longlong = self.key[k]
        down: cython.Py_ssize_t = 2 * k + 1
        while down < self.size:
            if down + 1 < self.size:
                down += self.key[down + 1] < self.key[down]
            if self.key[down] >= time:
                break
            self.heap[k] = self.heap[down]
            self.key[k] = self.key[down]
            k = down
            down = 2 * k + 1
        self.heap[k] = i
        self.key[k] = time
        return 0
