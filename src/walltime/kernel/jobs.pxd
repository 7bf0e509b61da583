cdef enum:
    FUTURE = 0
    HELD = 1
    WAITING = 2
    RUNNING = 3
    SUSPENDED = 4
    ENDING = 5
    COMPLETED = 6
    TIMEOUT = 7
    FAILED = 8
    CANCELLED = 9
    REJECTED = 10

cdef enum:
    PARKED = -3
    LINE = -2
    OUTSIDE = -1

cdef class JobTable:
    cdef readonly Py_ssize_t size
    cdef readonly Py_ssize_t live
    cdef readonly long long entered
    cdef long long[::1] spare
    cdef Py_ssize_t spares
    # identity and description
    cdef readonly long long[::1] seq
    cdef readonly long long[::1] row
    cdef readonly long long[::1] job_id
    cdef readonly long long[::1] stamp
    cdef readonly long long[::1] submit
    cdef readonly long long[::1] eligible
    cdef readonly long long[::1] cores
    cdef readonly long long[::1] requested
    cdef readonly long long[::1] user
    cdef readonly long long[::1] group
    cdef readonly long long[::1] account
    cdef readonly long long[::1] queue
    cdef readonly long long[::1] priority
    # what only the engine may read
    cdef long long[::1] run_time
    cdef long long[::1] known_end
    # course
    cdef readonly long long[::1] state
    cdef readonly long long[::1] cluster
    cdef readonly long long[::1] attempt
    cdef readonly long long[::1] start
    cdef readonly long long[::1] first_start
    cdef readonly long long[::1] held
    cdef readonly long long[::1] progress
    cdef readonly long long[::1] lost
    cdef readonly long long[::1] backfilled
    cdef readonly long long[::1] limit
    # how the scheduler sees it
    cdef readonly long long[::1] estimate
    cdef readonly long long[::1] expected_end
    cdef readonly long long[::1] corrections
    cdef readonly long long[::1] key
    cdef readonly long long[::1] place
    cdef readonly long long[::1] holding

    cpdef Py_ssize_t add(self, long long submit, long long run_time, long long requested, long long cores) except -1
    cpdef int drop(self, Py_ssize_t slot) except -1
    cdef int grow(self) except -1
