from walltime.kernel.ledger.inventory cimport Inventory
from walltime.kernel.ledger.node_pool cimport NodePool
from walltime.kernel.profiles.availability cimport Availability
from walltime.kernel.profiles.release_profile cimport ReleaseProfile
from walltime.kernel.profiles.running_profile cimport RunningProfile

cdef class SetProfiles(Inventory):
    cdef bint conflicts(self, Py_ssize_t slot, long long start, long long end) noexcept
    cdef int meet(self, Py_ssize_t slot, Py_ssize_t s, long long start, long long end) except -1
    cdef int meet_nodes(self, Py_ssize_t slot, Py_ssize_t s, long long start, long long end) noexcept
    cdef bint licensed(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) noexcept
    cdef long long when_licensed(self, Py_ssize_t slot, Py_ssize_t x, long long after, long long length) noexcept
    cdef int follow(self, Py_ssize_t s) except -1
    cdef int follow_ends(self, Py_ssize_t s) except -1
    cpdef long long number(self, Py_ssize_t s, long long time, Py_ssize_t slot) except? -1
    cdef Availability plan_of(self, Py_ssize_t s)
    cdef int plan_hold(self, Py_ssize_t h, long long sign) except -1
    cdef bint apart(self, Py_ssize_t s) noexcept
    cdef long long kept_by_name(self, Py_ssize_t s, long long time, Py_ssize_t slot) noexcept
    cdef int enroll(self, Py_ssize_t slot, long long end, long long cores, bint enters) except -1
    cdef int enroll_sets(self, Py_ssize_t slot, long long end, bint enters) except -1
    cdef int enroll_cores(self, Py_ssize_t k, ReleaseProfile ends, long long end, long long cores, bint enters) except -1
    cdef int plan_cores(self, Py_ssize_t k, long long end, long long cores) except -1
    cdef int enroll_followed(self, Py_ssize_t slot, long long end, bint enters) except -1
