"""Sorting what is nearly in order: stretches of one key are moved whole, and the runs that are left are merged."""

from __future__ import annotations

import cython

from walltime.kernel.arrays import integers

FEW = cython.declare(
    cython.Py_ssize_t, 4
)  # entries of one key in a row, on average, from which on they are moved whole
NEAR = cython.declare(cython.Py_ssize_t, 4)  # places that an entry is shifted, on average, before all are merged
FAR = cython.declare(cython.Py_ssize_t, 16)  # and this is too far for any of them
DIGIT = cython.declare(cython.int, 11)  # bits of a digit
DIGITS = cython.declare(cython.Py_ssize_t, 2048)
WIDE = cython.declare(cython.longlong, 1 << 61)  # keys that lie further apart are not told apart by their digits


def sort_by(keys, ties, items, n):
    """Sort the first n entries of three arrays by (key, tie); what is equal stays as it is."""
    sorter: Sorter = Sorter()
    i: cython.Py_ssize_t
    sorter.keys = keys
    sorter.ties = ties
    sorter.items = items
    sorter.sort(n)
    if sorter.turned:
        for i in range(n):
            keys[i] = sorter.keys[i]
            ties[i] = sorter.ties[i]
            items[i] = sorter.items[i]
    return 0


@cython.final
@cython.cclass
class Sorter:
    """Three arrays, `keys`, `ties` and `items`, and what it takes to sort them by (key, tie).

    `sort` leaves the result in attributes of the same names, which may be other arrays (`turned`). Where whole groups
    of one key have changed places with each other, as the jobs of users do under fair share, only the groups are
    sorted, and each is copied once. Where there are many runs, that is stretches that are in order already, but each
    entry has a short way to go, as under priorities that are cut to whole numbers, each is shifted to its place. Else
    the runs are merged, in time proportional to n times the logarithm of their number; or, where they are too many for
    that, all are first dealt out by the digits of their keys. Where the keys are in order, only runs of one key are
    merged. `moves` counts the entries that have been written: never more than n times the logarithm of n, and NEAR
    times n that were shifted in vain.

    The arrays are kept between uses: fresh memory for each would cost as much as the sorting.
    """

    def __init__(self) -> None:
        self.keys = self.ties = self.items = self.runs = integers(0)
        self.free_keys = self.free_ties = self.free_items = self.runs
        self.buckets = self.runs
        self.stretches = None
        self.turned = False
        self.moves = 0

    def make_room(self, n):
        """Arrays of n entries at least; what was in them is lost."""
        if len(self.keys) < n:
            self.keys = integers(2 * n)
            self.ties = integers(2 * n)
            self.items = integers(2 * n)
        return 0

    def sort(self, n):
        """Sort the first n entries; whether any of them has changed places."""
        count: cython.Py_ssize_t
        self.turned = False
        if n < 2:
            return False
        if len(self.free_keys) < n:
            self.free_keys = integers(len(self.keys))
            self.free_ties = integers(len(self.keys))
            self.free_items = integers(len(self.keys))
            self.runs = integers(len(self.keys) + 1)
        count = self.find_runs(n, False)
        if count < 2:
            return False
        if self.near(count):
            if self.shift(n):
                return True
            count = self.find_runs(n, False)
        if FEW * count <= n:
            count = self.find_runs(n, True)
            if FEW * count <= n:
                self.move_stretches(count)
                return self.merge_alike(n)
            count = self.find_runs(n, False)
        elif self.deal(n, count):
            return self.merge_alike(n)
        while count > 1:
            count = self.merge_pairs(count, False)
        return True

    def near(self, count):
        """Whether no run begins with a key that belongs many places before it; most likely no other is far off then."""
        keys: cython.longlong[::1] = self.keys
        r: cython.Py_ssize_t
        for r in range(1, count):  # noqa: SIM110 - a generator would be an object
            if self.runs[r] >= FAR and keys[self.runs[r]] < keys[self.runs[r] - FAR]:
                return False
        return True

    def shift(self, n):
        """Put each entry that is out of place where it belongs, one after the other: whether all are in order. It is
        given up once they have gone further than NEAR places on average; then only the first of them are."""
        keys: cython.longlong[::1] = self.keys
        ties: cython.longlong[::1] = self.ties
        items: cython.longlong[::1] = self.items
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        left: cython.Py_ssize_t = NEAR
        key: cython.longlong
        tie: cython.longlong
        item: cython.longlong
        for i in range(1, n):
            left += NEAR
            key, tie, item = keys[i], ties[i], items[i]
            k = i
            while k > 0 and (keys[k - 1] > key or (keys[k - 1] == key and ties[k - 1] > tie)):
                keys[k], ties[k], items[k] = keys[k - 1], ties[k - 1], items[k - 1]
                k -= 1
            keys[k], ties[k], items[k] = key, tie, item
            left -= i - k
            self.moves += i - k
            if left < 0:
                return False
        return True

    def merge_alike(self, n):
        """The keys are in order: put the ties of each key in order too. That takes as many rounds as the runs of one
        key do, which are few, where the runs of all keys are many."""
        count: cython.Py_ssize_t = self.find_runs(n, True)
        while self.count_alike(count) > 0:
            count = self.merge_pairs(count, True)
        return True

    def count_alike(self, count):
        """How many runs have the key of the run before them."""
        keys: cython.longlong[::1] = self.keys
        runs: cython.longlong[::1] = self.runs
        r: cython.Py_ssize_t
        found: cython.Py_ssize_t = 0
        for r in range(1, count):
            found += keys[runs[r]] == keys[runs[r - 1]]
        return found

    def find_runs(self, n, same):
        """Note where runs begin, those of one key each where `same`, and where the last one ends; how many.

        Without a branch for what is as likely as not, as in `merge`.
        """
        keys: cython.longlong[::1] = self.keys
        ties: cython.longlong[::1] = self.ties
        runs: cython.longlong[::1] = self.runs
        i: cython.Py_ssize_t
        count: cython.Py_ssize_t = 1
        runs[0] = 0
        for i in range(1, n):
            runs[count] = i
            count += (
                (keys[i] < keys[i - 1])
                | (same & (keys[i] != keys[i - 1]))
                | ((keys[i] == keys[i - 1]) & (ties[i] < ties[i - 1]))
            )
        runs[count] = n
        return count

    def move_stretches(self, count):
        """Put the runs, which have one key each, in the order of their keys; those of the same key stay as they are."""
        sorter: Sorter
        i: cython.Py_ssize_t
        r: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        keys: cython.longlong[::1] = self.keys
        ties: cython.longlong[::1] = self.ties
        items: cython.longlong[::1] = self.items
        new_keys: cython.longlong[::1] = self.free_keys
        new_ties: cython.longlong[::1] = self.free_ties
        new_items: cython.longlong[::1] = self.free_items
        if self.stretches is None:
            self.stretches = Sorter()
        sorter = self.stretches
        sorter.make_room(count)
        for i in range(count):
            sorter.keys[i] = keys[self.runs[i]]
            sorter.ties[i] = sorter.items[i] = i
        sorter.moves = 0
        sorter.sort(count)
        for i in range(count):
            r = sorter.items[i]
            n += copy(keys, ties, items, new_keys, new_ties, new_items, self.runs[r], self.runs[r + 1], n)
        self.moves += sorter.moves + n
        return self.turn()

    def deal(self, n, count):
        """Deal all out by the digits of their keys, the last digit first, if that takes fewer rounds than merging so
        many runs does; whether it was done. What has the same key stays as it is."""
        i: cython.Py_ssize_t
        shift: cython.int = 0
        bits: cython.int = 0
        low: cython.longlong = self.keys[0]
        high: cython.longlong = low
        for i in range(n):
            low = min(low, self.keys[i])
            high = max(high, self.keys[i])
        if (high >> 1) - (low >> 1) >= WIDE:  # halves, as the difference may be too large for a number
            return False
        while high - low >> bits:
            bits += 1
        if n < DIGITS or count >> (bits // DIGIT + 2) == 0:
            return False
        if len(self.buckets) < DIGITS:
            self.buckets = integers(DIGITS)
        while shift < bits:
            self.deal_digit(n, low, shift)
            shift += DIGIT
        return True

    def deal_digit(self, n, low, shift):
        """One round: a pile for each value of the digit, one pile after the other."""
        keys: cython.longlong[::1] = self.keys
        ties: cython.longlong[::1] = self.ties
        items: cython.longlong[::1] = self.items
        new_keys: cython.longlong[::1] = self.free_keys
        new_ties: cython.longlong[::1] = self.free_ties
        new_items: cython.longlong[::1] = self.free_items
        next_of: cython.longlong[::1] = self.buckets
        i: cython.Py_ssize_t
        d: cython.Py_ssize_t
        to: cython.Py_ssize_t = 0
        for d in range(DIGITS):
            next_of[d] = 0
        for i in range(n):
            next_of[(keys[i] - low) >> shift & (DIGITS - 1)] += 1
        for d in range(DIGITS):
            to += next_of[d]
            next_of[d] = to - next_of[d]
        for i in range(n):
            d = (keys[i] - low) >> shift & (DIGITS - 1)
            to = next_of[d]
            next_of[d] = to + 1
            new_keys[to] = keys[i]
            new_ties[to] = ties[i]
            new_items[to] = items[i]
        self.moves += n
        return self.turn()

    def merge_pairs(self, count, alike):
        """Merge each run with its neighbour, where `alike` only those of the same key; how many there are then."""
        keys: cython.longlong[::1] = self.keys
        ties: cython.longlong[::1] = self.ties
        items: cython.longlong[::1] = self.items
        new_keys: cython.longlong[::1] = self.free_keys
        new_ties: cython.longlong[::1] = self.free_ties
        new_items: cython.longlong[::1] = self.free_items
        runs: cython.longlong[::1] = self.runs
        r: cython.Py_ssize_t = 0
        left: cython.Py_ssize_t = 0
        taken: cython.Py_ssize_t
        n: cython.Py_ssize_t = runs[count]
        while r < count:
            taken = 1
            if r + 1 < count and (not alike or keys[runs[r]] == keys[runs[r + 1]]):
                taken = 2
                merge(keys, ties, items, new_keys, new_ties, new_items, runs[r], runs[r + 1], runs[r + 2])
            else:
                copy(keys, ties, items, new_keys, new_ties, new_items, runs[r], runs[r + 1], runs[r])
            runs[left] = runs[r]
            left += 1
            r += taken
        runs[left] = n
        self.moves += n
        self.turn()
        return left

    def turn(self):
        """What was written is what there is."""
        self.keys, self.free_keys = self.free_keys, self.keys
        self.ties, self.free_ties = self.free_ties, self.ties
        self.items, self.free_items = self.free_items, self.items
        self.turned = not self.turned
        return 0


def merge(keys, ties, items, new_keys, new_ties, new_items, begin, middle, end):
    """Two neighbouring runs into one, in other arrays.

    Which of the two comes next is no branch: where it is as likely as not, a wrong guess of the processor would cost
    more than all the rest.
    """
    a: cython.Py_ssize_t = begin
    b: cython.Py_ssize_t = middle
    k: cython.Py_ssize_t = begin
    at: cython.Py_ssize_t
    second: cython.Py_ssize_t
    while a < middle and b < end:
        second = (keys[b] < keys[a]) | ((keys[b] == keys[a]) & (ties[b] < ties[a]))
        at = a + second * (b - a)
        new_keys[k] = keys[at]
        new_ties[k] = ties[at]
        new_items[k] = items[at]
        b += second
        a += 1 - second
        k += 1
    copy(keys, ties, items, new_keys, new_ties, new_items, a, middle, k)
    copy(keys, ties, items, new_keys, new_ties, new_items, b, end, k + middle - a)
    return 0


def copy(keys, ties, items, new_keys, new_ties, new_items, begin, end, to):
    """Entries as they are into other arrays; how many."""
    i: cython.Py_ssize_t
    to -= begin
    for i in range(begin, end):
        new_keys[to + i] = keys[i]
        new_ties[to + i] = ties[i]
        new_items[to + i] = items[i]
    return end - begin
