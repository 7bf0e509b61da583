from walltime.kernel.jobs cimport OUTSIDE, JobTable
from walltime.kernel.queue.sorting cimport Sorter
from walltime.kernel.queue.waiting cimport Queue

cdef class ScanQueue(Queue):
    cdef readonly long long[::1] slot
    cdef long long[::1] cores
    cdef long long[::1] estimate
    cdef long long[::1] key
    cdef long long[::1] seq

    cpdef int push(self, Py_ssize_t slot) except -1
    cpdef int remove(self, Py_ssize_t slot) except -1
    cpdef Py_ssize_t head(self) except -2
    cpdef Py_ssize_t next(self, Py_ssize_t slot) except -2
    cpdef Py_ssize_t find(self, long long free, long long extra, long long window, Py_ssize_t after, long long longest) except -2
    cpdef int reorder(self) except -1
    cdef long long[::1] ordered(self)
    cdef Py_ssize_t leading(self, Py_ssize_t many, long long[::1] slots) except? -1
    cdef Py_ssize_t behind(self, Py_ssize_t slot) except? -1
    cdef bint quiet(self, Py_ssize_t last) except? -1
    cdef int rekeyed(self) except -1
