from walltime.kernel.profiles.node_space cimport NodeSpace, count_nodes, no_nodes, put_node
from walltime.kernel.ledger.resources cimport ResourceLedger
from walltime.policies.rhythm.slurm_cycle cimport Cycle, Partitions
from walltime.policies.rhythm.will_run cimport WillRun
from walltime.policy.api cimport ESTIMATE, LIMIT, RELEASE, TIMER, Pass, Policy, Rhythm, require_open

cdef class Slurm(Rhythm):
    # parameters, in microseconds
    cdef long long sched_interval
    cdef long long sched_min_interval
    cdef long long batch_sched_delay
    cdef long long default_queue_depth
    cdef long long partition_job_depth
    cdef long long sched_max_job_start
    cdef bint defer
    cdef bint assoc_limit_stop
    cdef long long bf_interval
    cdef readonly long long depth
    # since when
    cdef long long last_main
    cdef long long last_full
    cdef long long last_called
    cdef readonly long long last_backfill
    cdef public Py_ssize_t watched
    cdef public long long asked_from
    cdef public bint naming
    cdef readonly bint partial
    cdef readonly long long seen
    cdef readonly long long planned
    cdef long long news
    cdef int pending
    cdef bint cut
    cdef bint stirred
    cdef long long stirred_at
    cdef long long[::1] vain_ran
    cdef long long[::1] vain_order
    cdef long long[::1] vain_cut
    cdef long long[::1] vain_stirred
    # the passes
    cdef Partitions parts
    cdef Cycle cycle
    cdef list masks
    cdef long long[::1] stopped
    cdef long long[::1] looked
    cdef long long[::1] open
    cdef long long[::1] clear
    cdef Py_ssize_t begun
    cdef long long rejected

    cdef int passes_due(self, long long now, int causes) noexcept
    cdef long long cycled(self, long long now) noexcept
    cdef bint is_missed(self, long long now, int causes) noexcept
    cdef int note(self, long long now) noexcept
    cdef long long called(self, long long now) noexcept
    cdef bint is_at_once(self, long long now, int happened) noexcept
    cdef bint is_queued(self, long long now, int happened) noexcept
    cdef int queued(self, int happened) noexcept
    cpdef bint due(self, long long now, int causes) except? -1
    cpdef schedule(self, Pass p)
    cpdef long long next(self, long long now, int causes) except *
    cdef int settle(self, Pass p) except -1
    cdef int run_main(self, Pass p, bint full) except -1
    cdef bint is_over(self, bint full, long long tested) noexcept
    cdef bint is_at_rest(self) noexcept
    cdef bint is_vain(self, Pass p, bint full) except? -1
    cdef bint heeds_time(self, Pass p) except? -1
    cdef int try_main(self, Pass p, Py_ssize_t slot) except -1
    cdef bint try_here(self, Pass p, Py_ssize_t slot) except? -1
    cdef bint spares(self, Pass p, Py_ssize_t slot) noexcept
    cdef int stop(self, Py_ssize_t queue) noexcept
