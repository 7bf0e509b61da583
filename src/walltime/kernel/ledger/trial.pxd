from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger.interface cimport Ledger

cdef class Trial:
    cdef Ledger ledger
    cdef dict gone
    cdef list begun
    cdef list lifted
    cdef list drained

    cpdef int begin(self, Ledger ledger) except -1
    cpdef int take_away(self, Py_ssize_t slot) except -1
    cpdef int bring_back(self, Py_ssize_t slot) except -1
    cdef bint start(self, Py_ssize_t slot, long long now) except? -1
    cdef int take_back(self) except -1
    cpdef int lift(self, Py_ssize_t blocker, object nodes, long long start, long long end) except -1
    cpdef int open_up(self, list nodes) except -1
    cpdef int end(self) except -1
