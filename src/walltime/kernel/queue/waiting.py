"""Waiting jobs in order, new ones at the tail."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.jobs import JobTable, Place
from walltime.kernel.queue.index import Entries, QueueIndex
from walltime.kernel.queue.sorting import Sorter

NEVER = cython.declare(cython.longlong, _NEVER)
FEW = cython.declare(cython.Py_ssize_t, 32)  # jobs that are put in order one by one; more are merged
ENTRY = cython.declare(cython.Py_ssize_t, 4)  # as in the index

if not cython.compiled:
    LINE, OUTSIDE = Place.LINE, Place.OUTSIDE


@cython.cclass
class Queue:
    """Waiting jobs by (key, seq), lower first: what a pass and a policy's shortcuts may ask.

    `shuffled` tells that keys have been renewed since the last pass; the jobs that joined since then are noted.
    """

    def __init__(self, jobs: JobTable) -> None:
        self.jobs = jobs
        self.size = 0
        self.fixed = False  # whether each job keeps its key while it waits
        self.shuffled = False
        self.recent = integers(FEW)
        self.recent_seq = integers(FEW)
        self.recents = 0
        self.buffer = integers(64)
        self.spare = integers(64)

    def push(self, slot):
        """Put a waiting job in."""
        raise NotImplementedError(f"{type(self).__name__}.push")

    def remove(self, slot):
        """Take a job out, wherever it stands; KeyError where it does not."""
        raise NotImplementedError(f"{type(self).__name__}.remove")

    def head(self):
        """The first job, or -1."""
        raise NotImplementedError(f"{type(self).__name__}.head")

    def next(self, slot):
        """The job behind this one (which may have left already), or -1."""
        raise NotImplementedError(f"{type(self).__name__}.next")

    def find(self, free, extra, window, after, longest):
        """The first job behind `after` (-1: from the head) with cores <= extra, or with cores <= free and an estimate
        of at most `window`, and in any case one of at most `longest`; -1 where there is none."""
        raise NotImplementedError(f"{type(self).__name__}.find")

    def reorder(self):
        """The keys have changed: sort everything again."""
        raise NotImplementedError(f"{type(self).__name__}.reorder")

    def room(self):
        """An array for a key of each job, in the order of `ordered`, which `rekey` takes up."""
        while len(self.spare) <= self.size:
            self.spare = doubled(self.spare)
        return self.spare

    def rekey(self):
        """The jobs, as `ordered` told them last, have the keys in `room` now; whether some have changed places."""
        raise NotImplementedError(f"{type(self).__name__}.rekey")

    def slots(self) -> list:
        """Everything that waits here, in order."""
        raise NotImplementedError(f"{type(self).__name__}.slots")

    def ordered(self):
        """The slots in order, and -1 behind them, in an array that the next call may overwrite."""
        n: cython.Py_ssize_t = 0
        slots = self.slots()
        while len(self.buffer) <= len(slots):
            self.buffer = doubled(self.buffer)
        for slot in slots:
            self.buffer[n] = slot
            n += 1
        self.buffer[n] = -1
        return self.buffer

    def leading(self, many, slots):
        """Write the first so many jobs, in order, to `slots`, which has room for them; how many there are."""
        n: cython.Py_ssize_t = 0
        slot: cython.Py_ssize_t = self.head()
        while slot >= 0 and n < many:
            slots[n] = slot
            n += 1
            slot = self.next(slot)
        return n

    def note(self, slot):
        """The job has joined since the last pass."""
        if self.recents == len(self.recent):
            self.recent = doubled(self.recent)
            self.recent_seq = doubled(self.recent_seq)
        self.recent[self.recents] = slot
        self.recent_seq[self.recents] = self.jobs.at[slot].seq
        self.recents += 1
        return 0

    def fresh(self, i):
        """The i-th job that joined since the last pass, in order: its slot, -1 if it has left, -2 behind the last.
        To be asked while they are `known`."""
        slot: cython.Py_ssize_t
        if i >= self.recents:
            return -2
        slot = self.recent[i]
        gone: cython.bint = self.jobs.at[slot].seq != self.recent_seq[i] or self.jobs.at[slot].place == OUTSIDE
        return -1 if gone else slot

    def known(self):
        """Whether `fresh` tells the jobs that joined since the last pass in order: not where keys have been renewed."""
        if self.shuffled:
            return False
        self.sort_recent(0, self.recents)
        return True

    def sort_recent(self, begin, end):
        """Put these of the jobs that joined in order; mostly they are already."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        middle: cython.Py_ssize_t = begin + (end - begin) // 2
        if end - begin > FEW:
            self.sort_recent(begin, middle)
            self.sort_recent(middle, end)
            if self.precedes(self.recent[middle], self.recent[middle - 1]):
                self.merge_recent(begin, middle, end)
            return 0
        for i in range(begin + 1, end):
            slot = self.recent[i]
            seq: cython.longlong = self.recent_seq[i]
            k = i
            while k > begin and self.precedes(slot, self.recent[k - 1]):
                self.recent[k] = self.recent[k - 1]
                self.recent_seq[k] = self.recent_seq[k - 1]
                k -= 1
            self.recent[k] = slot
            self.recent_seq[k] = seq
        return 0

    def merge_recent(self, begin, middle, end):
        """Two stretches that are in order become one."""
        slots: cython.longlong[::1] = np.array(self.recent[begin:middle])
        seqs: cython.longlong[::1] = np.array(self.recent_seq[begin:middle])
        i: cython.Py_ssize_t = 0
        k: cython.Py_ssize_t = middle
        to: cython.Py_ssize_t = begin
        while i < len(slots):  # the rest of the second stretch is where it belongs
            if k < end and self.precedes(self.recent[k], slots[i]):
                self.recent[to] = self.recent[k]
                self.recent_seq[to] = self.recent_seq[k]
                k += 1
            else:
                self.recent[to] = slots[i]
                self.recent_seq[to] = seqs[i]
                i += 1
            to += 1
        return 0

    def quiet(self, last):
        """Whether all jobs that joined since the last pass stand behind this one, and are all that `fresh` tells."""
        if not 0 <= last < self.jobs.size or not self.known():
            return False
        return self.recents == 0 or self.precedes(last, self.recent[0])

    def behind(self, slot):
        """The first job behind this one, which may stand in another queue; -1 where there is none."""
        raise NotImplementedError(f"{type(self).__name__}.behind")

    def settle(self):
        """A pass is over."""
        self.recents = 0
        self.shuffled = False
        return 0

    def tier(self, slot):
        """Jobs of a lower tier stand before all others, whatever their keys."""
        return 0

    def ahead(self, slot):
        """Whether some job stands before this one (which may have left already)."""
        first: cython.Py_ssize_t = self.head()
        return first >= 0 and self.precedes(first, slot)

    def precedes(self, a, b):
        return self.jobs.at[a].key < self.jobs.at[b].key or (
            self.jobs.at[a].key == self.jobs.at[b].key and self.jobs.at[a].seq < self.jobs.at[b].seq
        )


