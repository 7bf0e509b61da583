from walltime.kernel.arrays cimport words

cdef class FreeProfile:
    cdef long long[::1] time
    cdef long long[::1] free
    cdef readonly Py_ssize_t steps
    cdef readonly long long unit
    # the jobs that were planned last, and the starts that were found
    cdef Py_ssize_t asked
    cdef long long[::1] asked_units
    cdef long long[::1] asked_length
    cdef long long[::1] asked_found
    cpdef int begin(self, long long now, long long free, long long unit) except -1
    cpdef int release(self, long long time, long long units) except -1
    cpdef bint fits(self, long long units, long long until) noexcept
    cpdef long long earliest(self, long long units, long long length) noexcept
    cpdef int hold(self, long long start, long long end, long long units) except -1
    cdef int grow(self) except -1
    cdef long long bound(self, long long units, long long length) noexcept
    cdef long long search(self, long long units, long long length, Py_ssize_t i) noexcept
    cdef Py_ssize_t find(self, long long at) noexcept
