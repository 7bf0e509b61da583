from walltime.kernel.arrays cimport words

cdef class EventHeap:
    cdef long long[::1] entries
    cdef readonly Py_ssize_t size
    cdef readonly long long time
    cdef readonly long long seq
    cdef readonly Py_ssize_t slot
    cdef readonly long long stamp
    cpdef int push(self, long long time, long long seq, Py_ssize_t slot, long long stamp) except -1
    cpdef long long next_time(self) noexcept
    cpdef int pop(self) except -1
    cdef int grow(self) except -1
