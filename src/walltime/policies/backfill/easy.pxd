from walltime.policy.api cimport ARRIVAL, Pass, Policy

cdef class Easy(Policy):
    cdef Py_ssize_t blocked
    cpdef int schedule(self, Pass p) except -1
    cdef int consider_arrivals(self, Pass p) except -1
