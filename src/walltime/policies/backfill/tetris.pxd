from libc.math cimport ceil, sqrt

from walltime.kernel.ledger.interface cimport Ledger
from walltime.kernel.ledger.resources cimport ResourceLedger
from walltime.policies.order.drf cimport DominantShare
from walltime.policy.api cimport Pass, Policy, require_open

cdef class Tetris(Policy):
    cdef readonly double fairness
    cdef readonly long long every
    cdef dict given
    cdef DominantShare shares
    cdef double[::1] scale
    cdef long long asked
    cdef bint attached
    cdef long long[::1] before
    cdef long long[::1] line
    cdef long long[::1] later
    cdef long long[::1] first
    cdef long long[::1] last
    cdef long long[::1] rank
    cdef dict numbers
    cdef Py_ssize_t users
    cpdef attach(self, object surroundings)
    cpdef schedule(self, Pass p)
    cdef int wake(self, Pass p) except -1
    cdef long long left(self, Ledger plain, ResourceLedger ledger, Py_ssize_t i, Py_ssize_t r) noexcept
    cdef int remember(self, Ledger plain, ResourceLedger ledger, Py_ssize_t i, bint less) noexcept
    cdef bint has_more(self, Ledger plain, ResourceLedger ledger, Py_ssize_t i) noexcept
    cdef int list_users(self, Pass p) except -1
    cdef list list_lines(self, Pass p)
    cdef int add_user(self, Py_ssize_t k) except -1
    cdef bint goes_before(self, Pass p, Py_ssize_t a, Py_ssize_t b) except? -1
    cdef Py_ssize_t rank_users(self, Pass p) except -1
    cdef bint may_start(self, Pass p, Py_ssize_t k) except? -1
    cdef Py_ssize_t first_on(self, Pass p, ResourceLedger ledger, Py_ssize_t u, Py_ssize_t i) except? -1
    cdef bint fill(self, Pass p, ResourceLedger ledger, Py_ssize_t i) except? -1
    cdef int count(self, Pass p, ResourceLedger ledger, Py_ssize_t slot, long long sign) except -1
    cdef Py_ssize_t pick(self, Pass p, ResourceLedger ledger, Py_ssize_t i) except? -1
    cdef long long want(self, ResourceLedger ledger, Py_ssize_t slot, Py_ssize_t r) noexcept
    cdef double cosine(self, Pass p, ResourceLedger ledger, Py_ssize_t slot, Py_ssize_t i) noexcept
    cdef bint has_room(self, ResourceLedger ledger, Py_ssize_t slot, Py_ssize_t i) noexcept
    cdef bint is_spread(self, ResourceLedger ledger, Py_ssize_t slot) noexcept
