from walltime.kernel.drafts.draft cimport Draft
from walltime.kernel.drafts.draft_cores cimport CoreDraft
from walltime.kernel.drafts.draft_nodes cimport NodeDraft
from walltime.kernel.queue.waiting cimport Queue
from walltime.policies.backfill.conservative cimport Conservative
from walltime.policy.api cimport ARRIVAL, Pass
from walltime.policy.optimise cimport Optimiser, UserTotals

cdef class Plan(Conservative):
    cdef readonly str build
    cdef bint best
    cdef readonly Optimiser optimiser
    cdef CoreDraft counted
    cdef NodeDraft named
    cdef readonly UserTotals people
    cdef Queue queue
    cdef long long due
    cdef long long asked
    cdef long long early
    cdef long long[::1] slots
    cdef int watch(self, Pass p) except -1
    cdef int put(self, Pass p, Py_ssize_t slot) except -1
    cdef int replan(self, Pass p, long long[::1] waiting) except -1
    cdef int improve(self, Pass p) except -1
    cdef bint is_time(self, Pass p) except? -1
    cdef int changed_from_outside(self) except -1
    cdef int optimise(self, Pass p) except -1
    cdef Py_ssize_t collect(self, Pass p) except -1
    cdef Py_ssize_t nearest(self, Pass p, Py_ssize_t count) except -1
