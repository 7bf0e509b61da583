from walltime.kernel.profiles.free_profile cimport FreeProfile
from walltime.policies.backfill.candidates cimport Candidates
from walltime.policy.api cimport ARRIVAL, ESTIMATE, ORDER, RESERVE, TIMER, Pass, Policy, Rhythm, require_open

cdef class Periodic(Rhythm):
    # parameters, in microseconds
    cdef long long sched_interval
    cdef long long sched_min_interval
    cdef Py_ssize_t default_queue_depth
    cdef bint defer
    cdef long long bf_interval
    cdef long long bf_window
    cdef long long bf_resolution
    cdef Py_ssize_t bf_max_job_test
    cdef Py_ssize_t bf_max_job_user
    # the policy, as far as it is known
    cdef readonly long long depth
    cdef Candidates candidates
    cdef unsigned char[:, ::1] share
    # since when
    cdef long long last_main
    cdef long long last_full
    cdef readonly long long last_backfill
    cdef public Py_ssize_t watched
    cdef readonly long long seen
    cdef readonly long long planned
    cdef int missed
    cdef int pending
    cdef long long[::1] blocked
    cdef bint cut
    # one backfill pass
    cdef FreeProfile free_profile
    cdef bint counted
    cdef long long units
    cdef long long[::1] chosen
    cdef long long[::1] before
    cdef Py_ssize_t befores
    cdef dict users
    cdef Py_ssize_t reserved
    cdef bint started
    cdef readonly long long skipped

    cdef int passes_due(self, long long now, int causes) noexcept
    cpdef bint due(self, long long now, int causes) except? -1
    cpdef schedule(self, Pass p)
    cpdef long long next(self, long long now, int causes) except *
    cdef int run_main(self, Pass p, long long depth) except -1
    cdef int stop(self, Pass p, Py_ssize_t lane, bint unseen) except -1
    cdef int run_backfill(self, Pass p) except -1
    cdef int run_listed(self, Pass p) except -1
    cdef int run_lines(self, Pass p) except -1
    cdef Py_ssize_t collect(self, Pass p) except? -1
    cdef Py_ssize_t last_hope(self, Pass p, Py_ssize_t i, Py_ssize_t n) except? -1
    cdef bint repeats(self, Pass p, Py_ssize_t n) except? -1
    cdef bint too_many(self, Pass p, Py_ssize_t slot) except? -1
    cdef int consider(self, Pass p, Py_ssize_t slot) except -1
    cdef bint fits(self, Pass p, Py_ssize_t slot) except? -1
    cdef int start(self, Pass p, Py_ssize_t slot) except -1
    cdef int reserve(self, Pass p, Py_ssize_t slot) except -1
    cdef long long earliest(self, Pass p, Py_ssize_t slot, long long length) except *
    cdef int start_ranked(self, Pass p, list rest) except -1
    cdef long long up(self, long long time) noexcept
