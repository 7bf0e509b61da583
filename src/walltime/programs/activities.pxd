from walltime.programs.sharing cimport FairShares

cdef enum:
    IDLE = 0
    QUEUED = 1
    DELAYED = 2
    FLOWING = 3

cdef class Waiter:
    cpdef int wake(self, Py_ssize_t a) except -1

cdef packed struct ActivityFields:
    double left
    double since
    double finish
    double delay
    long long seq
    long long heap_index
    long long phase
    long long gate

cdef class Gate:
    cdef long long limit
    cdef long long inside
    cdef object queue

cdef class Activities:
    cdef readonly FairShares shares
    cdef readonly double now
    cdef readonly Py_ssize_t live
    cdef readonly long long begun
    cdef object activities
    cdef ActivityFields[::1] at
    cdef list waiter
    cdef Py_ssize_t made
    cdef long long[::1] spare
    cdef Py_ssize_t spares
    cdef long long[::1] heap
    cdef Py_ssize_t heaped
    cdef list gates
    cdef dict metered
    cdef public list spans
    cdef int view(self) except -1
    cpdef Py_ssize_t open(
        self, double amount, double delay, double weight, double bound, Waiter waiter
    ) except -1
    cpdef int use_resource(self, Py_ssize_t a, Py_ssize_t r, double coefficient) except -1
    cpdef int pass_gate(self, Py_ssize_t a, Py_ssize_t gate) except -1
    cdef int measure(self, Py_ssize_t a, Py_ssize_t number) except -1
    cdef int note(self, Py_ssize_t a, double rate) except -1
    cpdef int note_all(self) except -1
    cpdef int pause(self, Py_ssize_t a) except -1
    cpdef int go(self, Py_ssize_t a) except -1
    cpdef int cancel(self, Py_ssize_t a) except -1
    cpdef double left_of(self, Py_ssize_t a) noexcept
    cpdef double next_time(self) except? -1
    cpdef int advance(self, double until) except -1
    cdef int let_in(self, Py_ssize_t a) except -1
    cdef int leave_gate(self, Py_ssize_t a, long long phase) except -1
    cdef int enter(self, Py_ssize_t a) except -1
    cdef int settle(self) except -1
    cdef int free(self, Py_ssize_t a) except -1
    cdef bint before(self, Py_ssize_t a, Py_ssize_t b) noexcept
    cdef int plan(self, Py_ssize_t a, double time) except -1
    cdef int rise(self, Py_ssize_t i, Py_ssize_t a) noexcept
    cdef int fall(self, Py_ssize_t i, Py_ssize_t a) noexcept
    cdef int leave(self, Py_ssize_t i) noexcept
