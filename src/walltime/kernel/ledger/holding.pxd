from walltime.kernel.ledger.naming cimport Naming

cdef class Holding(Naming):
    cpdef int hold(self, Py_ssize_t slot, long long start) except -1
    cpdef int loosen(self, Py_ssize_t slot) except -1
    cpdef long long advance(self, Py_ssize_t slot) except? -1
    cpdef int unhold(self, Py_ssize_t slot) except -1
    cpdef int release_holds(self) except -1
    cdef int make_hold(self, Py_ssize_t slot, long long start, long long end) except -1
    cdef int drop_hold(self, Py_ssize_t h) except -1
    cdef bint is_settled(self, Py_ssize_t slot, long long start) except? -1
    cdef int hold_again(self, Py_ssize_t slot, long long start) except -1
    cdef long long worst_of(self, Py_ssize_t h, Py_ssize_t x) except? -2
    cdef int renew_number(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) except -1
    cdef int forget_hold(self, Py_ssize_t h) except -1
    cdef int name_around(self, Py_ssize_t h) except -1
