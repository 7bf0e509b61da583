from walltime.kernel.ledger.choosing cimport Choosing
from walltime.kernel.ledger.node_pool cimport NodePool, __builtin_ctzll

cdef class Naming(Choosing):
    cdef int name_nodes(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) except -1
    cdef int name_parts(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) except -1
    cdef bint holds_only(self, Py_ssize_t slot) except? -1
    cdef int find_rooms(self, Py_ssize_t x, long long start) except -1
    cdef int find_freed(self, Py_ssize_t x) except -1
    cdef int keep_named(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) except -1
    cdef int keep_recalled(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) except -1
    cdef int keep_licences(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) except -1
    cdef int renew(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) except -1
    cdef int bar_again(self, Py_ssize_t h, long long e, long long sign) noexcept
    cdef int name_found(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) except -1
    cdef int name_cores(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) except -1
    cdef int keep(self, Py_ssize_t slot, Py_ssize_t d, Py_ssize_t i, long long start, long long end, long long cores, long long times) except -1
