cdef enum:
    FUTURE = 0
    HELD = 1
    WAITING = 2
    RUNNING = 3
    SUSPENDED = 4
    COMPLETED = 5
    TIMEOUT = 6
    FAILED = 7
    CANCELLED = 8
    REJECTED = 9

# of an interval in which a job ran, besides the states: it waits again
cdef enum:
    REQUEUED = 10
    PREEMPTED = 11
    RESIZED = 12

cdef enum:
    LINE = -2
    OUTSIDE = -1

# A job's fields lie side by side, eight to a cache line: its start and its end touch the first three lines alone.
cdef packed struct JobFields:
    # what the queue and the ledger look at
    long long key
    long long seq
    long long cores
    long long estimate
    long long expected_end
    long long position
    long long state
    long long holding
    # its course
    long long promise
    long long stamp
    long long start
    long long first_start
    long long limit
    long long progress
    long long used
    long long attempt
    # its course, and what the record wants
    long long run_time
    long long speed
    long long row
    long long eligible
    long long held
    long long lost
    long long backfilled
    long long cluster
    # what it was submitted with, and what gets in its way
    long long submit
    long long requested
    long long known_end
    long long corrections
    long long job_id
    long long pinned
    long long saved
    long long choice
    # what it asks for, and of whom
    long long user
    long long group
    long long account
    long long queue
    long long priority
    long long nodes
    long long per_node
    long long deadline
    # what the rules make of that
    long long qos
    long long memory
    long long gpus
    long long line
    long long shape
    long long lane
    long long domain
    long long rules

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define walltime_fetch(row, line) __builtin_prefetch((const char *)(row) + 64 * (line), 1)
    #else
    #define walltime_fetch(row, line)
    #endif
    """
    void walltime_fetch(const void *row, int line) noexcept

# The lines of a row that no start and no end has touched: the next job that comes is written over it.
cdef inline void fetch_rest(JobFields *row) noexcept:
    walltime_fetch(row, 3)
    walltime_fetch(row, 4)
    walltime_fetch(row, 5)

cpdef long long time_for(long long work, long long speed) noexcept
cpdef long long done_in(long long time, long long speed) noexcept

cdef class JobTable:
    cdef readonly Py_ssize_t size
    cdef readonly Py_ssize_t live
    cdef readonly long long entered
    cdef readonly long long blockers
    cdef JobFields[::1] at
    cdef long long[::1] spare
    cdef Py_ssize_t spares
    cdef object table
    cdef dict views
    cdef bint sealed

    cpdef Py_ssize_t add(self, long long submit, long long run_time, long long requested, long long cores) except -1
    cpdef int drop(self, Py_ssize_t slot) except -1
    cdef int grow(self) except -1
    cdef int guard(self) except -1
    cdef Py_ssize_t enter(self, long long submit, long long run_time, long long requested, long long cores) except -1
    cdef int leave(self, Py_ssize_t slot) except -1

cdef int require_table(JobTable jobs) except -1
cpdef int seal(JobTable jobs) except -1
cpdef Py_ssize_t add_blocker(JobTable jobs, long long cores) except -1
cpdef int drop_blocker(JobTable jobs, Py_ssize_t slot) except -1
cpdef int require_job(JobTable jobs, Py_ssize_t slot) except -1
cpdef int require_jobs(JobTable jobs, long long[::1] slots, long long[::1] keys) except -1
