from walltime.kernel.ledger.resources cimport ResourceLedger

cdef class Places:
    cdef long long[::1] first
    cdef long long[::1] count
    cdef long long[::1] node
    cdef long long[::1] cores
    cdef long long[::1] times
    cdef long long[::1] demand
    cdef Py_ssize_t used
    cdef int clear(self, Py_ssize_t jobs) except -1
    cdef int note(self, Py_ssize_t i, ResourceLedger ledger, Py_ssize_t slot) except -1
    cdef int begin(self, Py_ssize_t i) noexcept
    cdef int add(self, Py_ssize_t i, long long node, long long cores, long long times, long long demand) except -1

cdef class Answers:
    cdef long long[::1] since  # by job, ANSWERS each
    cdef long long[::1] start
    cdef long long[::1] count  # by job: how many there are,
    cdef long long[::1] next  # which is the next to be written over,
    cdef long long[::1] read  # and up to which change they are true
    cdef long long[::1] begin  # the last changes
    cdef long long[::1] end
    cdef long long[::1] whose
    cdef long long spans
    cdef int clear(self, Py_ssize_t jobs) except -1
    cdef int forget(self, Py_ssize_t i) noexcept
    cdef int forget_all(self) noexcept
    cdef int change(self, Py_ssize_t i, long long begin, long long end) noexcept
    cdef long long find(self, Py_ssize_t i, long long after, long long length) noexcept
    cdef int refresh(self, Py_ssize_t i, long long length) noexcept
    cdef int learn(self, Py_ssize_t i, long long after, long long start) noexcept
