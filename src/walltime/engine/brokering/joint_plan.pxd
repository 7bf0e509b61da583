from walltime.engine.brokering.joint_draft cimport JointDraft
from walltime.engine.cluster cimport Changes, Cluster
from walltime.engine.domain cimport Domain
from walltime.kernel.jobs cimport JobTable
from walltime.kernel.source cimport Engine, Observer, Source
from walltime.policies.backfill.plan cimport Plan
from walltime.policy.api cimport ORDER
from walltime.policy.optimise cimport Optimiser, UserTotals

cdef class JointPlan(Source):
    cdef readonly Optimiser optimiser
    cdef readonly UserTotals people
    cdef readonly long long moves
    cdef list clusters
    cdef Changes changes
    cdef JointDraft draft
    cdef bint due
    cdef bint came
    cdef bint armed
    cdef long long done
    cdef long long early
    cpdef fire(self, long long now)
    cdef bint wants(self, long long now) noexcept
    cdef int look(self, long long now) except -1
    cdef int improve(self, list slots, long long now) except -1
    cdef int adopt(self, long long now) except -1
    cdef list collect(self, long long now)
