from walltime.execution.model cimport Execution
from walltime.kernel.heap cimport EventHeap
from walltime.kernel.jobs cimport COMPLETED, JobTable, done_in, time_for
from walltime.kernel.prefetch cimport prefetch

cdef long long surplus(long long time, long long work, long long speed) noexcept
cdef long long time_left(long long work, long long ahead, long long speed) noexcept

cdef class TraceExecution(Execution):
    cdef EventHeap ends
    cdef long long interval
    cdef long long cost
    cdef long long restart
    cdef dict unfinished
    cdef dict granted
    cdef dict kept
    cdef dict leading
    cdef dict ahead
    cpdef bint minds(self) except? -1
    cpdef int taken(self, Py_ssize_t slot) except -1
    cpdef int ended(self, Py_ssize_t slot) except -1
    cpdef fire(self, long long now)
    cpdef long long begin(self, Py_ssize_t slot) except? -1
    cpdef interrupt(self, Py_ssize_t slot, bint keep)
    cpdef long long restore(self, Py_ssize_t slot) except? -1
    cdef long long between(self, long long done, long long work) noexcept
    cdef long long writing(self, long long first, long long number, long long ahead, long long speed) noexcept
    cdef long long done_ahead(self, Py_ssize_t slot) except? -1
    cdef int note_ahead(self, Py_ssize_t slot, long long ahead) except -1
    cdef int work_on(self, Py_ssize_t slot, long long time) except -1
    cdef long long lead(self, Py_ssize_t slot) except? -1
    cdef int advance(self, Py_ssize_t slot, long long time) except -1
