from walltime.kernel.profiles.node_space cimport NodeSpace
from walltime.policies.rhythm.will_run cimport WillRun

cdef class Chance:
    cdef NodeSpace space
    cdef WillRun look
    cdef long long window
    cdef long long resolution
    cdef long long from_time
    cdef long long until

    cdef int begin(self, long long now) noexcept
    cdef bint is_left(self, Py_ssize_t slot, Py_ssize_t queue, long long length, long long now) except? -1