@cython.final
@cython.cclass
class OrderedQueue(Queue):
    """The queue of an order whose keys stay as they are while a job waits.

    A job whose key is beyond all others goes to the *tail*, a plain array; the others into the *line*, which knows
    its order and, once `find` is asked, an index. The tail is moved into the line when `find` needs it there. So a
    job that starts as soon as it arrives costs two writes, and a policy that only looks at the head pays for no index.
    """

    def __init__(self, jobs: JobTable, capacity) -> None:
        Queue.__init__(self, jobs)
        self.line = QueueIndex(jobs, max(1, int(capacity).bit_length()))
        self.tail = integers(64)
        self.begin = self.end = 0
        self.last_key = -NEVER
        self.last_seq = -1
        self.sorter = Sorter()
        self.entries = Entries()

    def push(self, slot):
        """Put a waiting job in, at jobs.at[slot].key."""
        key: cython.longlong = self.jobs.at[slot].key
        seq: cython.longlong = self.jobs.at[slot].seq
        self.note(slot)
        if self.size == 0:
            self.begin = self.end = 0
        elif key < self.last_key or (key == self.last_key and seq < self.last_seq):
            self.flush()
            self.line.insert(slot)
            self.jobs.at[slot].place = LINE
            self.size += 1
            return 0
        self.last_key = key
        self.last_seq = seq
        if self.end == len(self.tail):
            if self.begin > len(self.tail) // 2:
                self.shift()
            else:
                self.tail = doubled(self.tail)
        self.tail[self.end] = slot
        self.jobs.at[slot].place = self.end
        self.end += 1
        self.size += 1
        return 0

    def shift(self):
        """Move the tail to the front of its array."""
        i: cython.Py_ssize_t
        for i in range(self.begin, self.end):
            self.tail[i - self.begin] = self.tail[i]
            if self.tail[i] >= 0:
                self.jobs.at[self.tail[i]].place = i - self.begin
        self.end -= self.begin
        self.begin = 0
        return 0

    def remove(self, slot):
        """Take a job out, wherever it stands; KeyError where it does not."""
        place: cython.longlong = self.jobs.at[slot].place
        if place >= 0:
            self.tail[place] = -1
            while self.begin < self.end and self.tail[self.begin] < 0:
                self.begin += 1
        elif place == LINE:
            self.line.remove(slot)
        else:
            raise KeyError(slot)
        self.size -= 1
        self.jobs.at[slot].place = OUTSIDE
        return 0

    def head(self):
        """The first job, or -1."""
        if self.line.size > 0:
            return self.line.head()
        return self.tail[self.begin] if self.begin < self.end else -1

    def next(self, slot):
        """The job behind this one, or -1."""
        i: cython.Py_ssize_t
        found: cython.Py_ssize_t = -1
        if self.jobs.at[slot].place < 0 and self.line.size > 0:
            found = self.line.next(slot)
        if found >= 0:
            return found
        i = self.jobs.at[slot].place + 1 if self.jobs.at[slot].place >= 0 else self.begin
        while i < self.end:
            if self.tail[i] >= 0:
                return self.tail[i]
            i += 1
        return -1

    def behind(self, slot):
        self.flush()
        return self.line.next(slot)

    def find(self, free, extra, window, after, longest):
        a: cython.Py_ssize_t
        b: cython.Py_ssize_t
        if free <= 0 or self.size == 0:
            return -1
        self.flush()
        if window >= longest or extra >= free:
            return self.line.find(free, longest, after)
        a = self.line.find(free, window, after)
        b = self.line.find(extra, longest, after)
        if a < 0 or (b >= 0 and self.precedes(b, a)):
            return b
        return a

    def flush(self):
        """Move the tail into the line."""
        i: cython.Py_ssize_t
        for i in range(self.begin, self.end):
            if self.tail[i] >= 0:
                self.line.insert(self.tail[i])
                self.jobs.at[self.tail[i]].place = LINE
        self.begin = self.end = 0
        return 0

    def ordered(self):
        n: cython.Py_ssize_t
        i: cython.Py_ssize_t
        while len(self.buffer) <= self.size:
            self.buffer = doubled(self.buffer)
        n = self.line.write_slots(self.buffer)
        for i in range(self.begin, self.end):
            if self.tail[i] >= 0:
                self.buffer[n] = self.tail[i]
                n += 1
        self.buffer[n] = -1
        return self.buffer

    def reorder(self):
        """The keys have changed: sort everything again."""
        i: cython.Py_ssize_t
        slots: cython.longlong[::1] = self.ordered()
        keys: cython.longlong[::1] = self.room()
        for i in range(self.size):
            keys[i] = self.jobs.at[slots[i]].key
        self.sort()
        return 0

    def rekey(self):
        i: cython.Py_ssize_t
        slots: cython.longlong[::1] = self.buffer
        keys: cython.longlong[::1] = self.spare
        for i in range(self.size):
            self.jobs.at[slots[i]].key = keys[i]
        return self.sort()

    def sort(self):
        """The jobs have the keys in `spare`: put them in order; whether some have changed places.

        In time of the size where the order is the same, else n log n at most: what is still in order stays together.
        """
        i: cython.Py_ssize_t
        n: cython.Py_ssize_t = self.size
        slot: cython.Py_ssize_t
        moved: cython.bint
        order: Sorter = self.sorter
        if n == 0:
            return False
        self.entries.make_room(n)
        self.line.write_entries(self.entries)
        for i in range(self.begin, self.end):
            if self.tail[i] >= 0:
                slot = self.tail[i]
                self.entries.add(slot, self.jobs.at[slot].seq, self.jobs.at[slot].cores, self.jobs.at[slot].estimate)
        order.make_room(n)
        for i in range(n):
            order.keys[i] = self.spare[i]
            order.ties[i] = self.entries.at[i * ENTRY + 1]
            order.items[i] = i
        moved = order.sort(n)
        self.last_key = order.keys[n - 1]
        self.last_seq = order.ties[n - 1]
        if not moved:
            self.line.reseparate()
            return False
        for i in range(self.begin, self.end):
            if self.tail[i] >= 0:
                self.jobs.at[self.tail[i]].place = LINE
        self.begin = self.end = 0
        self.line.refill(order.items, n, self.entries)
        self.shuffled = True
        return True

    def slots(self) -> list:
        """Everything that waits here, in order."""
        return self.line.slots() + [slot for slot in self.tail[self.begin : self.end] if slot >= 0]
