from walltime.kernel.arrays cimport words
from walltime.kernel.prefetch cimport prefetch_line

# The first place, so that four children begin at a multiple of four: in one cache line.
cdef enum:
    ROOT = 3

# Whether event i comes after event k, at the same time: by their seqs.
cdef inline bint is_later(long long *held, long long *rows, Py_ssize_t i, Py_ssize_t k) noexcept:
    return rows[4 * held[i]] > rows[4 * held[k]]

# The first of the four events from place c on. Without a branch: which one it is cannot be foretold, and four in ten
# would be wrong. But that two times are the same can be: they hardly ever are.
cdef inline Py_ssize_t first_of(long long *times, long long *held, long long *rows, Py_ssize_t c) noexcept:
    cdef long long a = times[c]
    cdef long long b = times[c + 1]
    cdef long long x = times[c + 2]
    cdef long long y = times[c + 3]
    cdef Py_ssize_t second = b < a
    cdef Py_ssize_t fourth = y < x
    if a == b:
        second = is_later(held, rows, c, c + 1)
    if x == y:
        fourth = is_later(held, rows, c + 2, c + 3)
    a = b if b < a else a
    x = y if y < x else x
    cdef bint right = x < a
    if x == a:
        right = is_later(held, rows, c + second, c + 2 + fourth)
    second += c
    fourth += c + 2
    return fourth if right else second

cdef class EventHeap:
    cdef long long[::1] times
    cdef long long[::1] held
    cdef long long[::1] rows
    cdef readonly Py_ssize_t size
    cdef readonly long long first
    cdef readonly long long time
    cdef readonly long long seq
    cdef readonly Py_ssize_t slot
    cdef readonly long long stamp
    cpdef int push(self, long long time, long long seq, Py_ssize_t slot, long long stamp) except -1
    cpdef int pop(self) except -1
    cdef int rise(self, Py_ssize_t i, long long time, long long row) noexcept
    cdef int grow(self) except -1
    cdef long long first_seq(self) noexcept
    cdef Py_ssize_t first_slot(self) noexcept
