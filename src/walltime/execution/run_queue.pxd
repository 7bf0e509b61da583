from walltime.execution.lists cimport NodeLists
from walltime.execution.tasktable cimport COMPUTE, NOTHING, TaskTable

cdef class RunQueuePlayer:
    cdef Py_ssize_t size
    cdef long long cores
    cdef long long quantum
    cdef long long switch
    cdef long long[::1] task
    cdef long long[::1] want
    cdef long long[::1] left
    cdef long long[::1] slice
    cdef long long[::1] over
    cdef long long[::1] running
    cdef long long[::1] old_task
    cdef long long[::1] old_left
    cdef long long[::1] old_slice
    cdef long long[::1] old_over
    cdef long long[::1] old_running
    cdef int reserve(self, Py_ssize_t length) except -1
    cdef int load(
        self, TaskTable table, NodeLists lists, Py_ssize_t i, long long cores, long long quantum, long long switch
    ) noexcept
    cdef int store(self, TaskTable table, NodeLists lists, Py_ssize_t i) noexcept
    cdef bint some_end(self) noexcept
    cdef long long run(self, long long budget) noexcept
    cdef long long dispatch(self) noexcept
    cdef bint spend(self, long long time) noexcept
    cdef int move_to_end(self) noexcept
    cdef int move_back(self, Py_ssize_t place) noexcept
    cdef int remember(self) noexcept
    cdef bint recurs(self) noexcept
    cdef long long repeat(self, long long period, long long budget) noexcept
