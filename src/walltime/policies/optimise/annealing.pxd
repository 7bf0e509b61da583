from walltime.kernel.drafts.draft cimport Draft
from walltime.policies.optimise.search cimport Search

cdef class Annealing(Search):
    cdef readonly double temperature
    cdef readonly double final
    cdef double warmth
    cdef double cooling
    cdef double height
    cdef double lowest
    cdef int begin(self, Draft draft) except -1
    cdef int step(self, Draft draft) except -1
    cdef int finish(self, Draft draft) except -1
    cdef double rise(self) noexcept
