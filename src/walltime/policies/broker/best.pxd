from walltime.policy.api cimport Broker
from walltime.policy.clusters cimport ClusterView, cluster_at

cdef class Best(Broker):
    cpdef int route(self, Py_ssize_t slot, list clusters) except? -1
    cdef bint is_better(self, ClusterView a, ClusterView b) except -1
