from walltime.kernel.arrays cimport words

# Which of two entries comes first. Without a branch: which one it is cannot be foretold, and four in ten would be wrong.
# But that two times are the same can be: they hardly ever are.
cdef inline Py_ssize_t first_of(long long *a, Py_ssize_t i, Py_ssize_t k) noexcept:
    cdef bint before = a[k] < a[i]
    if a[k] == a[i]:
        before = a[k + 1] < a[i + 1]
    return i + (k - i) * before

cdef class EventHeap:
    cdef long long[::1] entries
    cdef readonly Py_ssize_t size
    cdef readonly long long first
    cdef readonly long long time
    cdef readonly long long seq
    cdef readonly Py_ssize_t slot
    cdef readonly long long stamp
    cpdef int push(self, long long time, long long seq, Py_ssize_t slot, long long stamp) except -1
    cpdef int pop(self) except -1
    cdef int grow(self) except -1
