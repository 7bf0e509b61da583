from walltime.kernel.ledger.holding cimport Holding
from walltime.kernel.ledger.node_pool cimport NodePool

cdef class ResourceLedger(Holding):
    cpdef int take(self, Py_ssize_t slot) except -1
    cpdef int give(self, Py_ssize_t slot) except -1
    cpdef int give_node(self, Py_ssize_t slot, Py_ssize_t node) except -1
    cpdef int prolong(self, Py_ssize_t slot, long long until) except -1
    cpdef int shut(self, Py_ssize_t blocker, object nodes, long long until) except -1
    cpdef int keep_shut(self, Py_ssize_t blocker, object nodes, long long start, long long end) except -1
    cpdef int put_back(self, Py_ssize_t slot, object where) except -1
    cdef int put_licences(self, Py_ssize_t slot, Py_ssize_t x) except -1
    cdef int settle_one(self, Py_ssize_t slot, NodePool pool) except -1
    cdef int settle(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool) except -1
    cdef bint has_nodes(self, Py_ssize_t job, Py_ssize_t x, object where, long long end) except? -1
