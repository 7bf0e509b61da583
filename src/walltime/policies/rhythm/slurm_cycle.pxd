from walltime.kernel.profiles.node_space cimport NodeSpace, has_node, no_nodes, put_node
from walltime.kernel.jobs cimport WAITING, JobTable
from walltime.kernel.ledger.resources cimport ResourceLedger
from walltime.kernel.queue.lines cimport Line
from walltime.kernel.queue.waiting cimport Queue
from walltime.policies.rhythm.chance cimport Chance
from walltime.policies.rhythm.will_run cimport WillRun
from walltime.policy.api cimport CAPACITY, ESTIMATE, LIMIT, TIMER, Pass

cdef extern from *:
    int __builtin_ctzll(unsigned long long x) noexcept nogil

cdef class Partitions:
    cdef readonly ResourceLedger ledger
    cdef readonly NodeSpace space
    cdef list nodes
    cdef bint reserved
    cdef long long[::1] shut
    cdef Py_ssize_t partition(self, long long queue) noexcept
    cdef bint holds_idle(self, Py_ssize_t x, long long[::1] nodes) noexcept
    cdef int map_reservations(self, long long begin, long long close) except -1

cdef class Cycle:
    # parameters, times in microseconds
    cdef readonly long long window
    cdef readonly long long step
    cdef readonly long long resolution
    cdef readonly long long tests
    cdef readonly long long starts
    cdef readonly long long per_user
    cdef readonly long long per_part
    cdef readonly long long per_user_part
    cdef readonly long long per_assoc
    cdef public long long places
    cdef readonly long long min_age
    cdef readonly long long min_prio
    cdef readonly long long per_array
    cdef readonly bint plans_limited
    cdef public long long[::1] arrays
    # one cycle
    cdef public Py_ssize_t watched
    cdef public bint asked
    cdef public bint naming
    cdef readonly long long seen
    cdef Partitions parts
    cdef WillRun willrun
    cdef Chance chance
    cdef public dict homes
    cdef public object codes
    cdef list users
    cdef dict counts
    cdef long long[::1] of_user
    cdef long long[::1] ahead
    cdef dict planned
    cdef dict tasks
    cdef bint kept
    cdef long long tested
    cdef long long started
    cdef readonly bint stirred
    cdef bint kept_idle

    cdef long long[::1] bounds
    cdef long long[::1] bounded
    cdef public bint ageing
    cdef public int causes
    cdef bint moved
    cdef long long until
    cdef long long ran
    cdef long long moves
    cdef long long order
    cdef long long planned_order
    cdef long long[::1] ordered
    cdef long long[::1] listed
    cdef long long[::1] seqs
    cdef long long[::1] lengths
    cdef Py_ssize_t length
    cdef long long[::1] waiting_in
    cdef long long[::1] hope
    cdef Py_ssize_t hopes
    cdef bint keen
    cdef bint brief
    cdef readonly bint partial
    cdef Py_ssize_t awaited
    cdef long long[::1] told
    cdef long long[::1] times
    cdef Py_ssize_t tellings
    cdef Py_ssize_t sought
    cdef Py_ssize_t sighted
    cdef bint answered
    cdef bint named
    cdef readonly long long start_planned
    cdef readonly Py_ssize_t rival
    cdef readonly long long rival_start

    cdef int settle(self, Partitions parts) except -1
    cdef int run(self, Pass p) except -1
    cdef bint is_done(self) noexcept
    cdef int list_jobs(self, Pass p) except -1
    cdef Py_ssize_t add_jobs(self, Pass p, Queue queue, Py_ssize_t begin, Py_ssize_t count) except -1
    cdef int list_hopes(self, Pass p, Py_ssize_t first) except -1
    cdef Py_ssize_t last_hope(self, Pass p, Py_ssize_t first) except -1
    cdef int find_watched(self) noexcept
    cdef bint awaits(self, Pass p, Py_ssize_t first) except? -1
    cdef int make_room(self, long long user) except -1
    cdef int conclude(self, Pass p) except -1
    cdef bint is_same(self, Pass p) except? -1
    cdef int repeat(self, Pass p) except -1
    cdef Py_ssize_t array_of(self, Pass p, Py_ssize_t slot) except? -1
    cdef int consider(self, Pass p, Py_ssize_t slot) except -1
    cdef int try_queues(self, Pass p, Py_ssize_t slot) except -1
    cdef bint try_here(self, Pass p, Py_ssize_t slot) except? -1
    cdef bint place(self, Pass p, Py_ssize_t slot, bint now_only, bint refused) except? -1
    cdef int rely(self, long long now, long long start, long long later, long long length) noexcept
    cdef long long bound(self, Py_ssize_t slot, Py_ssize_t x, Py_ssize_t queue) except *
    cdef bint start(self, Pass p, Py_ssize_t slot) except? -1
    cdef bint has_idle(self, long long[::1] nodes) noexcept
    cdef bint keep(self, Pass p, Py_ssize_t slot, long long time) except? -1
    cdef int compare(self, Pass p, Py_ssize_t slot, long long time) except -1
    cdef int tell(self, Pass p, Py_ssize_t slot, long long time) except -1
    cdef bint now_only(self, Pass p, Py_ssize_t slot, Py_ssize_t queue) except? -1
    cdef object charged(self, long long account, long long user)
    cdef bint too_many(self, Pass p, Py_ssize_t slot, Py_ssize_t queue) except? -1
