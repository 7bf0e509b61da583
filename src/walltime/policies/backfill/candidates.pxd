from walltime.policy.api cimport Order, Pass

cdef class Candidates:
    cdef readonly Order order
    cdef int start_waiting(self, Pass p) except -1
    cdef int start_fresh(self, Pass p) except -1
    cdef int start(self, Pass p, list fitting) except -1
    cdef list rank(self, Pass p, list fitting)
