from walltime.kernel.jobs cimport JobTable

cdef enum:
    REQUEUE = 0
    FAIL = 1
    CHECKPOINT = 2

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
    cpdef int set_capacity(self, int cluster, long long cores) except -1
    cpdef int admit(self, Py_ssize_t slot) except -1
    cpdef int wake(self, Py_ssize_t cluster) except -1
    cpdef long long kill_time(self, Py_ssize_t slot) noexcept
    cpdef int correct(self, Py_ssize_t slot) except -1

cdef class Source:
    cdef readonly Engine engine
    cdef public long long next
    cdef public bint background
    cdef public bint endless
    cpdef attach(self, Engine engine)
    cpdef fire(self, long long now)
    cpdef int forget(self) except -1

cdef class Observer:
    cpdef moved(self, Engine engine, Py_ssize_t slot, int before, int after)
    cpdef promised(self, Engine engine, Py_ssize_t slot, long long time)
    cpdef settled(self, Engine engine)
