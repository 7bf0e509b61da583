from walltime.kernel.jobs cimport WAITING, JobTable
from walltime.kernel.ledger.interface cimport Ledger
from walltime.kernel.ledger.resources cimport ResourceLedger
from walltime.kernel.quotas cimport Quotas
from walltime.policy.api cimport Pass, require_open

cdef class QueueView:
    cdef Pass p

cdef class LedgerView:
    cdef Pass p
    cdef Ledger look(self)
    cdef ResourceLedger require_nodes(self)

cpdef Ledger find_ledger(Pass p)
cpdef Quotas find_quotas(Pass p)
cpdef tuple judge(Pass p, Py_ssize_t slot, long long now)
cpdef object see_start(Pass p, Py_ssize_t mine, Py_ssize_t slot)
cpdef object first_promised(JobTable jobs, Py_ssize_t besides)
