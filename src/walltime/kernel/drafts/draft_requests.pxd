from walltime.kernel.arrays cimport words
from walltime.kernel.ledger.resources cimport ResourceLedger
from walltime.kernel.profiles.node_bits cimport put_node
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
    cdef long long[::1] serve  # the nodes that may be used,
    cdef long long[::1] first  # and where the pairs are that tell which are taken first; -1 while they are not made
    cdef long long[::1] last
    cdef long long[::1] pair
    cdef Py_ssize_t pairs
    cdef long long[::1] group  # by node, while an order is made
    cdef long long[::1] time
    cdef long long[::1] filled
    cdef long long[::1] word

    cdef int clear(self, ResourceLedger ledger, NodeTable table) except -1
    cdef int make_room(self, Py_ssize_t count) except -1
    cdef Py_ssize_t enter(self, Py_ssize_t x, NodeTable table, long long[::1] unit) except -1
    cdef bint no_harder(self, Py_ssize_t p, Py_ssize_t q) noexcept
    cdef int order(self, Py_ssize_t q) except -1
    cdef Py_ssize_t sort_nodes(self, Py_ssize_t q) except -1
    cdef Py_ssize_t group_of(self, long long time, Py_ssize_t groups) noexcept
