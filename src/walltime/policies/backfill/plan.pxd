from walltime.kernel.draft cimport Draft
from walltime.kernel.ledger.plan cimport PlanLedger
from walltime.policies.backfill.conservative cimport Conservative
from walltime.policy.api cimport ARRIVAL, Pass
from walltime.policy.optimise cimport Optimiser, People

cdef class Plan(Conservative):
    cdef readonly str build
    cdef bint best
    cdef readonly Optimiser optimiser
    cdef Draft draft
    cdef People people
    cdef long long due
    cdef long long asked
    cdef long long early
    cdef long long[::1] slots
    cdef int watch(self, Pass p) except -1
    cdef int put(self, Pass p, Py_ssize_t slot) except -1
    cdef int replan(self, Pass p, long long[::1] waiting) except -1
    cdef int improve(self, Pass p) except -1
    cdef int start(self, Pass p, Py_ssize_t slot) except -1
    cdef bint is_time(self, Pass p, PlanLedger ledger) except? -1
    cdef int optimise(self, Pass p, PlanLedger ledger) except -1
    cdef Py_ssize_t collect(self, Pass p) except -1
    cdef Py_ssize_t nearest(self, Pass p, Py_ssize_t count) except -1
