from walltime.engine.cluster cimport Cluster
from walltime.kernel.drafts.draft cimport Draft
from walltime.kernel.drafts.draft_cores cimport CoreDraft
from walltime.kernel.drafts.draft_nodes cimport NodeDraft
from walltime.kernel.jobs cimport JobFields, JobTable
from walltime.kernel.ledger.plan cimport PlanLedger

cdef class JointDraft(Draft):
    cdef list clusters
    cdef readonly list parts  # a draft for each cluster
    cdef dict options
    cdef Py_ssize_t width
    cdef long long[::1] local  # by job and cluster: the job's number in the cluster's draft
    cdef long long[::1] moved
    cdef long long[::1] home_estimate
    cdef long long[::1] home_key
    cdef int open_all(self, list slots, long long now) except -1
    cpdef int close(self) except -1
    cpdef list commit(self)
    cdef int give_back(self) except -1
    cdef Draft part_of(self, Py_ssize_t i)
    cdef Py_ssize_t number(self, Py_ssize_t i) noexcept
    cdef Py_ssize_t find(self, Py_ssize_t i, long long after) except? -1
    cdef int enter(self, Py_ssize_t i, long long start) except -1
    cdef int enter_again(self, Py_ssize_t i, long long start) except -1
    cdef int leave(self, Py_ssize_t i) except -1
    cdef int note(self, Py_ssize_t i) except -1
    cdef int remember(self) except -1
    cdef int recall(self) except -1
    cdef double free_area(self, long long start, long long end) except? -1
    cdef Py_ssize_t first_option(self, Py_ssize_t i) noexcept
    cdef Py_ssize_t last_option(self, Py_ssize_t i) noexcept
    cdef bint suits(self, Py_ssize_t i, Py_ssize_t option) except? -1
    cdef int ask(self, Py_ssize_t i, Py_ssize_t c) except -1
    cdef int settle_in(self, Py_ssize_t i, Py_ssize_t option) except -1
    cdef int withdraw(self) except -1
    cpdef int keep(self) except -1
    cpdef int undo(self) except -1
