from walltime.policy.api cimport Broker
from walltime.policy.clusters cimport ClusterView, cluster_at, less_loaded

cdef class Fastest(Broker):
    cpdef int route(self, Py_ssize_t slot, list clusters) except? -1
