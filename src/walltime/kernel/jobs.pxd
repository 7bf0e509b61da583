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

# A job's fields lie side by side: a step of its life touches two or three cache lines, not twenty.
cdef packed struct JobFields:
    # what the queue and the ledger look at
    long long key
    long long seq
    long long cores
    long long estimate
    long long expected_end
    long long place
    long long state
    long long holding
    long long promise
    # its course
    long long stamp
    long long start
    long long first_start
    long long limit
    long long progress
    long long used
    long long known_end
    long long run_time
    long long corrections
    # what the record wants
    long long row
    long long eligible
    long long held
    long long lost
    long long backfilled
    long long cluster
    long long attempt
    long long job_id
    # what it was submitted with
    long long submit
    long long requested
    long long user
    long long group
    long long account
    long long queue
    long long priority
    long long nodes
    long long per_node
    long long deadline
    long long speed
    long long qos
    long long memory
    long long gpus
    # what the rules make of it
    long long line
    long long shape
    long long lane
    long long domain
    long long rules
    long long choice
    # what gets in its way
    long long pinned
    long long saved

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
