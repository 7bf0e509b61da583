from walltime.policies.broker.best cimport Best
from walltime.policy.clusters cimport ClusterView, less_loaded

cdef class LeastLoaded(Best):
    cdef bint is_better(self, ClusterView a, ClusterView b) except -1

cdef class MostFree(Best):
    cdef bint is_better(self, ClusterView a, ClusterView b) except -1

cdef class ShortestQueue(Best):
    cdef bint is_better(self, ClusterView a, ClusterView b) except -1
