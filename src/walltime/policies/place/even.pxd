from walltime.kernel.place cimport Place
from walltime.kernel.pool cimport NodePool

cdef class Even(Place):
    cpdef int pick(self, NodePool pool, long long nodes, long long least, Py_ssize_t slot) except -1
    cpdef int spread(self, NodePool pool, long long cores, Py_ssize_t slot) except -1
