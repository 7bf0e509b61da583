from walltime.kernel.profiles.node_space cimport NodeSpace
from walltime.policies.rhythm.will_run cimport WillRun

cdef class Chance:
    cdef NodeSpace space
    cdef WillRun look
    cdef long long window
    cdef long long resolution
    cdef long long now
    cdef long long ran
    cdef bint vague
    cdef long long from_time
    cdef long long until
    # kinds of jobs
    cdef Py_ssize_t kinds
    cdef long long[::1] demand
    cdef long long[::1] members
    cdef long long[::1] queue
    cdef long long[::1] nodes
    cdef long long[::1] length
    cdef long long[::1] time
    cdef long long[::1] untils

    cdef int begin(self, long long now) noexcept
    cdef long long first(self, Py_ssize_t slot, Py_ssize_t queue, long long length, long long bound) except *
    cdef int forget(self) noexcept
    cdef Py_ssize_t kind_of(self, Py_ssize_t queue, long long length) noexcept
    cdef int find_until(self) noexcept
    cdef long long note(self, Py_ssize_t k, Py_ssize_t queue, long long length, long long time) except *
