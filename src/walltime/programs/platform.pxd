from walltime.programs.activities cimport Activities

cdef class DiskState:
    cdef readonly Py_ssize_t reader
    cdef readonly Py_ssize_t writer
    cdef readonly double capacity
    cdef readonly double used
    cdef readonly Py_ssize_t gate
    cdef readonly bint scratch

cdef class Platform:
    cdef readonly Activities activities
    cdef readonly object network
    cdef readonly dict outside
    cdef readonly list names
    cdef double[::1] speed
    cdef long long[::1] cores
    cdef long long[::1] processor
    cdef list disks
    cdef long long ends
    cdef Py_ssize_t first_link
    cdef dict routes
    cdef list lent
    cdef readonly object meters
    cpdef tuple route(self, Py_ssize_t source, Py_ssize_t target)
    cpdef Py_ssize_t lend(self, double cores) except -1
    cpdef DiskState disk_of(self, Py_ssize_t end)
