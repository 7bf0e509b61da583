from walltime.kernel.arrays cimport words

cdef extern from *:
    """
    #ifndef WALLTIME_NODE_TABLE
    #define WALLTIME_NODE_TABLE
    #include <string.h>
    #if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
    /* which one runs is chosen by the processor when the module is loaded; not every module that includes this calls it */
    #define WALLTIME_WIDE __attribute__((unused, target_clones("avx2", "default")))
    #elif defined(__GNUC__)
    #define WALLTIME_WIDE __attribute__((unused))
    #else
    #define WALLTIME_WIDE
    #endif
    /* Cells are numbers of 2, 4 or 8 bytes: `size`. Places are counted in cells. */
    WALLTIME_WIDE static int count_below(const short *last, Py_ssize_t n, int bound) {
        short found = 0, below = (short)bound;
        for (Py_ssize_t i = 0; i < n; i++)
            found += last[i] < below;
        return found;
    }
    #define WALLTIME_MARK(NAME, CELL) \\
    WALLTIME_WIDE static int NAME##_one(const CELL *one, CELL need, short *last, Py_ssize_t n, short mark) { \\
        short found = 0; \\
        for (Py_ssize_t i = 0; i < n; i++) { \\
            short bad = one[i] < need ? mark : 0; \\
            short is = last[i] > bad ? last[i] : bad; \\
            last[i] = is; \\
            found += is < mark; \\
        } \\
        return found; \\
    } \\
    WALLTIME_WIDE static int NAME##_two(const CELL *one, CELL need, const CELL *other, CELL and_need, short *last, \\
                                        Py_ssize_t n, short mark) { \\
        short found = 0; \\
        for (Py_ssize_t i = 0; i < n; i++) { \\
            short bad = (one[i] < need) | (other[i] < and_need) ? mark : 0; \\
            short is = last[i] > bad ? last[i] : bad; \\
            last[i] = is; \\
            found += is < mark; \\
        } \\
        return found; \\
    } \\
    WALLTIME_WIDE static int NAME##_beside(const CELL *one, CELL need, const long long *own, short *last, Py_ssize_t n, \\
                                           short mark) { \\
        short found = 0; \\
        for (Py_ssize_t i = 0; i < n; i++) { \\
            short bad = one[i] + own[i] < need ? mark : 0; \\
            short is = last[i] > bad ? last[i] : bad; \\
            last[i] = is; \\
            found += is < mark; \\
        } \\
        return found; \\
    }
    WALLTIME_MARK(mark2, short)
    WALLTIME_MARK(mark4, int)
    WALLTIME_MARK(mark8, long long)
    #define WALLTIME_AT(CELL, AT) ((CELL *)cells + (AT))
    static inline int mark_short(char *cells, int size, Py_ssize_t at, long long need, short *last, Py_ssize_t n, int mark) {
        return size == 2 ? mark2_one(WALLTIME_AT(short, at), (short)need, last, n, (short)mark)
             : size == 4 ? mark4_one(WALLTIME_AT(int, at), (int)need, last, n, (short)mark)
                         : mark8_one(WALLTIME_AT(long long, at), need, last, n, (short)mark);
    }
    static inline int mark_both(char *cells, int size, Py_ssize_t at, long long need, Py_ssize_t and_at, long long and_need,
                                short *last, Py_ssize_t n, int mark) {
        return size == 2 ? mark2_two(WALLTIME_AT(short, at), (short)need, WALLTIME_AT(short, and_at), (short)and_need, last, n,
                                     (short)mark)
             : size == 4 ? mark4_two(WALLTIME_AT(int, at), (int)need, WALLTIME_AT(int, and_at), (int)and_need, last, n,
                                     (short)mark)
                         : mark8_two(WALLTIME_AT(long long, at), need, WALLTIME_AT(long long, and_at), and_need, last, n,
                                     (short)mark);
    }
    static inline int mark_beside(char *cells, int size, Py_ssize_t at, long long need, const long long *own,
                                  Py_ssize_t own_at, short *last, Py_ssize_t n, int mark) {
        return size == 2 ? mark2_beside(WALLTIME_AT(short, at), (short)need, own + own_at, last, n, (short)mark)
             : size == 4 ? mark4_beside(WALLTIME_AT(int, at), (int)need, own + own_at, last, n, (short)mark)
                         : mark8_beside(WALLTIME_AT(long long, at), need, own + own_at, last, n, (short)mark);
    }
    static inline int add_cells(char *cells, int size, Py_ssize_t at, const long long *node, Py_ssize_t first,
                                Py_ssize_t count, long long amount) {
        Py_ssize_t j;
        node += first;
        if (size == 2)
            for (j = 0; j < count; j++) *WALLTIME_AT(short, at + node[j]) += (short)amount;
        else if (size == 4)
            for (j = 0; j < count; j++) *WALLTIME_AT(int, at + node[j]) += (int)amount;
        else
            for (j = 0; j < count; j++) *WALLTIME_AT(long long, at + node[j]) += amount;
        return 0;
    }
    static inline int add_cell(char *cells, int size, Py_ssize_t at, long long amount) {
        long long node = 0;
        return add_cells(cells, size, at, &node, 0, 1, amount);
    }
    static inline int copy_cells(char *cells, int size, Py_ssize_t at, const char *source, Py_ssize_t source_at,
                                 Py_ssize_t count) {
        memcpy(cells + at * size, source + source_at * size, (size_t)(count * size));
        return 0;
    }
    #endif
    """
    int count_below(const short *last, Py_ssize_t n, int bound) noexcept nogil
    int mark_short(char *cells, int size, Py_ssize_t at, long long need, short *last, Py_ssize_t n, int mark) noexcept nogil
    int mark_both(char *cells, int size, Py_ssize_t at, long long need, Py_ssize_t and_at, long long and_need, short *last, Py_ssize_t n, int mark) noexcept nogil
    int mark_beside(char *cells, int size, Py_ssize_t at, long long need, const long long *own, Py_ssize_t own_at, short *last, Py_ssize_t n, int mark) noexcept nogil
    int add_cell(char *cells, int size, Py_ssize_t at, long long amount) noexcept nogil
    int add_cells(char *cells, int size, Py_ssize_t at, const long long *node, Py_ssize_t first, Py_ssize_t count, long long amount) noexcept nogil
    int copy_cells(char *cells, int size, Py_ssize_t at, const char *source, Py_ssize_t source_at, Py_ssize_t count) noexcept nogil

