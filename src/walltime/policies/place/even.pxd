from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger.node_pool cimport NodePool
from walltime.policies.place.worst_fit cimport WorstFit

cdef class Even(WorstFit):
    cdef bint whole
    cpdef int prepare(self, JobTable jobs, object sizes, bint whole, long long seed) except -1
    cpdef int spread(self, NodePool pool, long long cores, Py_ssize_t slot) except -1
