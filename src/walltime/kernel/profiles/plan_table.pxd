from walltime.kernel.arrays cimport words
from walltime.kernel.profiles.blocks cimport Blocks
from walltime.kernel.profiles.node_bits cimport move_words, put_node
from walltime.kernel.profiles.node_starts cimport NodeStarts
from walltime.kernel.profiles.node_table cimport NodeTable, bits_for, common
from walltime.kernel.profiles.timelines cimport Timelines

cdef class PlanTable:
    cdef Timelines timelines
    cdef NodeStarts starts
    cdef Py_ssize_t n
    cdef Py_ssize_t kinds
    cdef NodeTable base  # beside what runs
    cdef NodeTable table  # and beside the promises
    cdef long long[::1] unit  # by resource: how much a number counts
    cdef long long[::1] bits
    cdef readonly Py_ssize_t demands  # so many are whole numbers of units
    cdef bint fits  # whether numbers are short enough
    cdef long long read  # how much of the log of nodes that changed; -1: the base has nothing
    # by node, what is in the base: of each running job its expected end and its amounts; and what there is
    cdef Blocks tasks
    cdef long long[::1] cap
    cdef long long[::1] amounts  # of one job
    cdef long long[::1] serve  # by set: its nodes
    cdef Py_ssize_t sets
    cdef long long[::1] nodes  # of one promise, and how many
    cdef Py_ssize_t many
    cdef bint form(self) except -1
    cdef bint lay(self, long long now) except -1
    cdef bint follow(self, Py_ssize_t i) except -1
    cdef bint is_same(self, Py_ssize_t p, Py_ssize_t q) noexcept
    cdef bint enter(self, Py_ssize_t i, Py_ssize_t p) except -1
    cdef int leave(self, Py_ssize_t i, Py_ssize_t q) except -1
    cdef int note(self, Py_ssize_t i) except -1
    cdef int put_late(self, long long now) except -1
    cdef int put(self, long long e, long long start, long long end) except -1
    cdef int take(self, long long e, long long start, long long end) except -1
    cdef int change(self, long long e, Py_ssize_t first, Py_ssize_t last, int sign) noexcept
    cdef bint gather(self, long long e, long long *nodes) noexcept
    cdef bint leave_aside(self, long long e, long long start, long long end) noexcept
    cdef bint ask(self, Py_ssize_t d, Py_ssize_t s, long long[::1] member) except -1
    cdef int know_set(self, long long[::1] member) except -1
