"""The waiting jobs in order, and the first of them that is small and short enough, found without a scan.

**The line.** Jobs stand in leaves of up to 16, sorted by (key, seq). Each leaf has a separator, the largest key it may
hold, which stays when jobs leave; so a binary search finds a job's leaf, and insertion is possible anywhere: a full
leaf shares its jobs with its neighbours, in the smallest aligned window that has room (a packed-memory array).

**The index.** Over the leaves lies a binary tree. A node has, for each class b of core counts, the least estimate among
the jobs below it in the classes 0 to b. "The first job with at most c cores and an estimate of at most w" is then one
descent, provided that c is the upper end of a class. Classes are powers of two at the root; a class in which different
counts have been seen has an index of its own over its jobs, with 16 finer classes, and so on until a class is a single
count. A search takes the covered classes at each level and descends into the one class that c cuts through: at most
log16(cores) trees, logarithmic in each, whatever mixture of sizes and estimates is waiting. A tree that keeps minima of
cores and estimates side by side has no such bound: small long jobs and wide short ones together look like small
short ones.
"""

from __future__ import annotations

import cython
from cython.cimports.walltime.kernel.prefetch import prefetch  # here, or all that know a queue would have it in them

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import integers
from walltime.kernel.jobs import JobTable

NOTHING = cython.declare(cython.longlong, _NEVER + 1)  # the least estimate where there is no job: beyond any window
LEAST = cython.declare(cython.longlong, -((1 << 63) - 1))  # no key is less
DIGIT = cython.declare(cython.int, 4)  # bits that a finer index resolves: 16 classes
ROOT = cython.declare(cython.int, -1)  # the shift of the root, whose classes are powers of two

if not cython.compiled:
    from walltime.kernel.arrays import count_below, words

    LEAF = 16
    FILL = 12  # jobs in a leaf after a rebuild: room for insertions
    ENTRY = 4
    WORDS = LEAF * ENTRY

    def move_up(a, begin, end):
        a[begin + ENTRY : end + ENTRY] = a[begin:end].copy()

    def move_down(a, begin, end):
        a[begin : end - ENTRY] = a[begin + ENTRY : end].copy()

    def copy_entry(to, at, a, i):
        to[at : at + ENTRY] = a[i : i + ENTRY]

    def __builtin_clzll(word):
        return 64 - int(word).bit_length()


@cython.final
@cython.cclass
class Entries:
    """Waiting jobs as a line has them: slot, seq, cores and estimate of each side by side, ENTRY numbers in all.

    A job's fields lie far from those of its neighbours in the order, so what is done with many is done here. `size` of
    them count.
    """

    def __init__(self) -> None:
        self.size = 0
        self.at = integers(64 * ENTRY)

    def make_room(self, n):
        """No jobs, and room for so many."""
        self.size = 0
        if len(self.at) < n * ENTRY:
            self.at = integers(2 * n * ENTRY)
        return 0

    def add(self, slot, seq, cores, estimate):
        """One more."""
        i: cython.Py_ssize_t = self.size * ENTRY
        self.at[i] = slot
        self.at[i + 1] = seq
        self.at[i + 2] = cores
        self.at[i + 3] = estimate
        self.size += 1
        return 0


