from walltime.execution.model cimport Execution
from walltime.kernel.jobs cimport COMPLETED, JobTable, done_in, time_for

cdef class Row:
    cdef object used
    cdef list jobs
    cdef long long clock
    cdef long long first
    cdef int find_first(self, long long[::1] finish) except -1

cdef class Matrix:
    cdef object cores
    cdef long long slot
    cdef long long switch
    cdef list rows
    cdef long long turn
    cdef long long began
    cdef long long at
    cdef long long next
    cdef int advance(self, long long now) except -1
    cdef long long worked(self, long long time) noexcept
    cdef int foresee(self) except -1

cdef class Gang(Execution):
    cdef readonly dict patterns
    cdef readonly long long slot
    cdef readonly long long switch
    cdef readonly double sync_delay
    cdef long long seed
    cdef list pace
    cdef list sync
    cdef list matrices
    cdef list row_of
    cdef long long[::1] finish
    cdef long long[::1] need
    cpdef fire(self, long long now)
    cpdef long long begin(self, Py_ssize_t slot) except? -1
    cpdef interrupt(self, Py_ssize_t slot, bint keep)
    cdef Row find_row(self, Matrix matrix, list shares)
    cdef int remove(self, Py_ssize_t slot, Matrix matrix) except -1
    cdef list find_done(self, Matrix matrix)
    cdef int look(self) except -1
