from walltime.core.random cimport advance, as_uniform, mix
from walltime.kernel.drafts.draft cimport Draft
from walltime.kernel.jobs cimport JobTable
from walltime.policy.api cimport Order

cdef class RandomNumbers:
    cdef unsigned long long state
    cdef unsigned long long draw(self) noexcept
    cpdef Py_ssize_t below(self, Py_ssize_t count) except -1
    cpdef double uniform(self) noexcept

cdef class UserTotals(Order):
    cdef long long[::1] waited
    cdef double[::1] used
    cdef double[::1] tolerated
    cdef Py_ssize_t size
    cdef int know(self, Py_ssize_t user) except -1
    cdef dict charged

cpdef double tolerated_wait(long long cores, long long estimate) noexcept

cdef class Objective:
    cdef readonly double floor
    cdef UserTotals people
    cdef int begin(self, Draft draft) except -1
    cdef int moved(self, Draft draft, Py_ssize_t i, long long before, long long after) except -1
    cdef double value(self, Draft draft) except? -1.0
    cdef int save(self) except -1
    cdef int back(self) except -1

cdef class FunctionObjective(Objective):
    cdef readonly object function
    cdef object planned
    cdef int begin(self, Draft draft) except -1
    cdef int moved(self, Draft draft, Py_ssize_t i, long long before, long long after) except -1
    cdef double value(self, Draft draft) except? -1.0
    cdef int save(self) except -1
    cdef int back(self) except -1

cdef class Operator:
    cpdef apply(self, Draft draft, RandomNumbers random, Py_ssize_t job)

cdef class Optimiser:
    cdef readonly long long every
    cdef readonly bint on_arrivals
    cdef readonly bint on_ends
    cdef readonly long long reach
    cdef readonly double most
    cdef public RandomNumbers random
    cpdef improve(self, Draft draft, UserTotals people)
