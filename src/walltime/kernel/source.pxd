from cpython.ref cimport PyObject

from walltime.kernel.jobs cimport JobTable

cdef extern from *:
    """
    #if CYTHON_LIMITED_API
    #define walltime_item PyList_GetItem
    #else
    #define walltime_item PyList_GET_ITEM
    #endif
    """
    PyObject *walltime_item(list values, Py_ssize_t i) noexcept

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

cdef class Engine:
    cdef readonly JobTable jobs
    cdef readonly long long now
    cdef readonly bint per_event
    cpdef int finish(self, Py_ssize_t slot, int state) except -1
    cpdef int withdraw(self, Py_ssize_t slot, str reason) except -1
    cpdef int requeue(self, Py_ssize_t slot) except -1
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

cdef class Source:
    cdef readonly Engine engine
    cdef public long long next
    cdef public bint background
    cdef public bint endless
    cdef public bint to_running
    cdef public int hears
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

# When the i-th of some sources is due, without counting a reference to it.
cdef inline long long due_time(list sources, Py_ssize_t i) noexcept:
    return (<Source>walltime_item(sources, i)).next

cdef class Observer:
    cpdef moved(self, Engine engine, Py_ssize_t slot, int before, int after)
    cpdef promised(self, Engine engine, Py_ssize_t slot, long long time)
    cpdef settled(self, Engine engine)
