from walltime.kernel.arrays cimport words
from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger.future cimport Future
from walltime.kernel.ledger.node_pool cimport __builtin_ctzll
from walltime.kernel.profiles.node_bits cimport has_node
from walltime.kernel.profiles.node_table cimport NodeTable
from walltime.kernel.profiles.plan_table cimport PlanTable
from walltime.kernel.profiles.remembered cimport EasedNodes, RememberedPlan
from walltime.kernel.profiles.running_profile cimport RunningProfile

cdef class Recalling(Future):
    cdef RememberedPlan memory
    cdef long long[::1] order  # the holds of the plan as they were made
    cdef Py_ssize_t ordered
    cdef PlanTable board
    cdef long long board_version  # when it was laid: after which changes of holds,
    cdef long long board_written  # and of what runs,
    cdef long long board_time  # and when
    cdef Py_ssize_t unlaid  # looks without it, at this time
    cdef long long unlaid_time
    cdef Py_ssize_t tabled_for  # the job for which it has just found nodes, or -1, and from when on
    cdef long long tabled_at
    cdef bint pure  # whether each of them was the answer to a look
    cdef bint watching  # whether the nodes that are eased are noted since the first look
    cdef bint begun  # whether a hold was made, or something recalled, since the last plan was taken back
    cdef bint noted_before  # a trial
    cdef long long plan_eases  # then
    cdef long long plan_valid
    # the last answer of a look from now on: for which job, when, for how long, after which changes; what was recalled
    cdef Py_ssize_t found_for
    cdef long long found_at
    cdef long long found_length
    cdef long long found
    cdef Py_ssize_t recalled
    cdef readonly long long recalls  # looks that were spared, as the job's promise was remembered
    cdef bint is_found(self, Py_ssize_t slot, long long start) noexcept
    cdef int begin_plan(self) except -1
    cdef int note_hold(self, Py_ssize_t h, bint found) except -1
    cdef bint is_laid(self) noexcept
    cdef bint is_tabled(self, Py_ssize_t slot, Py_ssize_t x) except? -1
    cdef bint is_worth_it(self) noexcept
    cdef bint lay(self) except? -1
    cdef int lay_hold(self, Py_ssize_t h) except -1
    cdef int lift_hold(self, Py_ssize_t h) except -1
    cdef int find_room(self, Py_ssize_t slot, long long start, long long length) except -1
    cdef int remember(self) except -1
    cdef long long recall(self, Py_ssize_t slot) except? -2
    cdef bint is_recallable(self, Py_ssize_t x) noexcept
    cdef bint nodes_decide(self, Py_ssize_t x) noexcept
    cdef bint has_again(self, Py_ssize_t slot, Py_ssize_t x, Py_ssize_t m, bint in_order, bint tabled) noexcept
    cdef long long sooner(self, Py_ssize_t slot, long long start) except? -1
    cdef bint is_eased(self, Py_ssize_t slot, Py_ssize_t x, Py_ssize_t m, bint tabled) except? -1
    cdef bint is_preferred(self, Py_ssize_t slot, Py_ssize_t x, Py_ssize_t m, bint tabled) except? -1
    cdef bint ranks_by_end(self, Py_ssize_t x) noexcept
    cdef bint is_late(self, Py_ssize_t s) except? -1
    cdef int compare(self, Py_ssize_t h) except -1
