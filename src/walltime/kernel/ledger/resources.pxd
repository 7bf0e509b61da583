from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger.node_pool cimport NodePool, RoughRoom, __builtin_ctzll
from walltime.kernel.recalling cimport Recalling
from walltime.kernel.ledger.node_space cimport has_node, no_nodes, put_node
from walltime.kernel.ledger.timelines cimport Timelines

cdef class ResourceLedger(Recalling):
    cdef long long[::1] before_node  # what a hold was, while another one takes its place
    cdef long long[::1] before_cores
    cdef long long[::1] wanted  # of each resource, while nodes are ranked
    cdef readonly bint restricted
    cdef long long[::1] usable
    cdef Py_ssize_t placed  # the shape of the part that is given its nodes, or -1
    cdef int restrict(self, long long[::1] nodes) except -1
    cdef int confine(self, object nodes) except -1
    cdef int lift(self) except -1
    cdef bint may_use(self, Py_ssize_t slot, Py_ssize_t i) noexcept
    cdef int leave_out(self, Py_ssize_t x, NodePool pool) except -1
    cdef bint fits_among(self, Py_ssize_t slot) except? -1
    cdef int narrow_by_holds(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long end) except -1
    cpdef bint fits(self, Py_ssize_t slot) except? -1
    cpdef int take(self, Py_ssize_t slot) except -1
    cpdef int give(self, Py_ssize_t slot) except -1
    cpdef int give_node(self, Py_ssize_t slot, Py_ssize_t node) except -1
    cpdef int prolong(self, Py_ssize_t slot, long long until) except -1
    cpdef int hold(self, Py_ssize_t slot, long long start) except -1
    cpdef int loosen(self, Py_ssize_t slot) except -1
    cpdef long long advance(self, Py_ssize_t slot) except? -1
    cpdef int unhold(self, Py_ssize_t slot) except -1
    cpdef int release_holds(self) except -1
    cdef bint has_cores(self, Py_ssize_t i, Py_ssize_t d, Py_ssize_t slot, long long cores, long long end) except? -1
    cdef bint fits_named(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long end) except? -1
    cdef bint fits_nodes(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long end) except? -1
    cdef bint fits_parts(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long end) except? -1
    cdef bint fits_simply(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long end) except? -1
    cpdef int focus_parts(self, Py_ssize_t node_set) except -1
    cdef bint holds_once(self) noexcept
    cdef int narrow_beside(self, Py_ssize_t s, NodePool pool) except -1
    cdef bint fits_beside(self, Py_ssize_t x, NodePool pool) except? -1
    cdef long long barred_in(self, Py_ssize_t s) except? -1
    cdef bint fits_fully(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long end) except? -1
    cdef int narrow(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long end) except -1
    cdef int choose_narrowed(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long until) except -1
    cdef int choose_parts(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long until) except -1
    cdef bint pick_parts(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long until) except? -1
    cdef bint is_choosy(self, Py_ssize_t x) noexcept
    cdef bint choose_clear(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long until) except? -1
    cdef bint find_clear(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long end) except? -1
    cdef bint ask_better(self, Py_ssize_t d, double cores, double best) noexcept
    cdef bint rank_clear(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long until) except? -1
    cdef int rank_level(self, Py_ssize_t slot, Py_ssize_t d, NodePool pool, long long level, long long until) except -1
    cdef int choose(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool) except -1
    cdef int pick(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool) except -1
    cdef bint divide(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool) except? -1
    cdef int weigh(self, Py_ssize_t d) noexcept
    cdef int choose_by_leftover(self, Py_ssize_t x, NodePool pool) except -1
    cdef double leftover(self, Py_ssize_t i, Py_ssize_t d, long long cores) noexcept
    cpdef int shut(self, Py_ssize_t blocker, object nodes, long long until) except -1
    cpdef int keep_shut(self, Py_ssize_t blocker, object nodes, long long start, long long end) except -1
    cpdef int put_back(self, Py_ssize_t slot, object where) except -1
    cdef int make_hold(self, Py_ssize_t slot, long long start, long long end) except -1
    cdef int put(self, Py_ssize_t slot, Py_ssize_t x, Py_ssize_t i, long long cores) except -1
    cdef int put_licences(self, Py_ssize_t slot, Py_ssize_t x) except -1
    cdef int settle(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool) except -1
    cdef int name_nodes(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) except -1
    cdef int name_parts(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) except -1
    cdef bint holds_only(self, Py_ssize_t slot) except? -1
    cdef int find_rooms(self, Py_ssize_t x, long long start) except -1
    cdef int find_freed(self, Py_ssize_t x) except -1
    cdef int keep_named(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) except -1
    cdef int keep_recalled(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) except -1
    cdef int keep_licences(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) except -1
    cdef int drop_hold(self, Py_ssize_t h) except -1
    cdef int renew(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) except -1
    cdef int bar_again(self, Py_ssize_t h, long long e, long long sign) noexcept
    cdef int name_found(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) except -1
    cdef int name_cores(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) except -1
    cdef int keep(self, Py_ssize_t slot, Py_ssize_t d, Py_ssize_t i, long long start, long long end, long long cores, long long times) except -1
    cdef bint is_settled(self, Py_ssize_t slot, long long start) except? -1
    cdef int hold_again(self, Py_ssize_t slot, long long start) except -1
    cdef long long worst_of(self, Py_ssize_t h, Py_ssize_t x) except? -2
    cdef int enter_hold(self, Py_ssize_t h) except -1
    cdef int forget_hold(self, Py_ssize_t h) except -1
    cdef int name_around(self, Py_ssize_t h) except -1
    cdef bint has_nodes(self, Py_ssize_t job, Py_ssize_t x, object where, long long end) except? -1
