from walltime.execution.agenda cimport Agenda
from walltime.execution.model cimport Execution
from walltime.execution.tasktable cimport COMPUTE, NOTHING, SPIN, TaskTable
from walltime.kernel.heap cimport EventHeap
from walltime.kernel.jobs cimport COMPLETED, JobTable, done_in, time_for
from walltime.kernel.ledger.interface cimport Ledger

cdef class TaskExecution(Execution):
    cdef readonly list patterns
    cdef readonly double sync_delay
    cdef TaskTable table
    cdef EventHeap timers
    cdef Agenda agenda
    cdef long long tickets
    # the nodes of all clusters
    cdef Py_ssize_t n
    cdef long long[::1] node_base
    cdef long long[::1] cores
    cdef long long[::1] pace
    cdef long long[::1] sync
    cdef long long[::1] at
    cdef long long[::1] load
    cdef long long[::1] jobs_on
    cdef long long[::1] lapper
    # tasks that have done their bursts, and nodes on which something has changed
    cdef long long[::1] done
    cdef Py_ssize_t done_first
    cdef Py_ssize_t done_end
    cdef long long[::1] touched
    cdef long long[::1] touch_mark
    cdef Py_ssize_t touches
    # the patterns as arrays, and which of them the jobs of the workload follow
    cdef long long[::1] burst
    cdef long long[::1] meets
    cdef long long[::1] opens
    cdef long long[::1] spins
    cdef long long[::1] delays
    cdef long long[::1] profile
    cdef dict profile_codes
    cdef Py_ssize_t batches_read
    cdef long long seed

    cpdef fire(self, long long now)
    cpdef long long begin(self, Py_ssize_t slot) except? -1
    cpdef interrupt(self, Py_ssize_t slot, bint keep)
    cdef Py_ssize_t pattern_of(self, Py_ssize_t slot) except -1
    cdef int read_profiles(self) except -1
    cdef int place_tasks(self, Py_ssize_t slot) except -1
    cdef int join(self, Py_ssize_t t, long long now) except -1
    cdef int disband(self, Py_ssize_t slot, long long now) except -1
    cdef int proceed(self, Py_ssize_t slot, long long now) except -1
    cdef long long need(self, long long work, Py_ssize_t i) noexcept
    cdef int arrive(self, Py_ssize_t t, long long now) except -1
    cdef int meet(self, Py_ssize_t slot, long long now) except -1
    cdef int plan(self, Py_ssize_t slot, long long time) except -1
    cdef int go_on(self, Py_ssize_t slot, long long now) except -1
    cdef long long delay_of(self, Py_ssize_t slot) except? -1
    cdef int touch(self, Py_ssize_t i) except -1
    cdef int settle(self, long long now) except -1
    cdef int report(self, Py_ssize_t t) except -1
    cdef bint lap(self, Py_ssize_t slot, long long now) except? -1
    cdef int rejoin(self, Py_ssize_t slot, long long now) except -1
    cdef int enter(self, Py_ssize_t t) except -1
    cdef int ready(self, Py_ssize_t t) except -1
    cdef int rest(self, Py_ssize_t t) except -1
    cdef int block(self, Py_ssize_t t) except -1
    cdef int exit(self, Py_ssize_t t) except -1
    cdef int advance(self, Py_ssize_t i, long long now) except -1
    cdef long long predict(self, Py_ssize_t i) noexcept
    cdef long long remaining(self, Py_ssize_t t) noexcept
    cdef bint steady(self, Py_ssize_t t) noexcept
    cdef long long overhead(self, Py_ssize_t t) noexcept
    cdef int catch_up(
        self, Py_ssize_t t, long long laps, long long within, long long need, long long over
    ) except -1
