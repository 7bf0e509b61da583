from walltime.kernel.arrays cimport words
from walltime.kernel.profiles.node_bits cimport WALLTIME_LANES, add_to_node, add_to_nodes, fit_nodes, fit_steps, meet_nodes, move_words, pass_times

cdef class NodeTable:
    cdef readonly Py_ssize_t n
    cdef readonly Py_ssize_t columns
    cdef Py_ssize_t groups  # of nodes, as many as are looked at together
    cdef readonly Py_ssize_t span  # words of a set of nodes
    cdef long long[::1] first  # by column: its first plane,
    cdef long long[::1] bits  # and how many it has
    cdef readonly bint below  # whether numbers may be below nought
    cdef readonly bint over  # whether one was, or was too large
    cdef Py_ssize_t planes  # of all columns
    cdef Py_ssize_t width  # words of a row: all planes of a group, one group behind the other
    cdef readonly Py_ssize_t count
    cdef readonly long long version  # another one whenever something is changed
    cdef long long[::1] begin  # of each step: when it begins,
    cdef long long[::1] row  # where it has its cells,
    cdef long long[::1] freed  # and on how many nodes something may end, at most
    cdef long long[::1] edges  # by row: how much begins or ends at its step,
    cdef long long[::1] closed  # and how many closings of the whole there are
    cdef long long[::1] spare
    cdef Py_ssize_t spares
    cdef long long[::1] cells
    # a question
    cdef Py_ssize_t asks
    cdef long long[::1] ask  # as in fit_nodes
    cdef Py_ssize_t roughs
    cdef long long[::1] rough  # the same of the highest bits alone
    cdef long long[::1] serve  # the nodes that may be used
    cdef long long own_begin
    cdef long long own_end
    cdef long long[::1] own  # the nodes that the job itself has
    cdef long long[::1] fit  # by step of a search: the nodes that have room from then to a later one
    cdef long long[::1] found  # those that have room as long as it takes
    cdef long long[::1] have  # how many `look` has found

    cdef int form(self, Py_ssize_t nodes, long long[::1] bits, bint below) except -1
    cdef int clear(self, long long begin) except -1
    cdef int spare_rest(self) noexcept
    cdef int join(self, NodeTable other, NodeTable behind, long long time) except -1
    cdef int append(self, NodeTable other, Py_ssize_t k) except -1
    cdef int make_room(self) except -1
    cdef int forget(self, long long time) noexcept
    cdef int shift(self, Py_ssize_t into, Py_ssize_t k) noexcept
    cdef Py_ssize_t find(self, long long time) noexcept
    cdef Py_ssize_t cut(self, long long time) except -1
    cdef int leave(self, long long time) except -1
    cdef int change(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t column, Py_ssize_t node, long long amount) noexcept
    cdef int change_all(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t column, long long[::1] nodes, Py_ssize_t at, long long amount) noexcept
    cdef int shut(self, long long start, long long end) except -1
    cdef Py_ssize_t earliest(self, long long want, long long length, long long after, long long limit) except? -1
    cdef int glance(self, Py_ssize_t k, Py_ssize_t at) noexcept
    cdef Py_ssize_t look(self, Py_ssize_t since, Py_ssize_t until, Py_ssize_t zero, long long want) noexcept
    cdef Py_ssize_t pass_over(self, Py_ssize_t r, long long have, long long want) noexcept

cpdef long long common(long long one, long long other) noexcept
cpdef long long bits_for(long long most) noexcept
