"""Waiting jobs in order, new ones at the tail."""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.walltime.kernel.prefetch import prefetch  # here, or all that know a queue would have it in them

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.jobs import JobTable, QueuePosition
from walltime.kernel.queue.bounds import Bounds  # noqa: F401 - as in waiting.pxd
from walltime.kernel.queue.index import Entries, QueueIndex
from walltime.kernel.queue.sorting import Sorter

NEVER = cython.declare(cython.longlong, _NEVER)
FEW = cython.declare(cython.Py_ssize_t, 32)  # jobs that are put in order one by one; more are merged
MANY = cython.declare(cython.Py_ssize_t, 48)  # places of the tail that `find` looks through one by one
SOON = cython.declare(cython.Py_ssize_t, 3)  # so many places behind the head stands the one that is fetched meanwhile
ENTRY = cython.declare(cython.Py_ssize_t, 4)  # as in the index

if not cython.compiled:
    LINE, OUTSIDE = QueuePosition.LINE, QueuePosition.OUTSIDE


@cython.cclass
class Queue:
    """Waiting jobs by (key, seq), lower first: what a pass and a policy's shortcuts may ask.

    `shuffled` tells that keys have been renewed since the last pass; the jobs that joined since then are noted, but for
    a queue that is part of another one, which has its own notes.
    `moves` grows whenever a job may stand elsewhere than before.
    """

    def __init__(self, jobs: JobTable) -> None:
        self.jobs = jobs
        self.size = 0
        self.fixed = False  # whether each job keeps its key while it waits
        self.shuffled = False
        self.moves = 0
        self.recent = integers(FEW)
        self.recent_seq = integers(FEW)
        self.recents = 0
        self.notes = True
        self.buffer = integers(64)
        self.spare = integers(64)
        self.sorter = Sorter()

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
        """Everything that waits here, in order; what `ordered` told last stays as it is."""
        told: cython.longlong[::1] = self.buffer
        out: list = []
        self.buffer = integers(len(told))
        order: cython.longlong[::1] = self.ordered()
        self.buffer = told
        while order[len(out)] >= 0:
            out.append(order[len(out)])
        return out

    def ordered(self):
        """The slots in order, and -1 behind them, in an array that the next call may overwrite."""
        raise NotImplementedError(f"{type(self).__name__}.ordered")

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
        gone: cython.bint = self.jobs.at[slot].seq != self.recent_seq[i] or self.jobs.at[slot].position == OUTSIDE
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
    While few jobs wait all of them are in the tail, and `find` looks at one after the other.

    Where `bounds` tells parts of the jobs apart, each has an index of its own, and `find` looks into each of them.
    """

    def __init__(self, jobs: JobTable, capacity, bounds=None, node_set=-1) -> None:
        Queue.__init__(self, jobs)
        self.width = max(1, int(capacity).bit_length())
        self.line = QueueIndex(jobs, self.width)
        self.bounds = bounds
        self.node_set = node_set
        self.parted = False
        self.parts = []
        self.present = []
        self.part_of = integers(1)
        self.tail = integers(64)
        self.begin = self.end = 0
        self.last_key = -NEVER
        self.last_seq = -1
        self.entries = Entries()

    def push(self, slot):
        """Put a waiting job in, at jobs.at[slot].key."""
        key: cython.longlong = self.jobs.at[slot].key
        seq: cython.longlong = self.jobs.at[slot].seq
        self.moves += 1
        if not self.notes:
            pass
        elif self.recents < len(self.recent):  # as `note` does, for every job
            self.recent[self.recents] = slot
            self.recent_seq[self.recents] = seq
            self.recents += 1
        else:
            self.note(slot)
        position: cython.Py_ssize_t
        last: cython.bint = True
        if self.size == 0:
            self.begin = self.end = 0
        elif key < self.last_key or (key == self.last_key and seq < self.last_seq):
            if self.line.size > 0 or self.end - self.begin >= MANY:
                self.flush()
                self.enter(slot)
                self.size += 1
                return 0
            last = False
        if self.end == len(self.tail):
            if self.begin > len(self.tail) // 2:
                self.shift()
            else:
                self.tail = doubled(self.tail)
        position = self.end
        if last:
            self.last_key = key
            self.last_seq = seq
        else:
            position = self.make_way(slot)
        self.tail[position] = slot
        self.jobs.at[slot].position = position
        self.end += 1
        self.size += 1
        return 0

    def make_way(self, slot):
        """Move those of the tail that belong behind the job one place up; the place that is free then."""
        i: cython.Py_ssize_t = self.end
        while i > self.begin and (self.tail[i - 1] < 0 or self.precedes(slot, self.tail[i - 1])):
            self.tail[i] = self.tail[i - 1]
            if self.tail[i] >= 0:
                self.jobs.at[self.tail[i]].position = i
            i -= 1
        return i

    def shift(self):
        """Move the tail to the front of its array."""
        i: cython.Py_ssize_t
        for i in range(self.begin, self.end):
            self.tail[i - self.begin] = self.tail[i]
            if self.tail[i] >= 0:
                self.jobs.at[self.tail[i]].position = i - self.begin
        self.end -= self.begin
        self.begin = 0
        return 0

    def remove(self, slot):
        """Take a job out, wherever it stands; KeyError where it does not."""
        position: cython.longlong = self.jobs.at[slot].position
        self.moves += 1
        if position >= 0:
            self.tail[position] = -1
            while self.begin < self.end and self.tail[self.begin] < 0:
                self.begin += 1
            if self.begin + SOON < self.end and self.tail[self.begin + SOON] >= 0:
                prefetch(self.jobs, self.tail[self.begin + SOON])
        elif position == LINE:
            self.leave(slot)
        else:
            raise KeyError(slot)
        self.size -= 1
        self.jobs.at[slot].position = OUTSIDE
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
        if self.jobs.at[slot].position < 0 and self.line.size > 0:
            found = self.line.next(slot)
        if found >= 0:
            return found
        i = self.jobs.at[slot].position + 1 if self.jobs.at[slot].position >= 0 else self.begin
        while i < self.end:
            if self.tail[i] >= 0:
                return self.tail[i]
            i += 1
        return -1

    def behind(self, slot):
        self.flush()
        return self.line.next(slot)

    def find(self, free, extra, window, after, longest):
        if free <= 0 or self.size == 0:
            return -1
        if self.bounds is not None and self.bounds.parts > 1:
            self.flush()
            return self.find_part(free, extra, window, after, longest)
        if self.line.size > 0:
            if 3 * self.size <= MANY:
                self.gather()
        elif self.end - self.begin > MANY and 3 * self.size <= 2 * MANY:
            self.gather()
        if self.line.size == 0 and self.end - self.begin <= MANY:
            return self.look_through(free, extra, window, after, longest)
        self.flush()
        return self.look(self.line, free, extra, window, after, longest)

    def look_through(self, free, extra, window, after, longest):
        """The same where all jobs are in the tail, and are few."""
        i: cython.Py_ssize_t = self.begin
        slot: cython.Py_ssize_t
        cores: cython.longlong
        estimate: cython.longlong
        while after >= 0 and i < self.end and (self.tail[i] < 0 or not self.precedes(after, self.tail[i])):
            i += 1
        while i < self.end:
            slot = self.tail[i]
            i += 1
            if slot < 0:
                continue
            cores = self.jobs.at[slot].cores
            estimate = self.jobs.at[slot].estimate
            if cores <= free and estimate <= longest and (cores <= extra or estimate <= window):
                return slot
        return -1

    def look(self, line: QueueIndex, free, extra, window, after, longest):
        a: cython.Py_ssize_t
        b: cython.Py_ssize_t
        if window >= longest or extra >= free:
            return line.find(free, longest, after)
        a = line.find(free, window, after)
        b = line.find(extra, longest, after)
        if a < 0 or (b >= 0 and self.precedes(b, a)):
            return b
        return a

    def flush(self):
        """Move the tail into the line."""
        i: cython.Py_ssize_t
        for i in range(self.begin, self.end):
            if self.tail[i] >= 0:
                self.enter(self.tail[i])
        self.begin = self.end = 0
        return 0

    def gather(self):
        """Have all jobs in the tail, without gaps: an index of so few costs more than it saves."""
        i: cython.Py_ssize_t
        slots: cython.longlong[::1] = self.ordered()
        lined: cython.Py_ssize_t = self.line.size
        for i in range(lined):
            self.leave(slots[i])
        while len(self.tail) < self.size:
            self.tail = doubled(self.tail)
        for i in range(self.size):
            self.tail[i] = slots[i]
            self.jobs.at[slots[i]].position = i
        self.begin = 0
        self.end = self.size
        return 0

    def enter(self, slot):
        """The job goes into the line."""
        self.line.insert(slot)
        self.jobs.at[slot].position = LINE
        return self.enter_part(slot) if self.parted else 0

    def leave(self, slot):
        """The job leaves the line."""
        part: QueueIndex
        self.line.remove(slot)
        if self.parted:
            part = self.parts[self.part_of[slot]]
            part.remove(slot)
        return 0

    # ---- parts

    def find_part(self, free, extra, window, after, longest):
        """The same, in each part within its own bounds: the first of what is found."""
        k: cython.Py_ssize_t
        number: cython.Py_ssize_t
        found: cython.Py_ssize_t
        best: cython.Py_ssize_t = -1
        most: cython.longlong
        beside: cython.longlong
        part: QueueIndex
        focused: cython.bint = False
        if not self.parted:
            self.part_all()
        for k in range(len(self.present)):
            number = self.present[k]
            part = cython.cast(QueueIndex, self.parts[number])
            if part.size == 0 or number > free:  # so many cores are free on no node
                continue
            if number > 0 and not focused:
                self.bounds.focus_parts(self.node_set)
                focused = True
            most = free if number == 0 else min(free, self.bounds.part_free[number])
            beside = extra if number == 0 else min(extra, self.bounds.part_extra[number])
            if most <= 0:
                continue
            found = self.look(part, most, beside, window, after, longest)
            if found >= 0 and (best < 0 or self.precedes(found, best)):
                best = found
        return best

    def part_all(self):
        """From now on parts are kept."""
        i: cython.Py_ssize_t
        slots: cython.longlong[::1] = self.ordered()
        self.parted = True
        self.parts = [None] * self.bounds.parts
        for i in range(self.line.size):
            self.enter_part(slots[i])
        return 0

    def assign(self, slot):
        """The part that the job belongs to, which need not have it yet."""
        number: cython.Py_ssize_t = self.bounds.part_of(slot)
        while slot >= len(self.part_of):
            self.part_of = doubled(self.part_of)
        self.part_of[slot] = number
        if self.parts[number] is None:
            self.parts[number] = QueueIndex(self.jobs, self.width)
            self.present.append(number)
        return self.parts[number]

    def enter_part(self, slot):
        part: QueueIndex = self.assign(slot)
        return part.insert(slot)

    def reseparate_parts(self):
        """The keys have changed, the order has not."""
        part: QueueIndex
        for part in self.parts:
            if part is not None:
                part.reseparate()
        return 0

    def refill_parts(self, n):
        """The line has n jobs, in the order of `sorter.items`: so do the parts, each its own."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        number: cython.Py_ssize_t
        begin: cython.Py_ssize_t = 0
        part: QueueIndex
        ends: cython.longlong[::1] = integers(len(self.parts))
        order: cython.longlong[::1] = integers(n)
        for i in range(n):
            ends[self.part_of[self.entries.at[i * ENTRY]]] += 1
        for k in range(len(ends)):
            begin += ends[k]
            ends[k] = begin - ends[k]
        for i in range(n):
            number = self.part_of[self.entries.at[self.sorter.items[i] * ENTRY]]
            order[ends[number]] = self.sorter.items[i]
            ends[number] += 1
        begin = 0
        for k in range(len(ends)):
            part = self.parts[k]
            if part is not None:
                part.refill(order[begin:], ends[k] - begin, self.entries)
            begin = ends[k]
        return 0

    def ordered(self):
        while len(self.buffer) <= self.size:
            self.buffer = doubled(self.buffer)
        self.buffer[self.leading(self.size, self.buffer)] = -1
        return self.buffer

    def leading(self, many, slots):
        n: cython.Py_ssize_t = self.line.write_slots(slots, many)
        i: cython.Py_ssize_t
        for i in range(self.begin, self.end):
            if n == many:
                break
            if self.tail[i] >= 0:
                slots[n] = self.tail[i]
                n += 1
        return n

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
            if self.parted:
                self.reseparate_parts()
            return False
        self.shuffled = True
        self.moves += 1
        if self.line.size == 0 and n <= MANY:
            return self.fill_tail(n)
        for i in range(self.begin, self.end):
            if self.tail[i] >= 0:
                self.jobs.at[self.tail[i]].position = LINE
                if self.parted:
                    self.assign(self.tail[i])
        self.begin = self.end = 0
        self.line.refill(order.items, n, self.entries)
        if self.parted:
            self.refill_parts(n)
        return True

    def fill_tail(self, n):
        """All n jobs, in the order of `sorter.items`, are in the tail, where they were, as an index would cost more
        than it saves; True."""
        i: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        for i in range(n):
            slot = self.entries.at[self.sorter.items[i] * ENTRY]
            self.tail[i] = slot
            self.jobs.at[slot].position = i
        self.begin = 0
        self.end = n
        return True
