from walltime.kernel.index cimport QueueIndex
from walltime.kernel.jobs cimport LINE, OUTSIDE, PARKED, JobTable

cdef class Queue:
    cdef readonly JobTable jobs
    cdef readonly Py_ssize_t size
    cdef readonly Py_ssize_t parked
    cdef readonly bint disturbed
    cdef dict parking
    cdef long long[::1] buffer

    cpdef int push(self, Py_ssize_t slot) except -1
    cpdef int remove(self, Py_ssize_t slot) except -1
    cpdef Py_ssize_t head(self) except? -1
    cpdef Py_ssize_t next(self, Py_ssize_t slot) except? -1
    cpdef Py_ssize_t find(self, long long free, long long extra, long long window, Py_ssize_t after) except? -1
    cpdef int reorder(self) except -1
    cdef long long[::1] ordered(self)
    cpdef int park(self, Py_ssize_t slot, object limit) except -1
    cpdef int unpark(self, object limit) except -1
    cdef Py_ssize_t fresh(self, Py_ssize_t i) noexcept
    cdef int settle(self) noexcept
    cdef bint ahead(self, Py_ssize_t slot) except? -1
    cdef bint precedes(self, Py_ssize_t a, Py_ssize_t b) noexcept
    cdef int leave_parking(self, Py_ssize_t slot) except -1

cdef class OrderedQueue(Queue):
    cdef QueueIndex line
    cdef long long[::1] tail
    cdef Py_ssize_t begin
    cdef Py_ssize_t end
    cdef Py_ssize_t seen
    cdef long long last_key
    cdef long long last_seq

    cpdef int push(self, Py_ssize_t slot) except -1
    cpdef int remove(self, Py_ssize_t slot) except -1
    cpdef Py_ssize_t head(self) except? -1
    cpdef Py_ssize_t next(self, Py_ssize_t slot) except? -1
    cpdef Py_ssize_t find(self, long long free, long long extra, long long window, Py_ssize_t after) except? -1
    cpdef int reorder(self) except -1
    cdef long long[::1] ordered(self)
    cdef Py_ssize_t fresh(self, Py_ssize_t i) noexcept
    cdef int settle(self) noexcept
    cdef int flush(self) except -1
    cdef int shift(self) noexcept
