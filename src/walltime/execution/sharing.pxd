from walltime.execution.lists cimport NodeLists
from walltime.execution.tasks cimport TaskExecution
from walltime.execution.tasktable cimport COMPUTE, TaskTable

cdef class ProcessorSharing(TaskExecution):
    cdef double[::1] virtual
    cdef long long[::1] sharers
    cdef NodeLists heap
    cdef int ready(self, Py_ssize_t t) except -1
    cdef int rest(self, Py_ssize_t t) except -1
    cdef int advance(self, Py_ssize_t i, long long now) except -1
    cdef long long predict(self, Py_ssize_t i) noexcept
    cdef long long remaining(self, Py_ssize_t t) noexcept
    cdef int rebase(self, Py_ssize_t i) noexcept
    cdef bint before(self, Py_ssize_t a, Py_ssize_t b) noexcept
    cdef int rise(self, Py_ssize_t i, Py_ssize_t k, Py_ssize_t t) noexcept
    cdef int leave(self, Py_ssize_t i, Py_ssize_t k) noexcept
