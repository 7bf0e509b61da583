from cpython.exc cimport PyErr_CheckSignals
from walltime.kernel.drafts.draft cimport Draft
from walltime.policy.optimise cimport Objective, Operator, Optimiser, UserTotals, RandomNumbers

cdef class Search(Optimiser):
    cdef readonly object rounds
    cdef readonly bint pareto
    cdef list objectives
    cdef list names
    cdef list operators
    cdef double[::1] weight
    cdef double[::1] chance
    cdef double[::1] current
    cdef double[::1] tried
    cdef double[::1] given
    cdef Py_ssize_t count
    cdef readonly long long evaluations
    cdef Py_ssize_t left
    cpdef improve(self, Draft draft, UserTotals people)
    cdef int measure(self, Draft draft, double[::1] into) except -1
    cdef int begin(self, Draft draft) except -1
    cdef int step(self, Draft draft) except -1
    cdef int finish(self, Draft draft) except -1
    cdef Py_ssize_t pick(self, Draft draft) except -1
    cdef int change(self, Draft draft, Py_ssize_t job) except -1
    cdef bint attempt(self, Draft draft) except -1
    cdef int evaluate(self, Draft draft) except -1
    cdef double score(self) noexcept
    cdef bint better(self) noexcept
    cdef bint no_worse(self) noexcept
    cdef bint worse_than_given(self) noexcept
    cdef int keep(self, Draft draft) except -1
    cdef int back(self, Draft draft) except -1
    cdef int undo(self, Draft draft) except -1
    cdef int compress(self, Draft draft) except -1

cdef class RandomSearch(Search):
    pass

cdef class GapSearch(Search):
    pass
