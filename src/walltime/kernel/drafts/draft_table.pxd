from walltime.kernel.arrays cimport words
from walltime.kernel.drafts.draft_base cimport DraftBase
from walltime.kernel.drafts.draft_memory cimport Places
from walltime.kernel.drafts.draft_requests cimport Easier, Requests
from walltime.kernel.ledger.resources cimport ResourceLedger
from walltime.kernel.profiles.node_bits cimport has_node, meet_nodes, move_words, pick_nodes, put_node
from walltime.kernel.profiles.node_table cimport NodeTable

cdef class DraftTable(DraftBase):
    cdef NodeTable table  # what is left beside all
    cdef NodeTable aside  # the table that was kept, while all are placed again
    cdef Requests requests
    cdef readonly Py_ssize_t size
    cdef long long[::1] request  # by job: what it asks for,
    cdef long long[::1] length
    cdef long long[::1] start  # when it begins; -1 while it is out
    cdef long long[::1] nodes  # which nodes it has,
    cdef long long[::1] room  # and which had room when they were chosen;
    cdef long long[::1] listed  # or whether they are listed
    cdef long long[::1] first  # in `node` from here on, in the order in which the ledger would tell them
    cdef long long[::1] node
    cdef Py_ssize_t used
    cdef long long[::1] nodes_before  # the same before all were placed again
    cdef long long[::1] room_before
    cdef long long[::1] listed_before
    cdef long long[::1] told  # the nodes of one job, as the ledger would tell them
    cdef long long[::1] sizes  # of nodes, in cores,
    cdef long long[::1] of_size  # and which have it
    cdef long long[::1] spare  # a set of nodes
    cdef bint starts_over  # whether jobs are only put in, one after the other
    cdef long long over_from
    cdef Easier easier
    cdef Py_ssize_t found_for
    cdef long long found_at
    cdef long long found_version

    cdef bint begin(self, long long[::1] slots, long long[::1] shapes, long long[::1] length, Py_ssize_t count) except? -1
    cdef bint take_over(
        self, long long[::1] slots, long long[::1] shapes, long long[::1] length, Py_ssize_t count, long long[::1] bits, bint below
    ) except? -1
    cdef int find_sizes(self) except -1
    cdef int make_room(self, Py_ssize_t jobs) except -1
    cdef int add(self, Py_ssize_t i, Py_ssize_t x, long long length) except -1
    cdef bint read(self, Py_ssize_t i, Py_ssize_t slot) except? -1
    cdef Py_ssize_t find(self, Py_ssize_t i, long long after) except? -1
    cdef int enter(self, Py_ssize_t i, long long start) except -1
    cdef int enter_at(self, Py_ssize_t i, long long start, Places places) except -1
    cdef int mark_listed(self, Py_ssize_t i) noexcept
    cdef int put(self, Py_ssize_t i, long long start) except -1
    cdef int leave(self, Py_ssize_t i) except -1
    cdef int change(self, Py_ssize_t i, Py_ssize_t first, Py_ssize_t last, int sign) noexcept
    cdef int change_whole(self, Py_ssize_t i, Py_ssize_t first, Py_ssize_t last, int sign) noexcept
    cdef int start_over(self, long long[::1] sequence, Py_ssize_t position) except -1
    cdef int end_over(self) except -1
    cdef int back(self) except -1
    cdef int tell(self, Py_ssize_t i) except -1
    cdef int note(self, Py_ssize_t i, Places places) except -1
    cdef bint agrees(self, Py_ssize_t i, Py_ssize_t slot) except? -1
