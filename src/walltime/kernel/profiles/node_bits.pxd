cdef extern from *:
    """
    #ifndef WALLTIME_NODE_BITS
    #define WALLTIME_NODE_BITS
    #include <string.h>
    #if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
    /* which one runs is chosen by the processor when the module is loaded; not every module that includes this calls it */
    #define WALLTIME_WIDE __attribute__((unused, target_clones("avx512f", "avx2", "default")))
    #elif defined(__GNUC__)
    #define WALLTIME_WIDE __attribute__((unused))
    #else
    #define WALLTIME_WIDE
    #endif
    typedef unsigned long long walltime_word;
    #if defined(__GNUC__)
    typedef walltime_word walltime_wide __attribute__((vector_size(64), aligned(8), may_alias));
    #define walltime_ones(WORD) __builtin_popcountll(WORD)
    #define walltime_lowest(WORD) __builtin_ctzll(WORD)
    #else
    typedef walltime_word walltime_wide;
    static inline int walltime_ones(walltime_word word) {
        int found = 0;
        for (; word; word &= word - 1) found++;
        return found;
    }
    static inline int walltime_lowest(walltime_word word) { return walltime_ones((word & (0 - word)) - 1); }
    #endif
    enum { WALLTIME_LANES = sizeof(walltime_wide) / sizeof(walltime_word) };

    static inline int count_nodes(const long long *nodes, Py_ssize_t groups) {
        int found = 0;
        for (Py_ssize_t g = 0; g < groups; g++, nodes += WALLTIME_LANES)
            for (int j = 0; j < (int)WALLTIME_LANES; j++) found += walltime_ones((walltime_word)nodes[j]);
        return found;
    }
    /* The nodes of `among` that have as much as is asked, three words for each ask: its first plane, how many, the need.
       From the lowest bit on: a node that has the bit where the need has none has more so far, and the other way round.
       The need is not nought. Two groups go together; the last one may be alone, and is then looked at twice. */
    WALLTIME_WIDE static int fit_nodes(const long long *cells, Py_ssize_t at, Py_ssize_t groups, Py_ssize_t planes,
                                       const long long *ask, Py_ssize_t asks, const long long *among, Py_ssize_t among_at,
                                       long long *fit, Py_ssize_t fit_at) {
        for (Py_ssize_t g = 0; g < groups; g += 2) {
            Py_ssize_t two = g + 1 < groups, apart = two * planes;
            const walltime_wide *plane = (const walltime_wide *)(cells + at) + g * planes;
            walltime_wide good = ((const walltime_wide *)(among + among_at))[g];
            walltime_wide also = ((const walltime_wide *)(among + among_at))[g + two];
            for (Py_ssize_t k = 0; k < asks; k++) {
                walltime_word need = (walltime_word)ask[3 * k + 2];
                int skip = walltime_lowest(need);
                const walltime_wide *end = plane + ask[3 * k] + ask[3 * k + 1];
                const walltime_wide *p = plane + ask[3 * k] + skip;
                walltime_wide enough = *p, too = p[apart];
                for (p++, need >>= skip, need >>= 1; p < end; p++, need >>= 1) {
                    if (need & 1) {
                        enough &= *p;
                        too &= p[apart];
                    } else {
                        enough |= *p;
                        too |= p[apart];
                    }
                }
                good &= enough;
                also &= too;
            }
            ((walltime_wide *)(fit + fit_at))[g + two] = also;
            ((walltime_wide *)(fit + fit_at))[g] = good;
        }
        return count_nodes(fit + fit_at, groups);
    }
    /* The same for a job that has just that on the nodes of `own`: it fits where nothing is below nought, which the
       highest bits tell where numbers may be. */
    WALLTIME_WIDE static int fit_beside(const long long *cells, Py_ssize_t at, Py_ssize_t groups, Py_ssize_t planes,
                                        const long long *ask, Py_ssize_t asks, const long long *among,
                                        Py_ssize_t among_at, const long long *own, int below, long long *fit,
                                        Py_ssize_t fit_at) {
        fit_nodes(cells, at, groups, planes, ask, asks, among, among_at, fit, fit_at);
        for (Py_ssize_t g = 0; g < groups; g++) {
            const walltime_wide *plane = (const walltime_wide *)(cells + at) + g * planes;
            walltime_wide good = ((const walltime_wide *)(among + among_at))[g] & ((const walltime_wide *)own)[g];
            for (Py_ssize_t k = 0; below && k < asks; k++) good &= plane[ask[3 * k] + ask[3 * k + 1] - 1];
            ((walltime_wide *)(fit + fit_at))[g] |= good;
        }
        return count_nodes(fit + fit_at, groups);
    }
    /* The nodes have so much more, or less, in the rows of some steps. Carries are of these nodes alone;
       whether one is left over at the end. */
    WALLTIME_WIDE static int add_to_nodes(long long *cells, const long long *row, Py_ssize_t since, Py_ssize_t until,
                                          Py_ssize_t groups, Py_ssize_t planes, Py_ssize_t first, Py_ssize_t count,
                                          long long amount, const long long *nodes, Py_ssize_t nodes_at) {
        walltime_word size = (walltime_word)(amount < 0 ? -amount : amount), less = amount < 0 ? ~0ULL : 0, any = 0;
        int skip;
        if (size == 0) return 0;
        skip = walltime_lowest(size);
        size >>= skip;
        for (Py_ssize_t g = 0; g < groups; g++) {
            walltime_wide some = ((const walltime_wide *)(nodes + nodes_at))[g], over = some ^ some;
            for (Py_ssize_t k = since; k < until; k++) {
                walltime_wide *plane = (walltime_wide *)cells + ((Py_ssize_t)row[k] * groups + g) * planes + first;
                walltime_wide *end = plane + count, *p = plane + skip, carry = some ^ some;
                for (walltime_word left = size; p < end; p++, left >>= 1) {
                    walltime_wide is = *p;
                    if (left & 1) {
                        *p = is ^ some ^ carry;
                        carry |= (is ^ less) & some;
                    } else {
                        *p = is ^ carry;
                        carry &= is ^ less;
                    }
                }
                over |= carry;
            }
            for (int j = 0; j < (int)WALLTIME_LANES; j++) any |= ((const walltime_word *)&over)[j];
        }
        return any != 0;
    }
    /* The same for one node. */
    static inline int add_to_node(long long *cells, Py_ssize_t at, Py_ssize_t planes, Py_ssize_t first, Py_ssize_t count,
                                  long long amount, Py_ssize_t node) {
        Py_ssize_t word = node / 64, k;
        walltime_word bit = 1ULL << (node % 64);
        walltime_word *p = (walltime_word *)cells + at
            + (word / WALLTIME_LANES * planes + first) * WALLTIME_LANES + word % WALLTIME_LANES;
        long long value = 0;
        for (k = 0; k < count; k++)
            if (p[k * WALLTIME_LANES] & bit) value += 1LL << k;
        value += amount;
        for (k = 0; k < count; k++)
            p[k * WALLTIME_LANES] = (value >> k) & 1 ? p[k * WALLTIME_LANES] | bit : p[k * WALLTIME_LANES] & ~bit;
        return value >> count != 0;
    }
    /* The nodes that are in both; how many. */
    WALLTIME_WIDE static int meet_nodes(const long long *one, Py_ssize_t one_at, const long long *other, Py_ssize_t other_at,
                                        long long *into, Py_ssize_t into_at, Py_ssize_t count) {
        for (Py_ssize_t g = 0; g < count; g += WALLTIME_LANES)
            *(walltime_wide *)(into + into_at + g) =
                *(const walltime_wide *)(one + one_at + g) & *(const walltime_wide *)(other + other_at + g);
        return count_nodes(into + into_at, count / WALLTIME_LANES);
    }
    /* The first nodes of those in `from`, in the order of pairs of a word's place and nodes in that word. */
    WALLTIME_WIDE static int pick_nodes(const long long *from, const long long *pairs, Py_ssize_t first, Py_ssize_t last,
                                        long long want, long long *into, Py_ssize_t into_at, Py_ssize_t count) {
        memset(into + into_at, 0, (size_t)count * 8);
        for (Py_ssize_t k = first; want > 0 && k < last; k++) {
            Py_ssize_t word = (Py_ssize_t)pairs[2 * k];
            walltime_word some = (walltime_word)from[word] & (walltime_word)pairs[2 * k + 1];
            int many = walltime_ones(some);
            if (many > want) {
                walltime_word rest = some;
                for (; want > 0; want--) rest &= rest - 1;
                some ^= rest;
            }
            into[into_at + word] = (long long)((walltime_word)into[into_at + word] | some);
            want -= many;
        }
        return 0;
    }
    static inline int has_node(const long long *nodes, Py_ssize_t at, Py_ssize_t node) {
        return (int)((walltime_word)nodes[at + node / 64] >> (node % 64) & 1);
    }
    static inline int put_node(long long *nodes, Py_ssize_t at, Py_ssize_t node) {
        nodes[at + node / 64] = (long long)((walltime_word)nodes[at + node / 64] | 1ULL << (node % 64));
        return 0;
    }
    /* All from one to before another, as far as they are of one word. */
    static inline int put_run(long long *nodes, Py_ssize_t at, Py_ssize_t first, Py_ssize_t last) {
        walltime_word some = last < 64 ? (1ULL << last) - 1 : ~0ULL;
        nodes[at] = (long long)((walltime_word)nodes[at] | (first > 0 ? some & ~0ULL << first : some));
        return 0;
    }
    static inline int move_words(long long *into, Py_ssize_t into_at, const long long *from, Py_ssize_t at, Py_ssize_t count) {
        memmove(into + into_at, from + at, (size_t)count * 8);
        return 0;
    }
    #endif
    """
    enum: WALLTIME_LANES
    int fit_nodes(const long long *cells, Py_ssize_t at, Py_ssize_t groups, Py_ssize_t planes, const long long *ask, Py_ssize_t asks, const long long *among, Py_ssize_t among_at, long long *fit, Py_ssize_t fit_at) noexcept nogil
    int fit_beside(const long long *cells, Py_ssize_t at, Py_ssize_t groups, Py_ssize_t planes, const long long *ask, Py_ssize_t asks, const long long *among, Py_ssize_t among_at, const long long *own, int below, long long *fit, Py_ssize_t fit_at) noexcept nogil
    int add_to_nodes(long long *cells, const long long *row, Py_ssize_t since, Py_ssize_t until, Py_ssize_t groups, Py_ssize_t planes, Py_ssize_t first, Py_ssize_t count, long long amount, const long long *nodes, Py_ssize_t nodes_at) noexcept nogil
    int add_to_node(long long *cells, Py_ssize_t at, Py_ssize_t planes, Py_ssize_t first, Py_ssize_t count, long long amount, Py_ssize_t node) noexcept nogil
    int meet_nodes(const long long *one, Py_ssize_t one_at, const long long *other, Py_ssize_t other_at, long long *into, Py_ssize_t into_at, Py_ssize_t count) noexcept nogil
    int pick_nodes(const long long *source, const long long *pairs, Py_ssize_t first, Py_ssize_t last, long long want, long long *into, Py_ssize_t into_at, Py_ssize_t count) noexcept nogil
    int has_node(const long long *nodes, Py_ssize_t at, Py_ssize_t node) noexcept nogil
    int put_node(long long *nodes, Py_ssize_t at, Py_ssize_t node) noexcept nogil
    int put_run(long long *nodes, Py_ssize_t at, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    int move_words(long long *into, Py_ssize_t into_at, const long long *source, Py_ssize_t at, Py_ssize_t count) noexcept nogil
