from walltime.kernel.ledger.interface cimport Ledger

# What is known of a hold.
cdef struct HoldFields:
    long long slot
    long long start
    long long end
    long long count  # so many cores; 0 where it names nodes
    # of a ledger of one number of cores
    long long spare  # cores left over at its start
    # of a ledger of nodes
    long long first  # the first entry of what it keeps, or -1
    long long all  # whether it keeps all nodes
    long long set
    long long shape
    long long licences  # as `first`, of the licences
    long long looked  # how many nodes had been eased when the job looked last, or -1
    long long worst  # of its nodes, that which it would give up first: when it is free, or its number
    long long made  # its place among the promises of the plan, or -1

cdef inline HoldFields *holds_in(long long[::1] table) noexcept:
    return <HoldFields *>&table[0]

cdef class Holds(Ledger):
    cdef HoldFields *held  # by the number of the hold
    cdef readonly Py_ssize_t holds
    cdef readonly Py_ssize_t hold_room
    cdef Py_ssize_t spares
    cdef long long[::1] by_start
    cdef long long[::1] hold_of  # by slot, or -1
    cdef long long[::1] hold_table  # the memory of `held`
    cdef long long[::1] spare_holds
    cdef Py_ssize_t held_by(self, Py_ssize_t slot) noexcept
    cdef Py_ssize_t first_after(self, long long start) noexcept
    cdef int lengthen_holds(self, Py_ssize_t room) except -1
    cdef Py_ssize_t new_hold(self, Py_ssize_t slot, long long start, long long end) except -1
    cdef int enter_hold(self, Py_ssize_t h) except -1
    cdef int strike_hold(self, Py_ssize_t h) noexcept
    cdef int free_hold(self, Py_ssize_t h) noexcept
