from walltime.kernel.arrays cimport words

cdef struct Spot:
    long long first
    long long length

cdef inline Spot *spots_in(long long[::1] table) noexcept:
    return <Spot *>&table[0]

cdef class Shares:
    cdef Spot *spots
    cdef long long *at
    cdef readonly Py_ssize_t slots  # jobs for which there is room
    cdef Py_ssize_t end
    cdef long long[::1] table  # the memory of `spots`, and of `at`
    cdef long long[::1] blocks
    cdef long long[::1] ranges
    cdef long long[::1] spare
    cdef int point(self) noexcept
    cdef long long *allot(self, Py_ssize_t slot, Py_ssize_t nodes) except NULL
    cdef int allot_one(self, Py_ssize_t slot, long long share) except -1
    cdef long long *of(self, Py_ssize_t slot) noexcept
    cdef Py_ssize_t count(self, Py_ssize_t slot) noexcept
    cdef int release(self, Py_ssize_t slot) noexcept
    cdef int give_back(self, Py_ssize_t slot) noexcept
    cdef long long remove(self, Py_ssize_t slot, Py_ssize_t node) noexcept
    cdef Py_ssize_t describe(self, Py_ssize_t slot) except -1