@cython.final
@cython.cclass
class QueueIndex:
    """Waiting jobs sorted by (jobs.key, jobs.seq); `find` needs the classes, which are kept from its first call on.

    The i-th job of a leaf is an entry of `at`: slot, seq, cores and estimate, as in `Entries`.
    The root has `low` = 1 and the shift ROOT; a finer index covers counts from `low` on in steps of 2**shift.
    """

    def __init__(self, jobs: JobTable, width, low=1, shift=-1) -> None:
        self.jobs = jobs
        self.size = 0
        self.indexed = False
        self.low = low
        self.shift = shift
        self.width = width
        self.narrowest = integers(width)
        self.widest = integers(width)
        self.low_counts = words(self.narrowest)
        self.high_counts = words(self.widest)
        self.found = -1  # the job that was found last, and the leaf that it was in then
        self.found_in = 0
        self.children = [None] * width
        self.parted = integers(1)
        self.allot(8)

    # ---- the line

    def insert(self, slot):
        """Add a waiting job at its key."""
        key: cython.longlong = self.jobs.at[slot].key
        seq: cython.longlong = self.jobs.at[slot].seq
        leaf: cython.Py_ssize_t = self.locate(key, seq)
        k: cython.Py_ssize_t
        a: cython.p_longlong
        if leaf < self.used and self.counts[leaf] == LEAF:
            self.spread(leaf)
            leaf = self.locate(key, seq)  # maybe the end: where all was rebuilt, separators are present jobs
        if leaf == self.used:  # beyond every separator: at the end
            if self.used > 0 and self.counts[self.used - 1] < LEAF:
                leaf = self.used - 1
            elif self.used < self.leaves:
                self.used += 1
            else:
                self.rebuild(2 * self.size)
                leaf = self.used - 1
            self.top_key[leaf] = key
            self.top_seq[leaf] = seq
            k = self.counts[leaf]
        else:
            k = self.position(leaf, key, seq)
        a = self.entries
        k = leaf * WORDS + k * ENTRY
        if k < leaf * WORDS + self.counts[leaf] * ENTRY:
            move_up(a, k, leaf * WORDS + self.counts[leaf] * ENTRY)
        a[k] = slot
        a[k + 1] = seq
        a[k + 2] = self.jobs.at[slot].cores
        a[k + 3] = self.jobs.at[slot].estimate
        self.counts[leaf] += 1
        self.size += 1
        if leaf < self.first:
            self.first = leaf
        if self.indexed:
            self.enter(leaf, slot)
        return 0

    def remove(self, slot):
        """Take a job out; KeyError where it is not in."""
        leaf: cython.Py_ssize_t
        k: cython.Py_ssize_t
        e: cython.Py_ssize_t
        cores: cython.longlong
        estimate: cython.longlong
        a: cython.p_longlong = self.entries
        if slot == self.found and self.place_in(self.found_in, slot) >= 0:
            leaf = self.found_in
        elif self.head() == slot:
            leaf = self.first
        else:
            leaf = self.locate(self.jobs.at[slot].key, self.jobs.at[slot].seq)
        k = self.place_in(leaf, slot)
        if k < 0:
            raise KeyError(slot)
        e = leaf * WORDS + self.counts[leaf] * ENTRY
        cores = a[k + 2]
        estimate = a[k + 3]
        move_down(a, k, e)
        self.counts[leaf] -= 1
        self.size -= 1
        if self.indexed:
            self.leave(leaf, slot, cores, estimate)
        if self.size == 0:
            self.used = self.first = 0
        return 0

    def place_in(self, leaf, slot):
        """Where in the leaf the job's entry begins; -1 where it is not in it."""
        a: cython.p_longlong = self.entries
        k: cython.Py_ssize_t
        if leaf < self.used:
            for k in range(leaf * WORDS, leaf * WORDS + self.counts[leaf] * ENTRY, 4):
                if a[k] == slot:
                    return k
        return -1

    def head(self):
        """The first job, or -1."""
        if self.size == 0:
            return -1
        while self.counts[self.first] == 0:
            self.first += 1
        return self.entries[self.first * WORDS]

    def next(self, slot):
        """The job after this one (which need not be in the line any more), or -1."""
        leaf: cython.Py_ssize_t = self.locate(self.jobs.at[slot].key, self.jobs.at[slot].seq)
        k: cython.Py_ssize_t
        while leaf < self.used:
            for k in range(leaf * WORDS, leaf * WORDS + self.count[leaf] * ENTRY, 4):
                if self.precedes(slot, self.at[k]):
                    return self.at[k]
            leaf += 1
        return -1

    def slots(self) -> list:
        """Every job, as the line has them (in order, unless keys were changed behind its back)."""
        out = []
        for leaf in range(self.used):
            for k in range(leaf * WORDS, leaf * WORDS + self.count[leaf] * ENTRY, 4):
                out.append(self.at[k])
        return out

    def write_slots(self, out, many):
        """The same into an array, so many at the most; how many."""
        leaf: cython.Py_ssize_t
        k: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        for leaf in range(self.first, self.used):
            for k in range(leaf * WORDS, leaf * WORDS + min(self.count[leaf], many - n) * ENTRY, 4):
                out[n] = self.at[k]
                n += 1
            if n == many:
                break
        return n

    def write_entries(self, out: Entries):
        """The same, with all that the line has of each; there is room."""
        leaf: cython.Py_ssize_t
        k: cython.Py_ssize_t
        for leaf in range(self.first, self.used):
            for k in range(leaf * WORDS, leaf * WORDS + self.count[leaf] * ENTRY, 4):
                out.add(self.at[k], self.at[k + 1], self.at[k + 2], self.at[k + 3])
        return 0

    def precedes(self, a, b):
        return self.jobs.at[a].key < self.jobs.at[b].key or (
            self.jobs.at[a].key == self.jobs.at[b].key and self.jobs.at[a].seq < self.jobs.at[b].seq
        )

    def locate(self, key, seq):
        """The leaf whose separators enclose the key; `used` where it is beyond all."""
        lo: cython.Py_ssize_t
        hi: cython.Py_ssize_t = self.used
        mid: cython.Py_ssize_t
        keys: cython.p_longlong = self.tops
        if hi == 0 or keys[hi - 1] < key:  # new jobs, mostly
            return hi
        lo = count_below(keys, 1, hi, key)
        if keys[lo] != key:
            return lo
        while lo < hi:
            mid = (lo + hi) >> 1
            if self.top_key[mid] < key or (self.top_key[mid] == key and self.top_seq[mid] < seq):
                lo = mid + 1
            else:
                hi = mid
        return lo

    def position(self, leaf, key, seq):
        """Where in the leaf a job of this key belongs."""
        k: cython.Py_ssize_t = 0
        s: cython.Py_ssize_t
        while k < self.count[leaf]:
            s = self.at[leaf * WORDS + k * ENTRY]
            if self.jobs.at[s].key > key or (self.jobs.at[s].key == key and self.jobs.at[s].seq > seq):
                break
            k += 1
        return k

    def allot(self, leaves):
        """Empty arrays for so many leaves."""
        self.leaves = leaves
        self.used = self.first = 0
        self.at = integers(leaves * WORDS)
        self.count = integers(leaves)
        self.top_key = integers(leaves)
        self.top_seq = integers(leaves)
        self.least = integers(2 * leaves * self.width if self.indexed else 1, NOTHING)
        self.entries = words(self.at)
        self.counts = words(self.count)
        self.tops = words(self.top_key)
        self.minima = words(self.least)
        return 0

    def rebuild(self, room):
        """The same jobs, FILL in a leaf, in arrays for about `room` of them."""
        leaves: cython.Py_ssize_t = 8
        leaf: cython.Py_ssize_t
        k: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        before: cython.longlong[::1] = self.at
        count: cython.longlong[::1] = self.count
        used: cython.Py_ssize_t = self.used
        while leaves * FILL < room + LEAF:
            leaves *= 2
        self.allot(leaves)
        for leaf in range(used):
            for k in range(leaf * WORDS, leaf * WORDS + count[leaf] * ENTRY, 4):
                copy_entry(words(self.at), n // FILL * WORDS + n % FILL * ENTRY, words(before), k)
                n += 1
        self.used = n // FILL + 1
        for leaf in range(self.used):
            self.count[leaf] = FILL if (leaf + 1) * FILL <= n else n - leaf * FILL
        self.separate()
        if self.indexed:
            self.sum_first(self.used)
        return 0

    def refill(self, order, n, entries: Entries):
        """Have n jobs and no others: the i-th is the entry of number order[i]."""
        i: cython.Py_ssize_t = 0
        k: cython.Py_ssize_t
        leaf: cython.Py_ssize_t
        leaves: cython.Py_ssize_t = 8
        stained: cython.Py_ssize_t  # leaves that have had jobs, or get some
        while leaves * FILL < n + LEAF:
            leaves *= 2
        if leaves > self.leaves or 4 * leaves < self.leaves:
            self.allot(leaves)
        stained = max(self.used, n // FILL + 1)
        for leaf in range(n // FILL + 1, self.used):
            self.count[leaf] = 0
        self.used = n // FILL + 1
        self.first = 0
        self.size = n
        for leaf in range(self.used):
            self.count[leaf] = min(FILL, n - i)
            for k in range(leaf * WORDS, leaf * WORDS + self.count[leaf] * ENTRY, 4):
                copy_entry(words(self.at), k, words(entries.at), order[i] * ENTRY)
                i += 1
        self.separate()
        if self.indexed:
            self.meet_all()  # some of them may never have been in this line
            self.sum_first(stained)
            self.refill_children(order, n, entries)
        return 0

    def refill_children(self, order, n, entries: Entries):
        """The finer indexes have the jobs of their classes."""
        i: cython.Py_ssize_t
        cls: cython.Py_ssize_t
        begin: cython.Py_ssize_t = 0
        finer: QueueIndex
        for cls in range(self.width):
            if self.children[cls] is not None:
                break
        else:
            return 0
        ends: cython.longlong[::1] = integers(self.width)
        if len(self.parted) < n:
            self.parted = integers(2 * n)
        for i in range(n):
            ends[self.classify(entries.at[order[i] * ENTRY + 2])] += 1
        for cls in range(self.width):
            begin += ends[cls]
            ends[cls] = begin - ends[cls]
        for i in range(n):
            cls = self.classify(entries.at[order[i] * ENTRY + 2])
            self.parted[ends[cls]] = order[i]
            ends[cls] += 1
        begin = 0
        for cls in range(self.width):
            finer = self.children[cls]
            if finer is not None:
                finer.refill(self.parted[begin:], ends[cls] - begin, entries)
            begin = ends[cls]
        return 0

    def reseparate(self):
        """The keys have changed, the order has not."""
        cls: cython.Py_ssize_t
        finer: QueueIndex
        self.separate()
        if self.indexed:
            for cls in range(self.width):
                finer = self.children[cls]
                if finer is not None:
                    finer.reseparate()
        return 0

    def separate(self):
        """Each leaf's separator is the key of its last job; an empty one has that of the leaf before."""
        leaf: cython.Py_ssize_t
        k: cython.Py_ssize_t
        for leaf in range(self.used):
            if self.count[leaf] > 0:
                k = self.at[leaf * WORDS + (self.count[leaf] - 1) * ENTRY]
                self.top_key[leaf] = self.jobs.at[k].key
                self.top_seq[leaf] = self.jobs.at[k].seq
            elif leaf > 0:
                self.top_key[leaf] = self.top_key[leaf - 1]
                self.top_seq[leaf] = self.top_seq[leaf - 1]
            else:
                self.top_key[leaf] = LEAST
                self.top_seq[leaf] = -1
        return 0

    def spread(self, leaf):
        """Make room around a full leaf: share its jobs over the smallest aligned window that is not too dense."""
        span: cython.Py_ssize_t = 1
        lo: cython.Py_ssize_t = leaf
        hi: cython.Py_ssize_t = leaf + 1
        total: cython.Py_ssize_t = LEAF
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        n: cython.Py_ssize_t
        slack: cython.Py_ssize_t = 1  # sixteenths of the window that must be free: 1 at two leaves, up to 4 at the top
        while True:
            if span == self.leaves:
                self.rebuild(2 * self.size)
                return 0
            span *= 2
            lo = leaf & ~(span - 1)
            hi = lo + span
            total = 0
            for i in range(lo, hi):
                total += self.count[i]
            if 16 * total <= (16 - slack) * span * LEAF:
                break
            if slack < 4:
                slack += 1
        held: cython.longlong[::1] = integers(total * ENTRY)
        n = 0
        for i in range(lo, hi):
            for k in range(i * WORDS, i * WORDS + self.count[i] * ENTRY, 4):
                copy_entry(words(held), n * ENTRY, words(self.at), k)
                n += 1
        if hi > self.used:  # the window takes in leaves that were never used: they inherit the last separator
            self.top_key[hi - 1] = self.top_key[self.used - 1]
            self.top_seq[hi - 1] = self.top_seq[self.used - 1]
            self.used = hi
        n = 0
        for i in range(lo, hi):
            self.count[i] = total * (i - lo + 1) // span - total * (i - lo) // span
            for k in range(i * WORDS, i * WORDS + self.count[i] * ENTRY, 4):
                copy_entry(words(self.at), k, words(held), n * ENTRY)
                n += 1
            if i < hi - 1:  # the last leaf keeps the window's upper separator
                self.top_key[i] = self.jobs.at[held[(n - 1) * ENTRY]].key
                self.top_seq[i] = held[(n - 1) * ENTRY + 1]
        if self.first > lo:
            self.first = lo
        if self.indexed:
            for i in range(lo, hi):
                self.sum_leaf(i)
            i = self.leaves + lo
            while span > 1:
                span //= 2
                i //= 2
                for k in range(i, i + span):
                    self.sum_node(k)
            while i > 1:
                i //= 2
                self.sum_node(i)
        return 0

    # ---- the index

    def find(self, cores, window, after):
        """The first job behind `after` (-1: from the head) with at most so many cores and an estimate of at most
        `window`, or -1."""
        cls: cython.Py_ssize_t
        covered: cython.Py_ssize_t
        found: cython.Py_ssize_t = -1
        other: cython.Py_ssize_t
        finer: QueueIndex
        if self.size == 0 or cores < self.low:
            return -1
        if not self.indexed:
            self.indexed = True
            self.rebuild(self.size)
            self.meet_all()
        cls = self.classify(cores)
        if cls >= self.width:
            cls = covered = self.width - 1
        else:
            covered = cls if self.high_counts[cls] <= cores else cls - 1
        if covered >= 0:
            found = self.leftmost(covered, window, after)
        if covered < cls and self.low_counts[cls] <= cores:
            finer = self.child(cls)
            other = finer.find(cores, window, after)
            if found < 0 or (other >= 0 and self.precedes(other, found)):
                found = other
        return found

    def meet_all(self):
        """Let the classes know every job in the line."""
        leaf: cython.Py_ssize_t
        k: cython.Py_ssize_t
        c: cython.longlong
        cls: cython.Py_ssize_t
        for leaf in range(self.used):
            for k in range(leaf * WORDS, leaf * WORDS + self.count[leaf] * ENTRY, 4):
                c = self.at[k + 2]
                cls = self.classify(c)
                if self.narrowest[cls] == 0 or c < self.narrowest[cls]:
                    self.narrowest[cls] = c
                if c > self.widest[cls]:
                    self.widest[cls] = c
        return 0

    def child(self, cls):
        """The finer index of a class, made on first use from the jobs in the line."""
        made: QueueIndex = cython.cast(QueueIndex, self.children[cls])
        if made is not None:
            return made
        low: cython.longlong
        span: cython.int
        if self.shift < 0:
            low = cython.cast(cython.longlong, 1) << cls
            span = cython.cast(cython.int, cls)
        else:
            low = self.low + (cls << self.shift)
            span = self.shift
        shift: cython.int = span - DIGIT if span > DIGIT else 0
        finer: QueueIndex = QueueIndex(self.jobs, 1 << (span - shift), low, shift)
        leaf: cython.Py_ssize_t
        k: cython.Py_ssize_t
        for leaf in range(self.used):
            for k in range(leaf * WORDS, leaf * WORDS + self.count[leaf] * ENTRY, 4):
                if self.classify(self.at[k + 2]) == cls:
                    finer.insert(self.at[k])
        self.children[cls] = finer
        return finer

    def classify(self, cores):
        if self.shift >= 0:
            return (cores - self.low) >> self.shift
        return 63 - __builtin_clzll(cores | 1)

    def ceiling(self, cls):
        """The largest count in the class."""
        if self.shift >= 0:
            return self.low + ((cls + 1) << self.shift) - 1
        return (cython.cast(cython.longlong, 2) << cls) - 1

    def enter(self, leaf, slot):
        """A job has come into the leaf."""
        cores: cython.longlong = self.jobs.at[slot].cores
        estimate: cython.longlong = self.jobs.at[slot].estimate
        cls: cython.Py_ssize_t = self.classify(cores)
        x: cython.Py_ssize_t = self.leaves + leaf
        i: cython.Py_ssize_t
        end: cython.Py_ssize_t
        least: cython.p_longlong = self.minima
        if self.low_counts[cls] == 0 or cores < self.low_counts[cls]:
            self.low_counts[cls] = cores
        if cores > self.high_counts[cls]:
            self.high_counts[cls] = cores
        while x > 0:
            i = x * self.width + cls
            end = x * self.width + self.width
            if least[i] <= estimate:
                break
            while i < end and least[i] > estimate:
                least[i] = estimate
                i += 1
            x >>= 1
        finer: QueueIndex = cython.cast(QueueIndex, self.children[cls])
        if finer is not None:
            finer.insert(slot)
        return 0

    def leave(self, leaf, slot, cores, estimate):
        """A job has left the leaf."""
        cls: cython.Py_ssize_t = self.classify(cores)
        x: cython.Py_ssize_t = self.leaves + leaf
        b: cython.Py_ssize_t
        w: cython.Py_ssize_t = self.width
        least: cython.p_longlong
        finer: QueueIndex = cython.cast(QueueIndex, self.children[cls])
        if finer is not None:
            finer.remove(slot)
        least = self.minima
        if least[x * w + cls] != estimate:
            return 0
        self.renew_leaf(leaf, cls, estimate)
        while least[x * w + cls] != estimate:  # equal: another job has the same estimate, nothing changes
            x >>= 1
            b = cls
            while x > 0 and b < w and least[x * w + b] == estimate:  # it was the least of these classes, and no others
                least[x * w + b] = min(least[2 * x * w + b], least[2 * x * w + w + b])
                b += 1
            if b == cls:
                break
        return 0

    def sum_leaf(self, leaf):
        base: cython.Py_ssize_t = (self.leaves + leaf) * self.width
        k: cython.Py_ssize_t
        b: cython.Py_ssize_t
        for b in range(base, base + self.width):
            self.least[b] = NOTHING
        for k in range(leaf * WORDS, leaf * WORDS + self.count[leaf] * ENTRY, 4):
            b = base + self.classify(self.at[k + 2])
            if self.at[k + 3] < self.least[b]:
                self.least[b] = self.at[k + 3]
        best: cython.longlong = NOTHING
        for b in range(base, base + self.width):
            best = min(best, self.least[b])
            self.least[b] = best
        return 0

    def renew_leaf(self, leaf, cls, estimate):
        """A job of the class with this estimate has left the leaf: renew the classes of which it was the least."""
        a: cython.p_longlong = self.entries
        least: cython.p_longlong = self.minima
        base: cython.Py_ssize_t = (self.leaves + leaf) * self.width
        first: cython.Py_ssize_t = base + cls
        end: cython.Py_ssize_t = first
        best: cython.longlong = least[first - 1] if cls > 0 else NOTHING
        k: cython.Py_ssize_t
        b: cython.Py_ssize_t
        while end < base + self.width and least[end] == estimate:
            least[end] = NOTHING
            end += 1
        for k in range(leaf * WORDS, leaf * WORDS + self.counts[leaf] * ENTRY, 4):
            b = base + self.classify(a[k + 2])
            if first <= b < end and a[k + 3] < least[b]:
                least[b] = a[k + 3]
        for b in range(first, end):
            best = min(best, least[b])
            least[b] = best
        return 0

    def sum_node(self, node):
        above: cython.Py_ssize_t = node * self.width
        left: cython.Py_ssize_t = 2 * above
        right: cython.Py_ssize_t = left + self.width
        b: cython.Py_ssize_t
        least: cython.p_longlong = words(self.least)
        for b in range(self.width):
            least[above + b] = least[left + b] if least[left + b] < least[right + b] else least[right + b]
        return 0

    def sum_first(self, many):
        """Sum up the first so many leaves, and what is above them; behind them there never was a job."""
        i: cython.Py_ssize_t
        first: cython.Py_ssize_t = self.leaves
        for i in range(many):
            self.sum_leaf(i)
        while first > 1:
            first >>= 1
            many = (many + 1) >> 1
            for i in range(first, first + many):
                self.sum_node(i)
        return 0

    def leftmost(self, cls, window, after):
        """The first job behind `after` in the classes up to `cls` with an estimate of at most `window`, or -1."""
        least: cython.p_longlong = self.minima
        w: cython.Py_ssize_t = self.width
        x: cython.Py_ssize_t = 1
        leaf: cython.Py_ssize_t
        k: cython.Py_ssize_t
        ceiling: cython.longlong = self.ceiling(cls)
        if least[w + cls] > window:
            return -1
        if after >= 0:
            leaf = self.locate(self.jobs.at[after].key, self.jobs.at[after].seq)
            if leaf == self.used:
                return -1
            k = 0
            while k < self.counts[leaf] and not self.precedes(after, self.entries[leaf * WORDS + k * ENTRY]):
                k += 1
            k = self.scan(leaf, k, ceiling, window)
            if k >= 0:
                return k
            x = self.leaves + leaf
            while True:  # the next subtree to the right that has one
                while x & 1:
                    x >>= 1
                if x == 0:
                    return -1
                x += 1
                if least[x * w + cls] <= window:
                    break
        while x < self.leaves:
            x *= 2
            if least[x * w + cls] > window:
                x += 1
        return self.scan(x - self.leaves, 0, ceiling, window)

    def scan(self, leaf, k, ceiling, window):
        a: cython.p_longlong = self.entries
        i: cython.Py_ssize_t
        for i in range(leaf * WORDS + k * ENTRY, leaf * WORDS + self.counts[leaf] * ENTRY, 4):
            if a[i + 2] <= ceiling and a[i + 3] <= window:
                self.found = a[i]
                self.found_in = leaf
                prefetch(self.jobs, a[i])  # it is compared with another, and mostly started
                return a[i]
        return -1
