from walltime.kernel.arrays cimport words

cdef extern from *:
    """
    #ifndef WALLTIME_COUNT_BITS
    #define WALLTIME_COUNT_BITS
    #if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
    /* which one runs is chosen by the processor when the module is loaded; not every module that includes this counts */
    #define WALLTIME_COUNTING __attribute__((unused, target_clones("popcnt", "default")))
    #elif defined(__GNUC__)
    #define WALLTIME_COUNTING __attribute__((unused))
    #else
    #define WALLTIME_COUNTING
    #endif
    WALLTIME_COUNTING static Py_ssize_t count_bits(const long long *found, Py_ssize_t many) {
        Py_ssize_t bits = 0;
        for (Py_ssize_t w = 0; w < many; w++)
            bits += __builtin_popcountll((unsigned long long)found[w]);
        return bits;
    }
    WALLTIME_COUNTING static Py_ssize_t count_common(const long long *one, const long long *other, Py_ssize_t at, Py_ssize_t many) {
        Py_ssize_t bits = 0;
        for (Py_ssize_t w = 0; w < many; w++)
            bits += __builtin_popcountll((unsigned long long)(one[w] & other[at + w]));
        return bits;
    }
    #endif
    """
    Py_ssize_t count_bits(const long long *found, Py_ssize_t many) noexcept nogil
    Py_ssize_t count_common(const long long *one, const long long *other, Py_ssize_t at, Py_ssize_t many) noexcept nogil

cdef class NodeSpace:
    cdef readonly Py_ssize_t n
    cdef readonly Py_ssize_t words
    cdef readonly Py_ssize_t count
    cdef long long close
    cdef long long[::1] begin
    cdef long long[::1] row
    cdef long long[::1] spare
    cdef Py_ssize_t spares
    cdef long long[::1] bits
    cdef long long[::1] sets
    cdef Py_ssize_t own
    cdef Py_ssize_t at
    cdef Py_ssize_t middle
    cdef Py_ssize_t reach
    cdef long long[::1] both
    cdef long long[::1] suffix
    cdef long long[::1] out

    cdef int clear(self, long long begin, long long close) except -1
    cdef long long end(self, Py_ssize_t k) noexcept
    cdef Py_ssize_t find(self, long long time) noexcept
    cdef int open(self, Py_ssize_t own, long long start) except -1
    cdef Py_ssize_t follow(self, long long end) noexcept
    cdef bint lets_in(self, Py_ssize_t k) noexcept
    cdef Py_ssize_t gather(self, long long end) except -1
    cdef int turn(self) except -1
    cdef long long constant(self, long long length) noexcept
    cdef bint meets(self, Py_ssize_t own, long long[::1] nodes) noexcept
    cdef bint overlaps(self, long long[::1] nodes, long long start, long long end) noexcept
    cdef int reserve(self, long long[::1] nodes, long long start, long long end) except -1
    cdef Py_ssize_t cut(self, long long time) except -1
    cdef int grow(self) except -1

cpdef object no_nodes(Py_ssize_t n)
cpdef int put_node(long long[::1] nodes, Py_ssize_t i) noexcept
cpdef bint has_node(long long[::1] nodes, Py_ssize_t i) noexcept
cpdef Py_ssize_t count_nodes(long long[::1] nodes) noexcept
