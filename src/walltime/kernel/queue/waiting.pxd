from walltime.kernel.queue.bounds cimport Bounds
from walltime.kernel.queue.index cimport Entries, QueueIndex
from walltime.kernel.jobs cimport LINE, OUTSIDE, JobTable
from walltime.kernel.queue.sorting cimport Sorter

# A slot, or -1 for none: so -2 is what an error gives, and -1 need not be asked whether it is one.
cdef class Queue:
    cdef readonly JobTable jobs
    cdef readonly Py_ssize_t size
    cdef public bint fixed
    cdef public bint shuffled
    cdef public long long moves
    cdef long long[::1] recent
    cdef long long[::1] recent_seq
    cdef Py_ssize_t recents
    cdef bint notes  # whether the jobs that join are noted; where nothing asks for them they would pile up
    cdef long long[::1] buffer
    cdef readonly Sorter sorter
    cdef long long[::1] spare

    cpdef int push(self, Py_ssize_t slot) except -1
    cpdef int remove(self, Py_ssize_t slot) except -1
    cpdef Py_ssize_t head(self) except -2
    cpdef Py_ssize_t next(self, Py_ssize_t slot) except -2
    cpdef Py_ssize_t find(self, long long free, long long extra, long long window, Py_ssize_t after, long long longest) except -2
    cpdef int reorder(self) except -1
    cdef long long[::1] room(self)
    cdef int rekey(self) except -1
    cdef long long[::1] ordered(self)
    cdef Py_ssize_t leading(self, Py_ssize_t many, long long[::1] slots) except? -1
    cdef int note(self, Py_ssize_t slot) except -1
    cdef Py_ssize_t fresh(self, Py_ssize_t i) except? -1
    cdef bint known(self) except? -1
    cdef int sort_recent(self, Py_ssize_t begin, Py_ssize_t end) except -1
    cdef int merge_recent(self, Py_ssize_t begin, Py_ssize_t middle, Py_ssize_t end) except -1
    cdef bint quiet(self, Py_ssize_t last) except? -1
    cdef Py_ssize_t behind(self, Py_ssize_t slot) except? -1
    cdef int settle(self) except -1
    cdef long long tier(self, Py_ssize_t slot) noexcept
    cdef bint ahead(self, Py_ssize_t slot) except? -1
    cdef bint precedes(self, Py_ssize_t a, Py_ssize_t b) noexcept

cdef class OrderedQueue(Queue):
    cdef QueueIndex line
    # the same jobs by what they want of each node, where that makes a difference and `find` has been asked
    cdef Bounds bounds
    cdef Py_ssize_t node_set
    cdef bint parted
    cdef list parts
    cdef list present  # the numbers of those that have had a job
    cdef long long[::1] part_of  # by slot
    cdef Py_ssize_t width
    cdef long long[::1] tail
    cdef Py_ssize_t begin
    cdef Py_ssize_t end
    cdef long long last_key
    cdef long long last_seq
    # for re-sorting
    cdef Entries entries

    cpdef int push(self, Py_ssize_t slot) except -1
    cpdef int remove(self, Py_ssize_t slot) except -1
    cpdef Py_ssize_t head(self) except -2
    cpdef Py_ssize_t next(self, Py_ssize_t slot) except -2
    cpdef Py_ssize_t find(self, long long free, long long extra, long long window, Py_ssize_t after, long long longest) except -2
    cpdef int reorder(self) except -1
    cdef long long[::1] room(self)
    cdef int rekey(self) except -1
    cdef long long[::1] ordered(self)
    cdef Py_ssize_t leading(self, Py_ssize_t many, long long[::1] slots) except? -1
    cdef Py_ssize_t behind(self, Py_ssize_t slot) except? -1
    cdef int flush(self) except -1
    cdef int enter(self, Py_ssize_t slot) except -1
    cdef int leave(self, Py_ssize_t slot) except -1
    cdef QueueIndex assign(self, Py_ssize_t slot)
    cdef int reseparate_parts(self) except -1
    cdef int enter_part(self, Py_ssize_t slot) except -1
    cdef int part_all(self) except -1
    cdef int refill_parts(self, Py_ssize_t n) except -1
    cdef Py_ssize_t find_part(self, long long free, long long extra, long long window, Py_ssize_t after, long long longest) except -2
    cdef Py_ssize_t look(self, QueueIndex line, long long free, long long extra, long long window, Py_ssize_t after, long long longest) except -2
    cdef bint sort(self) except -1
    cdef bint fill_tail(self, Py_ssize_t n) except -1
    cdef int shift(self) noexcept
    cdef Py_ssize_t make_way(self, Py_ssize_t slot) noexcept
    cdef Py_ssize_t look_through(self, long long free, long long extra, long long window, Py_ssize_t after, long long longest) noexcept
    cdef int gather(self) except -1
