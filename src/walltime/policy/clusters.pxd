from walltime.kernel.ledger.interface cimport Ledger

cdef class ClusterView:
    cdef readonly str name
    cdef readonly int index
    cdef readonly Ledger ledger
    cdef readonly Py_ssize_t waiting
    cdef readonly long long waiting_cores
    cdef public double speed
    cdef public dict attributes
    cpdef long long demand(self) except? -1
    cpdef long long predict(self, Py_ssize_t slot) except *
    cpdef bint could_start(self, Py_ssize_t slot) except? -1

cpdef bint less_loaded(ClusterView a, ClusterView b) except? -1
cpdef ClusterView cluster_at(list clusters, Py_ssize_t i, Py_ssize_t slot)
