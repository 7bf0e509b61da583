from libc.math cimport exp2, expm1, pow, rint

cpdef double blunt(double x) noexcept

cdef class Usage:
    cdef readonly Py_ssize_t width
    cdef readonly Py_ssize_t size
    cdef double[::1] amount
    cdef double[::1] rate
    cdef long long[::1] since
    cdef long long[::1] running
    cdef long long[::1] owner
    cdef double[::1] rates
    cdef double[::1] charge
    cdef long long[::1] changed
    cdef Py_ssize_t changes
    cdef long long[::1] marked

    cpdef Py_ssize_t add(self) except -1
    cdef int mark(self, Py_ssize_t owner) noexcept
    cdef int forget_marks(self) noexcept
    cdef bint stands(self, long long since, long long time) noexcept
    cpdef int set_charge(self, Py_ssize_t k, double value) except -1
    cpdef int load(self, Py_ssize_t owner, Py_ssize_t k, double seconds) except -1
    cpdef int start(self, Py_ssize_t owner, Py_ssize_t slot, long long limit, long long now) except -1
    cpdef int stop(self, Py_ssize_t slot, long long start, long long now) except -1
    cdef int require_slot(self, Py_ssize_t slot) except -1
    cdef int settle(self, Py_ssize_t owner, long long now) except -1
    cpdef double read(self, Py_ssize_t owner, Py_ssize_t k, long long time) except? -1

cdef class HalfLife(Usage):
    cdef readonly long long half_life
    cdef long long forgotten

    cpdef int reset_at(self, long long time) except -1
    cdef int settle(self, Py_ssize_t owner, long long now) except -1
    cpdef double read(self, Py_ssize_t owner, Py_ssize_t k, long long time) except? -1

cdef class SteppedUsage(Usage):
    cdef readonly double factor
    cdef readonly long long every
    cdef readonly bint temporary
    cdef readonly long long brief
    cdef double[::1] recent
    cdef double[::1] latest
    cdef long long[::1] last
    cdef long long[::1] open
    cdef long long[::1] opened
    cdef double[::1] live

    cpdef int start(self, Py_ssize_t owner, Py_ssize_t slot, long long limit, long long now) except -1
    cpdef int stop(self, Py_ssize_t slot, long long start, long long now) except -1
    cdef int settle(self, Py_ssize_t owner, long long now) except -1
    cdef bint stands(self, long long since, long long time) noexcept
    cdef double decay(self, long long since, long long time) noexcept
    cpdef double read(self, Py_ssize_t owner, Py_ssize_t k, long long time) except? -1
