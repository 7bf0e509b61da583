from walltime.engine.domain cimport Domain
from walltime.kernel.jobs cimport HELD, RUNNING, SUSPENDED, WAITING, JobTable
from walltime.kernel.source cimport Engine, Observer
from walltime.policy.views cimport find_ledger, find_quotas, first_promised, judge, see_start

cdef class Watcher(Observer):
    cdef readonly long long job_id
    cdef readonly long long step
    cdef readonly object times
    # the job
    cdef readonly Py_ssize_t slot
    cdef readonly long long seq
    cdef readonly long long cores
    # what is noted
    cdef readonly list moves
    cdef readonly list reasons
    cdef readonly list stays
    cdef readonly list passed
    cdef readonly list promises
    cdef readonly list plans
    cdef readonly list samples
    # what is known of it now
    cdef bint waiting
    cdef object open
    cdef tuple same
    cdef Domain where
    cdef long long due
    cdef bint stirred
    cdef bint calm
    cdef readonly long long cycles
    cdef readonly long long asked
    cdef bint fitted
    cdef dict rival
    cdef Py_ssize_t rival_slot
    cdef long long rival_seq
    cdef dict others

    cdef int follow(self, Engine engine, int before, int after) except -1
    cdef int leave(self, Engine engine, long long now, int after) except -1
    cdef int see_start(self, Engine engine, Py_ssize_t slot) except -1
    cdef int note_promise(self, long long now, long long time) except -1
    cdef int look(self, Engine engine, long long now) except -1
    cdef int close(self, long long now) except -1
    cdef Domain find_domain(self, Engine engine)
    cdef Domain home(self, Engine engine)
    cdef object machine(self, Engine engine)
    cdef dict name_interruption(self, Engine engine, object stay)
    cdef tuple ask(self, Engine engine)
    cdef bint lasts(self, Engine engine, Domain domain) except? -1
    cdef tuple find_obstacle(self, Engine engine, Domain domain, str kind)
    cdef tuple ask_rhythm(self, Engine engine, object rhythm)
    cdef dict holder(self, Engine engine)
    cdef dict name_rival(self, Engine engine, object rhythm)
    cdef int question(self, Engine engine, object rhythm) except -1
    cdef tuple first_planned(self, Engine engine)
    cdef int sample(self, Engine engine) except -1
