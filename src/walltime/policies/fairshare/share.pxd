from libc.math cimport sqrt

from walltime.kernel.jobs cimport JobTable, require_job
from walltime.kernel.usage cimport HalfLife, SteppedUsage, Usage
from walltime.policies.fairshare.tree cimport ShareTree

cdef class FairShare:
    cdef readonly object settings
    cdef readonly Usage usage
    cdef readonly ShareTree tree
    cdef readonly object people
    cdef readonly object samples
    cdef object origin
    cdef HalfLife half
    cdef int formula
    cdef int kind
    cdef Py_ssize_t width
    cdef readonly long long interval
    cdef double dampening
    cdef double cores
    cdef double memory
    cdef double gpus
    cdef readonly long long renewals
    cdef readonly long long time
    cdef long long grown
    cdef long long next_reset
    cdef dict found
    cdef long long[::1] leaf_of

    cpdef attach(self, object surroundings)
    cpdef Py_ssize_t find_leaf(self, JobTable jobs, Py_ssize_t slot, long long now) except -1
    cpdef long long renew(self, long long now) except *
    cdef long long due(self, long long now) noexcept
    cdef int calculate(self, long long time) except -1
    cdef int forget(self, long long time) except -1
    cdef int catch_up(self, long long now) except -1
    cpdef int started(self, JobTable jobs, Py_ssize_t slot, long long now, long long cores) except -1
    cpdef int stopped(self, JobTable jobs, Py_ssize_t slot, long long now) except -1
    cdef int set_charge(self, JobTable jobs, Py_ssize_t slot, long long cores) except -1

cpdef FairShare require_share(FairShare share)
