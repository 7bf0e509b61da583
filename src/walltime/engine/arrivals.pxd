from walltime.engine.loop cimport Simulation
from walltime.engine.sources cimport Cancellations, Expiries
from walltime.kernel.jobs cimport JobTable
from walltime.kernel.prefetch cimport prefetch_line
from walltime.kernel.source cimport Engine, Source

cdef class Arrivals(Source):
    cdef object stream
    cdef readonly list batches
    cdef readonly dict codes
    cdef readonly object site
    cdef readonly object admission
    cdef bint ruled
    cdef readonly Cancellations cancellations
    cdef readonly Expiries impatience
    cdef readonly list live_jobs
    cdef object asked
    cdef long long gives_up
    cdef bint lined  # whether jobs wait in several lines, or at limits
    cdef bint bare  # whether this batch has no more columns than every job has, and the rules tell a shape at the most
    cdef bint more  # whether the rules tell more of this batch's jobs than a shape
    cdef bint plain  # whether this batch asks for neither memory nor GPUs
    cdef Py_ssize_t i
    cdef Py_ssize_t n
    cdef long long first_row
    cdef long long last
    cdef const long long[::1] job_id
    cdef const long long[::1] submit
    cdef const long long[::1] run_time
    cdef const long long[::1] requested
    cdef const long long[::1] cores
    cdef const long long[::1] priority
    cdef const long long[::1] begin
    cdef const long long[::1] nodes
    cdef const long long[::1] per_node
    cdef const long long[::1] deadline
    cdef const long long[::1] cancel
    cdef const long long[::1] patience
    cdef const int[::1] user
    cdef const int[::1] group
    cdef const int[::1] account
    cdef const int[::1] queue
    cdef const int[::1] qos
    cdef const long long[::1] lane
    cdef const long long[::1] domain
    cdef const long long[::1] ruled_queue
    cdef const long long[::1] rules
    cdef const long long[::1] shape
    cdef const long long[::1] choice
    cdef const long long[::1] memory
    cdef const long long[::1] gpus
    cdef const long long[::1] refused
    cpdef attach(self, Engine engine)
    cpdef fire(self, long long now)
    cdef int load(self) except -1
    cdef int fetch(self) noexcept
    cdef int take_rules(self, object ruled) except -1
    cdef int enter(self, Py_ssize_t i, long long time) except -1
    cdef int resemble(self, Py_ssize_t slot, Py_ssize_t row) except -1
    cdef int describe(self, JobTable jobs, Py_ssize_t slot, Py_ssize_t i) except -1

cdef long long shifted(const long long[::1] times, Py_ssize_t i, long long later) noexcept
