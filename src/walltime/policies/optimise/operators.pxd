from walltime.kernel.drafts.draft cimport Draft
from walltime.policy.optimise cimport Operator, RandomNumbers

cdef class Earliest(Operator):
    cpdef apply(self, Draft draft, RandomNumbers random, Py_ssize_t job)

cdef class Gap(Operator):
    cpdef apply(self, Draft draft, RandomNumbers random, Py_ssize_t job)

cdef class Swap(Operator):
    cpdef apply(self, Draft draft, RandomNumbers random, Py_ssize_t job)

cdef class Sequence(Operator):
    cpdef apply(self, Draft draft, RandomNumbers random, Py_ssize_t job)

cdef class OtherCluster(Operator):
    cpdef apply(self, Draft draft, RandomNumbers random, Py_ssize_t job)

cdef class OtherQueue(Operator):
    cpdef apply(self, Draft draft, RandomNumbers random, Py_ssize_t job)

cdef class SameUser(Operator):
    cdef long long[::1] found
    cpdef apply(self, Draft draft, RandomNumbers random, Py_ssize_t job)
