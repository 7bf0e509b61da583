from walltime.execution.run_queue cimport RunQueuePlayer
from walltime.execution.lists cimport NodeLists
from walltime.execution.tasks cimport TaskExecution
from walltime.execution.tasktable cimport COMPUTE, SPIN, TaskTable

cdef class TimeShared(TaskExecution):
    cdef readonly double usual_quantum
    cdef readonly double usual_switch
    cdef long long[::1] quantum
    cdef long long[::1] switch
    cdef long long[::1] wanting
    cdef NodeLists run_queue
    cdef RunQueuePlayer player
    cdef int enter(self, Py_ssize_t t) except -1
    cdef int exit(self, Py_ssize_t t) except -1
    cdef int ready(self, Py_ssize_t t) except -1
    cdef int rest(self, Py_ssize_t t) except -1
    cdef int block(self, Py_ssize_t t) except -1
    cdef bint steady(self, Py_ssize_t t) noexcept
    cdef long long overhead(self, Py_ssize_t t) noexcept
    cdef int catch_up(
        self, Py_ssize_t t, long long laps, long long within, long long need, long long over
    ) except -1
    cdef bint wants(self, Py_ssize_t t) noexcept
    cdef int advance(self, Py_ssize_t i, long long now) except -1
    cdef long long predict(self, Py_ssize_t i) noexcept
    cdef int report_done(self, Py_ssize_t i, Py_ssize_t t) except -1
    cdef int run_all(self, Py_ssize_t i, long long budget) except -1
    cdef int move_to_end(self, Py_ssize_t i) noexcept
    cdef bint behind(self, Py_ssize_t a, Py_ssize_t b) noexcept
    cdef int take_turns(self, Py_ssize_t i, long long budget) except -1
    cdef bint skip_rounds(self, Py_ssize_t i, long long budget, long long turn) noexcept
    cdef long long first_done(self, Py_ssize_t i) noexcept
    cdef int play(self, Py_ssize_t i, long long budget) except -1
    cdef long long foresee(self, Py_ssize_t i) noexcept
