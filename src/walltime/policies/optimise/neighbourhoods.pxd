from walltime.kernel.drafts.draft cimport Draft
from walltime.policies.optimise.search cimport Search

cdef class Neighbourhoods(Search):
    cdef readonly Py_ssize_t together
    cdef long long[::1] chosen
    cdef long long[::1] found  # the order that was best so far
    cdef long long[::1] order  # the one that is being tried
    cdef Py_ssize_t depth
    cdef double lowest
    cdef bint improved
    cdef int step(self, Draft draft) except -1
    cdef int choose(self, Draft draft) except -1
    cdef int arrange(self, Draft draft) except -1
    cdef int judge(self, Draft draft) except -1
