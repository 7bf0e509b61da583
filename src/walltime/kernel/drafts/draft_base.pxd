from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger.resources cimport ResourceLedger
from walltime.kernel.profiles.node_table cimport NodeTable, bits_for, common
from walltime.kernel.profiles.timelines cimport Timelines

cdef class DraftBase:
    cdef ResourceLedger ledger
    cdef JobTable jobs
    cdef NodeTable base  # what is left beside all but the jobs of the draft
    cdef long long[::1] unit  # how much a number counts, by resource,
    cdef long long[::1] bits  # and how many bits it has, by column,
    cdef long long[::1] bits_below  # or where it may be below nought
    cdef bint counts  # whether there is a column for what is on a node
    cdef long long[::1] mine  # by hold of the ledger: whether it is of a job of the draft

    cdef bint serves(self, ResourceLedger ledger, long long[::1] slots, long long[::1] shapes, Py_ssize_t count) except? -1
    cdef bint find_units(self, long long[::1] slots, long long[::1] shapes, Py_ssize_t count) except? -1
    cdef long long unit_of(self, Py_ssize_t r, long long[::1] shapes, Py_ssize_t count) noexcept
    cdef bint knows(self, Py_ssize_t x) except? -1
    cdef int fill_base(self) except -1
    cdef int fill_ends(self) except -1
    cdef int fill_holds(self) except -1
