from walltime.kernel.ledger.node_pool cimport NodePool
from walltime.kernel.ledger.set_profiles cimport SetProfiles
from walltime.kernel.profiles.availability cimport Availability
from walltime.kernel.profiles.free_profile cimport FreeProfile
from walltime.kernel.profiles.running_profile cimport RunningProfile

cdef class SetBounds(SetProfiles):
    cdef int find_edge(self) noexcept
    cpdef bint foresee(self, FreeProfile free_profile) except? -1
    cpdef int focus(self, Py_ssize_t node_set, bint local) except -1
    cpdef int focus_beside(self, Py_ssize_t node_set, Py_ssize_t slot) except -1
    cdef long long number_beside(self, Py_ssize_t h, Py_ssize_t s) except? -1
    cdef long long left_beside(self, Py_ssize_t h, Py_ssize_t s) except? -1
    cpdef int set_time(self, long long now) except -1
    cdef int approach_holds(self, long long now) except -1
    cdef bint is_pinned(self, Py_ssize_t h) noexcept
    cdef int update(self, Py_ssize_t i) except -1
    cdef bint touches(self, Py_ssize_t h, Py_ssize_t s) noexcept
    cdef int lose(self, Py_ssize_t s, long long free, long long barred, long long sign) noexcept
    cdef long long beside(self, Py_ssize_t s, long long least) noexcept
    cpdef Py_ssize_t part_of(self, Py_ssize_t slot) except -1
    cdef int bar(self, Py_ssize_t s, long long e, long long sign) noexcept
    cdef int measure(self, Py_ssize_t s) except -1
    cdef long long most_beside(self, Py_ssize_t h, Py_ssize_t s) except? -1
    cdef long long barred_by(self, long long e) noexcept
    cdef int bound(self) except -1
    cdef bint knows_spare(self) noexcept
    cdef long long extra_of(self, Py_ssize_t s) except? -1
