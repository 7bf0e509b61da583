from walltime.kernel.jobs cimport JobTable

cdef enum:
    REQUEUE = 0
    FAIL = 1
    RESTORE = 2
    KILL = 3

cdef enum:
    ENTERED = 1
    ELIGIBLE = 2
    STARTED = 4
    BEGUN = 8
    INTERRUPTED = 16
    LEFT = 32
    MOVED = 64
    OUTLIVES = 128

cdef class Engine:
    cdef readonly JobTable jobs
    cdef readonly long long now
    cdef readonly bint per_event
    cpdef int finish(self, Py_ssize_t slot, int state) except -1
    cpdef int withdraw(self, Py_ssize_t slot, str reason) except -1
    cpdef int interrupt(self, Py_ssize_t slot, int remedy, int outcome) except -1
    cpdef int suspend(self, Py_ssize_t slot) except -1
    cpdef int resume(self, Py_ssize_t slot) except -1
    cpdef int shrink(self, Py_ssize_t slot, list nodes) except -1
    cpdef int admit(self, Py_ssize_t slot) except -1
    cpdef int rejoin(self, Py_ssize_t slot) except -1
    cpdef int wake(self, Py_ssize_t cluster) except -1
    cpdef long long kill_time(self, Py_ssize_t slot) noexcept
    cpdef int prolong(self, Py_ssize_t slot, long long until) except -1
    cpdef int move(self, Py_ssize_t slot, int state) except -1
    cpdef int listen_again(self) except -1
    cpdef int attend(self) except -1

cdef class Source:
    cdef readonly Engine engine
    cdef public long long next
    cdef public bint background
    cdef public bint endless
    cdef public bint to_running
    cdef public int hears
    cdef public bint asleep
    cdef int awaken(self) except -1
    cpdef attach(self, Engine engine)
    cpdef fire(self, long long now)
    cpdef int forget(self) except -1
    cpdef long long entered(self, Py_ssize_t slot, long long begin) except *
    cpdef bint admits(self, Py_ssize_t slot) except? -1
    cpdef started(self, Py_ssize_t slot)
    cpdef begun(self, Py_ssize_t slot)
    cpdef interrupted(self, Py_ssize_t slot)
    cpdef left(self, Py_ssize_t slot, int state)
    cpdef moved(self, Py_ssize_t slot, int before, int after)
    cpdef outlives(self, Py_ssize_t slot)

# Where a source keeps when it is due, as a number, and what stands there: the loop looks at all that are awake at every
# instant, and a list of objects costs four times as much.
cdef inline long long due_address(Source source) noexcept:
    return <long long><size_t>&source.next

cdef inline long long due_time(long long *addresses, Py_ssize_t i) noexcept:
    return (<long long *><size_t>addresses[i])[0]

# The first of them from `i` on that is due; `many` where none is.
cdef inline Py_ssize_t next_due(long long *addresses, Py_ssize_t i, Py_ssize_t many, long long now) noexcept:
    while i < many and due_time(addresses, i) > now:
        i += 1
    return i

cdef inline long long earliest_of(long long *addresses, Py_ssize_t many, long long never) noexcept:
    cdef long long first = never
    cdef Py_ssize_t i
    for i in range(many):
        if due_time(addresses, i) < first:
            first = due_time(addresses, i)
    return first

cdef class Observer:
    cpdef moved(self, Engine engine, Py_ssize_t slot, int before, int after)
    cpdef promised(self, Engine engine, Py_ssize_t slot, long long time)
    cpdef settled(self, Engine engine)
