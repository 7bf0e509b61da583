from libc.string cimport memmove

from walltime.kernel.arrays cimport count_below, words
from walltime.kernel.jobs cimport JobTable

cdef extern from *:
    int __builtin_clzll(unsigned long long x) noexcept nogil

cdef enum:
    LEAF = 16
    FILL = 12
    ENTRY = 4
    WORDS = 64

# The entries from word `begin` up to `end` go one place up; those behind the one at `begin` go one place down.
cdef inline void move_up(long long *a, Py_ssize_t begin, Py_ssize_t end) noexcept:
    memmove(&a[begin + ENTRY], &a[begin], 8 * (end - begin))

cdef inline void move_down(long long *a, Py_ssize_t begin, Py_ssize_t end) noexcept:
    memmove(&a[begin], &a[begin + ENTRY], 8 * (end - begin - ENTRY))

cdef inline void copy_entry(long long *to, Py_ssize_t at, long long *a, Py_ssize_t i) noexcept:
    to[at] = a[i]
    to[at + 1] = a[i + 1]
    to[at + 2] = a[i + 2]
    to[at + 3] = a[i + 3]

cdef class Entries:
    cdef Py_ssize_t size
    cdef long long[::1] at

    cdef int make_room(self, Py_ssize_t n) except -1
    cdef int add(self, long long slot, long long seq, long long cores, long long estimate) noexcept

cdef class QueueIndex:
    # what every search looks at comes first, side by side: there are dozens of these, and a view takes four cache lines
    cdef JobTable jobs
    cdef readonly Py_ssize_t size
    cdef readonly Py_ssize_t leaves
    cdef Py_ssize_t used
    cdef Py_ssize_t first
    cdef long long low
    cdef Py_ssize_t width
    cdef int shift
    cdef readonly bint indexed
    cdef Py_ssize_t found
    cdef Py_ssize_t found_in
    cdef long long *entries  # the addresses of the arrays below
    cdef long long *counts
    cdef long long *tops
    cdef long long *minima
    cdef long long *low_counts
    cdef long long *high_counts
    cdef list children
    # the line: leaves of up to LEAF entries, in order; leaf i holds keys up to (top_key[i], top_seq[i])
    cdef long long[::1] at
    cdef long long[::1] count
    cdef long long[::1] top_key
    cdef long long[::1] top_seq
    # the classes of core counts
    cdef long long[::1] least
    cdef long long[::1] narrowest
    cdef long long[::1] widest
    cdef long long[::1] parted  # room for the jobs by class

    cpdef int insert(self, Py_ssize_t slot) except -1
    cpdef int remove(self, Py_ssize_t slot) except -1
    cdef Py_ssize_t place_in(self, Py_ssize_t leaf, Py_ssize_t slot) noexcept
    cpdef Py_ssize_t head(self) noexcept
    cpdef Py_ssize_t next(self, Py_ssize_t slot) noexcept
    cpdef Py_ssize_t find(self, long long cores, long long window, Py_ssize_t after) except -2
    cdef Py_ssize_t write_slots(self, long long[::1] out, Py_ssize_t many) noexcept
    cdef int write_entries(self, Entries out) noexcept
    cdef bint precedes(self, Py_ssize_t a, Py_ssize_t b) noexcept
    cdef Py_ssize_t locate(self, long long key, long long seq) noexcept
    cdef Py_ssize_t position(self, Py_ssize_t leaf, long long key, long long seq) noexcept
    cdef int allot(self, Py_ssize_t leaves) except -1
    cdef int rebuild(self, Py_ssize_t room) except -1
    cdef int refill(self, long long[::1] order, Py_ssize_t n, Entries entries) except -1
    cdef int refill_children(self, long long[::1] order, Py_ssize_t n, Entries entries) except -1
    cdef int reseparate(self) except -1
    cdef int separate(self) noexcept
    cdef int spread(self, Py_ssize_t leaf) except -1
    cdef Py_ssize_t classify(self, long long cores) noexcept
    cdef long long ceiling(self, Py_ssize_t cls) noexcept
    cdef int enter(self, Py_ssize_t leaf, Py_ssize_t slot) except -1
    cdef int leave(self, Py_ssize_t leaf, Py_ssize_t slot, long long cores, long long estimate) except -1
    cdef int sum_leaf(self, Py_ssize_t leaf) noexcept
    cdef int renew_leaf(self, Py_ssize_t leaf, Py_ssize_t cls, long long estimate) noexcept
    cdef int sum_node(self, Py_ssize_t node) noexcept
    cdef int sum_first(self, Py_ssize_t many) noexcept
    cdef int meet_all(self) except -1
    cdef QueueIndex child(self, Py_ssize_t cls)
    cdef Py_ssize_t leftmost(self, Py_ssize_t cls, long long window, Py_ssize_t after) noexcept
    cdef Py_ssize_t scan(self, Py_ssize_t leaf, Py_ssize_t k, long long ceiling, long long window) noexcept
