from walltime.kernel.drafts.draft cimport Draft
from walltime.policies.optimise.search cimport Search

cdef class Tabu(Search):
    cdef readonly long long memory
    cdef long long[::1] lately
    cdef Py_ssize_t remembered
    cdef Py_ssize_t next
    cdef int begin(self, Draft draft) except -1
    cdef Py_ssize_t pick(self, Draft draft) except -1
