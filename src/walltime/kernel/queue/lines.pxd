from walltime.kernel.jobs cimport OUTSIDE, JobTable
from walltime.kernel.ledger.interface cimport Ledger
from walltime.kernel.queue.choices cimport Choices
from walltime.kernel.queue.sorting cimport Sorter
from walltime.kernel.queue.waiting cimport OrderedQueue, Queue
from walltime.kernel.quotas cimport Quotas
from walltime.kernel.queue.scan cimport ScanQueue

cdef class Line:
    cdef readonly Queue queue
    cdef readonly Py_ssize_t number
    cdef readonly Py_ssize_t tier
    cdef Py_ssize_t tier_index
    cdef readonly Py_ssize_t lane
    cdef readonly Py_ssize_t node_set
    cdef readonly Py_ssize_t counter
    cdef readonly bint local
    cdef readonly bint dynamic
    cdef readonly bint open
    cdef long long renewed
    cdef dict behind
    cdef long long cores
    cdef long long gpus
    cdef long long memory
    cdef long long work
    # what was sought in vain
    cdef long long sought
    cdef long long free
    cdef long long extra
    cdef long long window
    cdef long long longest
    cdef bint is_barren(self, long long free, long long extra, long long window, long long longest) noexcept
    cdef int set_barren(self, long long free, long long extra, long long window, long long longest) noexcept

cdef class LineKeys:
    cdef bint is_stale(self, Line line) except? -1
    cdef int renew(self, Line line) except -1

cdef class LinesQueue(Queue):
    cdef readonly Ledger ledger
    cdef readonly Quotas quotas
    cdef readonly Choices choices
    cdef LineKeys keys
    cdef public bint parks
    cdef readonly Py_ssize_t parked
    cdef readonly list lines
    cdef list tiers
    cdef long long[::1] crowd
    cdef long long[::1] few
    cdef list lane_line
    cdef long long[::1] tier_of
    cdef list at_counter
    cdef bint dynamic
    cdef readonly long long opening
    cdef long long[::1] passed
    cdef bint passing
    cdef long long[::1] limited
    cdef Py_ssize_t limited_size
    cdef long long[::1] limited_place
    cdef long long[::1] kept_by
    cdef long long looked
    cdef dict choosers
    cdef list refused

    cpdef int push(self, Py_ssize_t slot) except -1
    cpdef int remove(self, Py_ssize_t slot) except -1
    cpdef Py_ssize_t head(self) except -2
    cpdef Py_ssize_t next(self, Py_ssize_t slot) except -2
    cpdef Py_ssize_t find(self, long long free, long long extra, long long window, Py_ssize_t after, long long longest) except -2
    cpdef int reorder(self) except -1
    cdef long long[::1] ordered(self)
    cdef Py_ssize_t write_admitted(self, Line line, Py_ssize_t n) except -1
    cdef int sort_slots(self, Py_ssize_t begin, Py_ssize_t end) except -1
    cdef bint quiet(self, Py_ssize_t last) except? -1
    cdef Py_ssize_t behind(self, Py_ssize_t slot) except? -1
    cdef bint ahead(self, Py_ssize_t slot) except? -1
    cdef long long tier(self, Py_ssize_t slot) noexcept
    cdef bint precedes(self, Py_ssize_t a, Py_ssize_t b) noexcept
    cpdef Py_ssize_t refuser(self, Py_ssize_t slot) except? -1
    cpdef long long counted_as(self, Py_ssize_t slot) except *
    cdef int begin_count(self, Py_ssize_t slot) except -1
    cdef int end_count(self, Py_ssize_t slot) except -1
    cdef int look(self, Py_ssize_t slot) except -1
    cdef int count_kept(self) except -1
    cdef int stand(self, Py_ssize_t slot, Line line) except -1
    cdef Line home(self, Py_ssize_t lane)
    cdef Line line_of(self, Py_ssize_t slot)
    cdef Line limit_line(self, Py_ssize_t lane, Py_ssize_t counter)
    cdef int park(self, Py_ssize_t slot, Py_ssize_t counter) except -1
    cdef Py_ssize_t first_of(self, Line line, Py_ssize_t after) except? -1
    cdef Py_ssize_t first_fitting(self, Line line, Py_ssize_t after) except? -1
    cdef Py_ssize_t seek(self, Line line, long long free, long long extra, long long window, Py_ssize_t after, long long longest) except -2
    cdef Py_ssize_t find_none(self, Line line, long long free, long long extra, long long window, long long longest) noexcept
    cdef Py_ssize_t first(self, Py_ssize_t after, bint fitting) except? -1
    cdef int pass_over(self, Py_ssize_t lane) except -1
    cdef int pass_none(self) except -1
    cdef int bring_home(self, Py_ssize_t slot) except -1
    cdef int change(self, Py_ssize_t slot, Line line, Line other) except -1
    cdef int catch_up(self, Line line) except -1
    cdef bint shut(self, Line line) noexcept
    cdef int close(self, Line line) except -1
    cdef bint open(self, Line line) except? -1
    cdef bint unpark(self, Py_ssize_t slot) except? -1
    cdef int note_refused(self) except -1
    cdef bint lets_in(self) except? -1
    cdef bint refresh(self) except? -1
    cdef bint waits_for_time(self) noexcept
    cdef long long next_opening(self) except *
    cdef long long opens(self, Py_ssize_t slot) except *