cdef inline char *cells_of(char[::1] view) noexcept:
    return &view[0]

cdef inline short *last_of(short[::1] view) noexcept:
    return &view[0]

cdef class NodeTable:
    cdef readonly Py_ssize_t n
    cdef readonly Py_ssize_t columns
    cdef Py_ssize_t width  # of a row: all columns of all nodes, one column behind the other
    cdef readonly Py_ssize_t count
    cdef readonly long long version  # another one whenever something is changed
    cdef long long[::1] begin  # of each step: when it begins,
    cdef long long[::1] row  # where it has its cells,
    cdef long long[::1] edges  # how much begins or ends there,
    cdef long long[::1] closed  # and how many closings of the whole there are
    cdef long long[::1] spare
    cdef Py_ssize_t spares
    cdef char[::1] cells
    cdef readonly int cell  # its bytes
    # a question
    cdef Py_ssize_t asks
    cdef long long[::1] column
    cdef long long[::1] need
    cdef short[::1] outside  # a number above all for a node that may not be used
    cdef bint everywhere
    cdef long long own_begin
    cdef long long own_end
    cdef long long[::1] own  # by column: what the job itself keeps
    cdef short[::1] last  # one more than the last step at which the node has no room
    cdef Py_ssize_t at  # the step of the start that was found

    cdef int clear(self, Py_ssize_t nodes, Py_ssize_t columns, int cell, long long begin) except -1
    cdef object new_cells(self, Py_ssize_t rows)
    cdef int copy(self, NodeTable other) except -1
    cdef int make_room(self, Py_ssize_t rows) except -1
    cdef Py_ssize_t find(self, long long time) noexcept
    cdef Py_ssize_t cut(self, long long time) except -1
    cdef int leave(self, long long time) except -1
    cdef int change(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t column, Py_ssize_t node, long long amount) noexcept
    cdef int change_all(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t column, long long[::1] nodes, Py_ssize_t at, Py_ssize_t count, long long amount) noexcept
    cdef int shut(self, long long start, long long end) except -1
    cdef int forget_question(self) noexcept
    cdef int ask(self, Py_ssize_t column, long long need) noexcept
    cdef Py_ssize_t earliest(self, long long want, long long length, long long after) except? -1
    cdef int look(self, Py_ssize_t k, int mark) noexcept
