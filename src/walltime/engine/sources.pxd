from walltime.kernel.heap cimport EventHeap
from walltime.kernel.jobs cimport CANCELLED, COMPLETED, TIMEOUT, JobTable
from walltime.kernel.source cimport Engine, Source

cdef class Limits(Source):
    cdef EventHeap due
    cdef int watch(self, Py_ssize_t slot) except -1
    cpdef fire(self, long long now)

cdef class Cancellations(Source):
    cdef EventHeap due
    cdef int plan(self, Py_ssize_t slot, long long time) except -1
    cpdef fire(self, long long now)

cdef class Releases(Source):
    cdef EventHeap due
    cdef int plan(self, Py_ssize_t slot, long long time) except -1
    cpdef fire(self, long long now)

cdef class Timers(Source):
    cdef EventHeap due
    cdef int plan(self, int cluster, long long time) except -1
    cpdef fire(self, long long now)
