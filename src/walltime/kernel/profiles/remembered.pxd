cdef class EasedNodes:
    cdef long long[::1] how  # by node, or 0
    cdef long long[::1] node
    cdef Py_ssize_t count
    cdef int put(self, Py_ssize_t i, Py_ssize_t how) noexcept
    cdef int clear(self) noexcept

cdef class RememberedPlan:
    cdef Py_ssize_t count
    cdef long long[::1] slot
    cdef long long[::1] seq
    cdef long long[::1] shape
    cdef long long[::1] start
    cdef long long[::1] length
    cdef long long[::1] first
    cdef long long[::1] gone  # not made again as it was, so far
    cdef long long[::1] node
    cdef long long[::1] place
    cdef Py_ssize_t next
    cdef EasedNodes eased
    cdef long long[::1] crowded  # by node: the last plan in which a hold came there that may not have been there
    cdef long long plan
    cdef int clear(self) noexcept
    cdef int note(self, Py_ssize_t slot, long long seq, Py_ssize_t shape, long long start, long long length) except -1
    cdef int note_node(self, Py_ssize_t i) except -1
    cdef Py_ssize_t find(self, Py_ssize_t slot, long long seq) noexcept
    cdef int pass_over(self, Py_ssize_t k) noexcept
    cdef int give_up(self, Py_ssize_t k) noexcept
