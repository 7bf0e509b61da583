from walltime.kernel.heap cimport EventHeap

cdef class Lanes:
    cdef long long[::1] low
    cdef long long[::1] high
    cdef long long[::1] rects
    cdef Py_ssize_t count
    cdef readonly Py_ssize_t made
    cdef readonly long long top
    cdef int mark(self, long long owner, long long low, long long high) except -1
    cpdef int take(self, long long owner, long long rows) except -1
    cdef int cut(self, Py_ssize_t i, long long rows) except -1
    cpdef int give(self, long long low, long long high) except -1
    cpdef object table(self)

cpdef object stack_cores(object start, object end, object cores, long long capacity)
cpdef object stack_nodes(object start, object end, object ranges, object sizes)
cpdef object shade(object left, object right, object low, object high, Py_ssize_t columns, Py_ssize_t rows)
