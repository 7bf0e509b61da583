from walltime.kernel.arrays cimport words
from walltime.kernel.profiles.blocks cimport Blocks
from walltime.kernel.profiles.node_bits cimport move_words

cdef class KeptSteps(Blocks):
    cdef Py_ssize_t kinds

    cdef int add(self, Py_ssize_t i, long long start, long long end, long long[::1] amounts, Py_ssize_t at) except -1
    cdef int remove(self, Py_ssize_t i, long long start, long long end, long long[::1] amounts, Py_ssize_t at) noexcept
    cdef Py_ssize_t find(self, Py_ssize_t i, long long time) noexcept
    cdef int add_last(self, Py_ssize_t p, Py_ssize_t i, long long start, long long end, long long[::1] amounts, Py_ssize_t at) noexcept
    cdef Py_ssize_t cut(self, Py_ssize_t i, long long time) except -1
    cdef int change(self, Py_ssize_t p, Py_ssize_t last, long long sign, long long[::1] amounts, Py_ssize_t at) noexcept
    cdef int leave(self, Py_ssize_t i, Py_ssize_t p) noexcept
