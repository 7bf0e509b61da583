from walltime.kernel.ledger.place cimport Place
from walltime.kernel.ledger.node_pool cimport NodePool

cdef class WorstFit(Place):
    cpdef int pick(self, NodePool pool, long long nodes, long long least, Py_ssize_t slot) except -1
    cpdef int spread(self, NodePool pool, long long cores, Py_ssize_t slot) except -1
