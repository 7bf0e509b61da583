from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger.fitting cimport Fitting
from walltime.kernel.ledger.node_pool cimport NodePool, __builtin_ctzll
from walltime.kernel.ledger.place cimport Place
from walltime.kernel.profiles.timelines cimport Timelines

cdef class Choosing(Fitting):
    cdef long long[::1] before_node  # what a hold was, while another one takes its place
    cdef long long[::1] before_cores
    cdef long long[::1] wanted  # of each resource, while nodes are ranked
    cdef Place placing  # of the job that is given its nodes
    cdef int choose_narrowed(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long until) except -1
    cdef bint may_take_all(self, Py_ssize_t x, NodePool pool) noexcept
    cdef int choose_parts(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long until) except -1
    cdef bint pick_parts(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long until) except? -1
    cdef bint is_choosy(self, Py_ssize_t x) noexcept
    cdef bint choose_clear(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long until) except? -1
    cdef bint ask_better(self, Py_ssize_t d, double cores, double best) noexcept
    cdef bint rank_clear(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long until) except? -1
    cdef int rank_level(self, Py_ssize_t slot, Py_ssize_t d, NodePool pool, long long level, long long until) except -1
    cdef int choose(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool) except -1
    cdef int pick(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool) except -1
    cdef bint divide(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool) except? -1
    cdef int weigh(self, Py_ssize_t d) noexcept
    cdef int choose_by_leftover(self, Py_ssize_t x, NodePool pool) except -1
    cdef double leftover(self, Py_ssize_t i, Py_ssize_t d, long long cores) noexcept
    cdef int put(self, Py_ssize_t slot, Py_ssize_t x, Py_ssize_t i, long long cores) except -1
