from walltime.kernel.drafts.draft cimport Draft
from walltime.policy.optimise cimport Objective, tolerated_wait

cdef class Sum(Objective):
    cdef double total
    cdef double saved
    cdef double weight
    cdef readonly bint weighted
    cdef int begin(self, Draft draft) except -1
    cdef int moved(self, Draft draft, Py_ssize_t i, long long before, long long after) except -1
    cdef double value(self, Draft draft) except? -1.0
    cdef int save(self) except -1
    cdef int back(self) except -1
    cdef double area(self, Draft draft, Py_ssize_t i) noexcept
    cdef double term(self, Draft draft, Py_ssize_t i, long long start) noexcept

cdef class Wait(Sum):
    cdef double term(self, Draft draft, Py_ssize_t i, long long start) noexcept

cdef class Response(Sum):
    cdef double term(self, Draft draft, Py_ssize_t i, long long start) noexcept

cdef class BoundedSlowdown(Sum):
    cdef readonly double bound
    cdef double term(self, Draft draft, Py_ssize_t i, long long start) noexcept

cdef class Tardiness(Sum):
    cdef double term(self, Draft draft, Py_ssize_t i, long long start) noexcept

cdef class MissedDeadlines(Sum):
    cdef double term(self, Draft draft, Py_ssize_t i, long long start) noexcept

cdef class Utilization(Sum):
    cdef readonly long long window
    cdef double idle
    cdef int begin(self, Draft draft) except -1
    cdef double value(self, Draft draft) except? -1.0
    cdef double term(self, Draft draft, Py_ssize_t i, long long start) noexcept

cdef class Makespan(Objective):
    cdef long long last
    cdef long long saved
    cdef bint stale
    cdef bint saved_stale
    cdef int begin(self, Draft draft) except -1
    cdef int moved(self, Draft draft, Py_ssize_t i, long long before, long long after) except -1
    cdef double value(self, Draft draft) except? -1.0
    cdef int save(self) except -1
    cdef int back(self) except -1

cdef class ByUser(Objective):
    cdef long long[::1] waits
    cdef double[::1] scale
    cdef long long[::1] concerned
    cdef Py_ssize_t users
    cdef double sum
    cdef double squares
    cdef double saved_sum
    cdef double saved_squares
    cdef int begin(self, Draft draft) except -1
    cdef int moved(self, Draft draft, Py_ssize_t i, long long before, long long after) except -1
    cdef int save(self) except -1
    cdef int back(self) except -1
    cdef int enter(self, Py_ssize_t user, double sign) noexcept
    cdef double past(self, Py_ssize_t user) noexcept
    cdef double share(self, Py_ssize_t user) noexcept
    cdef double asked(self, Draft draft, Py_ssize_t i) noexcept

cdef class Fairness(ByUser):
    cdef double value(self, Draft draft) except? -1.0
    cdef double past(self, Py_ssize_t user) noexcept
    cdef double share(self, Py_ssize_t user) noexcept
    cdef double asked(self, Draft draft, Py_ssize_t i) noexcept

cdef class Satisfaction(ByUser):
    cdef double value(self, Draft draft) except? -1.0
    cdef double past(self, Py_ssize_t user) noexcept
    cdef double share(self, Py_ssize_t user) noexcept
    cdef double asked(self, Draft draft, Py_ssize_t i) noexcept
