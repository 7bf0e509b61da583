from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger.node_pool cimport NodePool

cdef class Place:
    cdef readonly bint ranked
    cdef readonly bint treed
    cdef readonly bint plain
    cdef readonly int leftover
    cdef readonly bint lowest
    cdef readonly bint by_room
    cdef readonly bint divided
    cpdef int prepare(self, JobTable jobs, object sizes, bint whole, long long seed) except -1
    cpdef int connect(self, object switches) except -1
    cpdef survey(self, object ledger)
    cpdef Place of(self, Py_ssize_t slot)
    cpdef bint suits(self, NodePool pool, long long nodes, long long least) except? -1
    cdef long long when(self, long long[::1] times, long long nodes) except? -1
    cdef int pick_by(self, NodePool pool, long long nodes, long long[::1] times, long long time) except -1
    cdef int widest(self, NodePool pool, long long[::1] most) except -1
    cpdef int pick(self, NodePool pool, long long nodes, long long least, Py_ssize_t slot) except -1
    cpdef int spread(self, NodePool pool, long long cores, Py_ssize_t slot) except -1
    cdef Py_ssize_t position(self) noexcept
    cdef int go_back(self, Py_ssize_t position) noexcept

cdef class QueuePlaces(Place):
    cdef JobTable jobs
    cdef list places
    cdef list distinct
