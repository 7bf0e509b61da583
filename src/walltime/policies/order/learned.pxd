from libc.math cimport log10, sqrt

from walltime.kernel.jobs cimport JobTable, require_job
from walltime.policy.api cimport Order, float_key

cdef class Learned(Order):
    cdef long long origin
    cpdef long long key(self, JobTable jobs, Py_ssize_t slot) except? -1
    cdef double value(self, double r, double n, double s) except? -1

cdef class F1(Learned):
    cdef double value(self, double r, double n, double s) except? -1

cdef class F2(Learned):
    cdef double value(self, double r, double n, double s) except? -1

cdef class F3(Learned):
    cdef double value(self, double r, double n, double s) except? -1

cdef class F4(Learned):
    cdef double value(self, double r, double n, double s) except? -1
