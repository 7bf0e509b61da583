from walltime.kernel.ledger.interface cimport Ledger
from walltime.kernel.ledger.resources cimport ResourceLedger
from walltime.kernel.ledger.trial cimport Trial
from walltime.policy.api cimport Pass

cdef class VictimSearch:
    cdef Pass view
    cdef Ledger ledger
    cdef ResourceLedger nodes
    cdef Py_ssize_t slot
    cdef long long cores
    cdef long long[::1] gained
    cdef long long[::1] newest
    cdef long long[::1] entry_slot
    cdef long long[::1] entry_node
    cdef long long[::1] entry_before
    cdef Py_ssize_t entries
    cdef Trial trial
    cdef list candidates
    cdef Py_ssize_t away
    cdef ResourceLedger wide
    cdef Py_ssize_t set
    cdef long long each
    cdef long long lacking

    cdef int begin(self, Pass view, Py_ssize_t slot) except -1
    cdef int count_lacking(self, ResourceLedger ledger, Py_ssize_t x) except -1
    cdef int make_room(self, Py_ssize_t nodes) except -1
    cdef int gain(self, Py_ssize_t one) except -1
    cdef int end(self) except -1
    cdef bint enough_without(self, Py_ssize_t one) except? -1
    cdef bint enough_on_its_nodes(self, Py_ssize_t one) except? -1
    cdef int enter(self, Py_ssize_t one, Py_ssize_t node) except -1
    cdef bint enough_on(self, list nodes) except? -1
    cdef list needed(self)
