from walltime.kernel.arrays cimport words
from walltime.kernel.draft_memory cimport Places
from walltime.kernel.jobs cimport JobTable
from walltime.kernel.node_table cimport NodeTable
from walltime.kernel.ledger.resources cimport ResourceLedger
from walltime.kernel.ledger.timelines cimport Timelines

cdef class DraftTable:
    cdef ResourceLedger ledger
    cdef JobTable jobs
    cdef NodeTable table  # what is left beside all
    cdef NodeTable base  # beside all but the jobs of the draft
    cdef NodeTable aside  # the table that was kept, while all are placed again
    cdef int cell  # bytes of a number in the tables,
    cdef long long[::1] unit  # and how much it counts, by resource
    cdef readonly Py_ssize_t size
    cdef long long[::1] shape  # by job: its request,
    cdef long long[::1] length
    cdef long long[::1] start  # when it begins; -1 while it is out
    cdef long long[::1] first  # where its nodes are in `node`, in the order in which the ledger would tell them
    cdef long long[::1] node
    cdef Py_ssize_t used
    cdef long long[::1] mine  # by hold of the ledger: whether it is of a job of the draft
    cdef bint starts_over  # whether jobs are only put in, one after the other
    cdef long long[::1] tried  # the jobs that were, each at its earliest start
    cdef Py_ssize_t tries
    cdef Py_ssize_t found_for
    cdef long long found_at
    cdef long long found_version

    cdef bint serves(self, ResourceLedger ledger, long long[::1] slots, Py_ssize_t count) except? -1
    cdef bint find_units(self, long long[::1] slots, Py_ssize_t count) except? -1
    cdef bint knows(self, Py_ssize_t slot) except? -1
    cdef int begin(self, long long[::1] slots, long long[::1] length, Py_ssize_t count) except -1
    cdef int make_room(self, Py_ssize_t jobs) except -1
    cdef int add(self, Py_ssize_t i, Py_ssize_t slot, long long length) except -1
    cdef bint read(self, Py_ssize_t i, Py_ssize_t slot) except? -1
    cdef int fill_base(self) except -1
    cdef int fill_ends(self) except -1
    cdef int fill_holds(self) except -1
    cdef Py_ssize_t find(self, Py_ssize_t i, long long after) except? -1
    cdef long long not_before(self, Py_ssize_t i, long long after) noexcept
    cdef int show_own(self, Py_ssize_t i, int sign) noexcept
    cdef int enter(self, Py_ssize_t i, long long start) except -1
    cdef int choose(self, Py_ssize_t i, long long start) except -1
    cdef int enter_at(self, Py_ssize_t i, long long start, Places places) except -1
    cdef int take_nodes(self, Py_ssize_t i, Places places) noexcept
    cdef int put(self, Py_ssize_t i, long long start) except -1
    cdef int leave(self, Py_ssize_t i) except -1
    cdef int change(self, Py_ssize_t i, Py_ssize_t first, Py_ssize_t last, int sign) noexcept
    cdef int clear(self) except -1
    cdef int back(self) except -1
    cdef int note(self, Py_ssize_t i, Places places) except -1
    cdef bint agrees(self, Py_ssize_t i, Py_ssize_t slot) noexcept
