from walltime.policy.api cimport Broker
from walltime.policy.clusters cimport cluster_at

cdef class First(Broker):
    cpdef int route(self, Py_ssize_t slot, list clusters) except? -1
