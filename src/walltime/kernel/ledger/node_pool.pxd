from walltime.kernel.arrays cimport words

cdef extern from *:
    int __builtin_ctzll(unsigned long long x) noexcept nogil
    int __builtin_clzll(unsigned long long x) noexcept nogil

cdef class RoughRoom:
    cdef readonly Py_ssize_t kinds
    cdef readonly Py_ssize_t words
    cdef long long[::1] limits  # by resource, rising
    cdef long long[::1] reached  # by node and resource: how many of the limits it reaches
    cdef long long[::1] bits
    # the bitmaps that a question is about
    cdef long long[::1] rows
    cdef Py_ssize_t asked

    cpdef int set(self, Py_ssize_t i, Py_ssize_t r, long long free) noexcept
    cpdef int ask(self, long long[::1] each, Py_ssize_t at, Py_ssize_t first) noexcept
    cpdef long long among(self, Py_ssize_t w) noexcept

cdef class NodePool:
    cdef readonly Py_ssize_t size
    cdef readonly long long top
    cdef readonly long long total
    cdef readonly bint ranked
    cdef readonly bint treed
    cdef long long[::1] room  # the memory of what follows
    cdef long long *value
    cdef long long *count
    # the numbers of free cores that occur; for each of them its nodes
    cdef Py_ssize_t words
    cdef Py_ssize_t heads
    cdef long long *levels
    cdef long long *bits
    cdef long long *summary
    # the most free cores below each node of a binary tree
    cdef Py_ssize_t leaves
    cdef long long[::1] tree
    # assumptions that are still to be taken back
    cdef readonly Py_ssize_t assumed
    cdef long long[::1] changed
    cdef long long[::1] former
    # what a placement has chosen
    cdef readonly Py_ssize_t chosen
    cdef readonly bint explicit
    cdef long long[::1] node
    cdef long long[::1] share
    cdef long long[::1] mask
    cdef long long[::1] spot
    # the nodes that a search for runs is about, and the longest run that it met
    cdef long long[::1] wide
    cdef readonly Py_ssize_t longest

    cdef int make_room(self) except -1
    cpdef int set(self, Py_ssize_t i, long long free) noexcept
    cpdef int assume(self, Py_ssize_t i, long long free) except -1
    cpdef int undo(self, Py_ssize_t mark) noexcept
    cpdef long long at_least(self, long long least) noexcept
    cpdef bint enough(self, long long least, long long nodes) noexcept
    cpdef long long level_from(self, long long free) noexcept
    cpdef long long level_to(self, long long free) noexcept
    cpdef Py_ssize_t first_of(self, long long free, Py_ssize_t start) noexcept
    cpdef Py_ssize_t first_with(self, long long least, Py_ssize_t start) noexcept
    cdef int gather(self, long long least) noexcept
    cdef int widen(self, long long free) noexcept
    cpdef Py_ssize_t first_run(self, long long nodes, long long least) noexcept
    cdef Py_ssize_t seek_run(self, long long nodes) noexcept
    cpdef int clear(self) noexcept
    cpdef int put(self, Py_ssize_t i, long long cores) noexcept
    cdef int sort(self) noexcept
    cdef int enter(self, Py_ssize_t i, long long free) noexcept
    cdef int leave(self, Py_ssize_t i, long long free) noexcept
