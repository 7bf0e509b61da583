from walltime.engine.cluster cimport Changes, Cluster
from walltime.engine.brokering.joint_plan cimport JointPlan
from walltime.engine.brokering.migration cimport Migration
from walltime.engine.scheduling cimport Scheduling
from walltime.kernel.jobs cimport OUTSIDE, JobTable
from walltime.kernel.queue.waiting cimport OrderedQueue, Queue
from walltime.kernel.queue.scan cimport ScanQueue
from walltime.policy.api cimport Broker, Order

cdef class GlobalQueue:
    cdef readonly str name
    cdef readonly Order order
    cdef readonly Broker broker
    cdef readonly Queue queue
    cdef int number
    cdef bint changing
    cdef int attach(self, JobTable jobs, int number, long long cores) except -1
    cdef int push(self, JobTable jobs, Py_ssize_t slot, long long now) except -1
    cdef int rank(self, long long now) except -1

cdef class Dispatch(Scheduling):
    cdef readonly list queues
    cdef readonly bint hold
    cdef readonly bint overtake
    cdef readonly bint shared
    cdef readonly object routing
    cdef readonly Migration migration
    cdef readonly JointPlan joint
    cdef long long seed
    cdef Changes changes
    cdef readonly Py_ssize_t size
    cdef readonly Py_ssize_t longest
    cdef list fresh
    cdef list closed
    cdef dict options
    cdef dict known
    cdef bint assigned
    cpdef int attach(self, JobTable jobs, list clusters) except -1
    cdef object refuse(self, Py_ssize_t slot)
    cdef list able(self, Py_ssize_t slot, kind)
    cdef list allowed(self, kind)
    cdef int wait(self, Py_ssize_t slot, long long now) except -1
    cdef int leave(self, Py_ssize_t slot) except -1
    cdef int forget(self, Py_ssize_t slot, long long now) except -1
    cdef list decide(self, long long now)
    cdef int ask(self, long long now) except -1
    cdef bint restless(self) noexcept
    cdef int ask_in_turn(self, long long now) except -1
    cdef int ask_all(self, list opened, list fresh, long long now) except -1
    cdef Py_ssize_t next_small(self, GlobalQueue global_queue, list opened, Py_ssize_t after) except? -1
    cdef int ask_fresh(self, list fresh, long long now) except -1
    cdef list in_order(self, list fresh, long long now)
    cdef bint consider(self, GlobalQueue global_queue, Py_ssize_t slot, list among) except? -1
    cdef Cluster choose(self, GlobalQueue global_queue, Py_ssize_t slot, list among)
    cdef object send(self, Py_ssize_t slot, Cluster cluster)
