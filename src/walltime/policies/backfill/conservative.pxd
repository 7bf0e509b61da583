from cpython.exc cimport PyErr_CheckSignals
from walltime.kernel.ledger.interface cimport Ledger
from walltime.policies.backfill.candidates cimport Candidates
from walltime.policy.api cimport CAPACITY, ESTIMATE, ORDER, RELEASE, TIMER, Pass, Policy, require_open

cdef class Conservative(Policy):
    cdef long long asked
    cdef long long next
    cdef readonly Candidates candidates
    cdef Ledger ledger
    cdef readonly Py_ssize_t many
    cdef bint able
    cdef bint tracks
    cdef long long[::1] ready
    cpdef schedule(self, Pass p)
    cdef int watch(self, Pass p) except -1
    cdef int choose(self, Pass p) except -1
    cdef bint woken_in_vain(self, Pass p) except? -1
    cdef int place(self, Pass p, long long[::1] waiting) except -1
    cdef int put(self, Pass p, Py_ssize_t slot) except -1
    cdef int improve(self, Pass p) except -1
    cdef int follow(self, Pass p) except -1
    cdef int move_movers(self, Pass p) except -1
    cdef bint place_fresh(self, Pass p) except? -1
    cdef int start_ready(self, Pass p) except -1
    cdef int start(self, Pass p, Py_ssize_t slot) except -1
    cdef int ask_for(self, Pass p, long long next) except -1
    cdef int move_forward(self, Pass p, long long[::1] waiting) except -1
    cdef int replan(self, Pass p, long long[::1] waiting) except -1
    cdef int start_due(self, Pass p, long long[::1] waiting) except -1
    cdef int take_back(self, Pass p, long long[::1] waiting) except -1
