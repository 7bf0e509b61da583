from walltime.kernel.heap cimport EventHeap

cdef class ClosedLoop:
    cdef const long long[::1] rows
    cdef const long long[::1] offset
    cdef const long long[::1] first
    cdef const long long[::1] user
    cdef long long[::1] ready
    cdef long long[::1] pending
    cdef const long long[::1] heard
    cdef const long long[::1] listeners
    cdef const long long[::1] what
    cdef const long long[::1] delay
    cdef long long presence
    cdef long long clock
    cdef const long long[::1] skip
    cdef const long long[::1] session_first
    cdef const long long[::1] session_start
    cdef const long long[::1] session_last
    cdef long long[::1] session
    cdef long long[::1] begins
    cdef long long[::1] accepts
    cdef long long[::1] left_in
    cdef long long[::1] began
    cdef const long long[::1] batch
    cdef EventHeap due
    cdef readonly long long next
    cpdef int begin(self) except -1
    cpdef Py_ssize_t pop(self) except -1
    cpdef int put_back(self, Py_ssize_t row, long long time) except -1
    cpdef int leave(self, Py_ssize_t row, long long now) except -1
    cdef int plan(self, Py_ssize_t b) except -1
    cdef long long find_time(self, Py_ssize_t b, long long ready) except *
    cdef long long find_session(self, Py_ssize_t user, long long ready) except *
    cdef int tell(self, Py_ssize_t b, bint completed, long long now) except -1
