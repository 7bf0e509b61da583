from walltime.kernel.arrays cimport words
from walltime.kernel.ledger.resources cimport ResourceLedger
from walltime.kernel.profiles.node_bits cimport move_words, put_node, put_run
from walltime.kernel.profiles.node_table cimport NodeTable

cdef class Requests:
    cdef ResourceLedger ledger
    cdef Py_ssize_t columns
    cdef Py_ssize_t span  # words of a set of nodes
    cdef readonly Py_ssize_t count
    cdef long long[::1] number  # by request of the ledger; -1 for one that is not here
    cdef long long[::1] shape  # by number: the request of the ledger,
    cdef long long[::1] want  # how many nodes,
    cdef long long[::1] set  # of which set of them,
    cdef long long[::1] alone  # whether alone,
    cdef long long[::1] amount  # how much of each node, by column,
    cdef long long[::1] asks  # what is asked of it, as in fit_nodes,
    cdef long long[::1] ask
    cdef long long[::1] roughs  # the same of the highest bits alone,
    cdef long long[::1] rough
    cdef long long[::1] serve  # the nodes that may be used,
    cdef long long[::1] first  # and where the pairs are that tell which are taken first; -1 while they are not made
    cdef long long[::1] last
    cdef long long[::1] pair
    cdef Py_ssize_t pairs
    cdef Py_ssize_t runs  # while an order is made: nodes one behind the other that have room at the same time,
    cdef long long[::1] run  # the first node of each,
    cdef long long[::1] group  # which group it is of;
    cdef long long[::1] time  # by group
    cdef long long[::1] filled
    cdef long long[::1] word

    cdef int clear(self, ResourceLedger ledger, NodeTable table) except -1
    cdef int make_room(self, Py_ssize_t count) except -1
    cdef Py_ssize_t enter(self, Py_ssize_t x, NodeTable table, long long[::1] unit) except -1
    cdef int list_asks(self, Py_ssize_t q, NodeTable table) noexcept
    cdef bint no_harder(self, Py_ssize_t p, Py_ssize_t q) noexcept
    cdef int order(self, Py_ssize_t q) except -1
    cdef Py_ssize_t sort_nodes(self, Py_ssize_t q) except -1
    cdef long long time_of(self, long long time) noexcept
    cdef Py_ssize_t group_of(self, long long time, Py_ssize_t groups) noexcept

cdef class Easier:
    cdef Py_ssize_t jobs  # for so many they are listed
    cdef long long[::1] count  # by job: how many others,
    cdef long long[::1] other  # and which, EASIER each
    cdef long long[::1] tried  # when it can begin at the earliest; -1 if that was not asked

    cdef int begin(self, Requests requests, long long[::1] request, long long[::1] length, Py_ssize_t jobs) except -1
    cdef int list_jobs(self, Requests requests, long long[::1] request, long long[::1] length) except -1
    cdef object sort_jobs(self, Requests requests, long long[::1] request, long long[::1] length)
    cdef long long not_before(self, Py_ssize_t i, long long after) noexcept
