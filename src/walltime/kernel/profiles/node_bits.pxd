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
    #if defined(__GNUC__)
    #define WALLTIME_INSIDE __attribute__((always_inline, unused)) static inline
    #else
    #define WALLTIME_INSIDE static inline
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
    /* The nodes of `among`, a group or two at a time, that have as much as is asked, three words for each ask: its first
       plane, how many, the need. From the lowest bit on: a node that has the bit where the need has none has more so
       far, and the other way round. The need is not nought. */
    WALLTIME_INSIDE void fit_groups(const walltime_wide *plane, Py_ssize_t planes, int two, const long long *ask,
                                    Py_ssize_t asks, const walltime_wide *among, walltime_wide *fit) {
        Py_ssize_t apart = two * planes;
        walltime_wide good = among[0], also = among[two];
        for (Py_ssize_t k = 0; k < asks; k++) {
            walltime_word need = (walltime_word)ask[3 * k + 2];
            int skip = walltime_lowest(need);
            const walltime_wide *end = plane + ask[3 * k] + ask[3 * k + 1];
            const walltime_wide *p = plane + ask[3 * k] + skip;
            walltime_wide enough = *p, too = p[apart];
            for (p++, need >>= skip, need >>= 1; p < end; p++, need >>= 1) {
                if (need & 1) {
                    enough &= *p;
                    if (two) too &= p[apart];
                } else {
                    enough |= *p;
                    if (two) too |= p[apart];
                }
            }
            good &= enough;
            if (two) also &= too;
        }
        fit[0] = good;
        if (two) fit[1] = also;
    }
    /* The same of a whole row; how many. */
    WALLTIME_INSIDE int fit_row(const long long *row, Py_ssize_t groups, Py_ssize_t planes, const long long *ask,
                                Py_ssize_t asks, const long long *among, long long *fit) {
        const walltime_wide *plane = (const walltime_wide *)row, *from = (const walltime_wide *)among;
        walltime_wide *into = (walltime_wide *)fit;
        Py_ssize_t g = 0;
        for (; g + 1 < groups; g += 2) fit_groups(plane + g * planes, planes, 1, ask, asks, from + g, into + g);
        if (g < groups) fit_groups(plane + g * planes, planes, 0, ask, asks, from + g, into + g);
        return count_nodes(fit, groups);
    }
    /* The same for a job that has just that on the nodes of `own`: it fits where nothing is below nought, which the
       highest bits tell where numbers may be. */
    WALLTIME_INSIDE int fit_beside(const long long *row, Py_ssize_t groups, Py_ssize_t planes, const long long *ask,
                                   Py_ssize_t asks, const long long *among, const long long *own, int below,
                                   long long *fit) {
        fit_row(row, groups, planes, ask, asks, among, fit);
        for (Py_ssize_t g = 0; g < groups; g++) {
            const walltime_wide *plane = (const walltime_wide *)row + g * planes;
            walltime_wide good = ((const walltime_wide *)among)[g] & ((const walltime_wide *)own)[g];
            for (Py_ssize_t k = 0; below && k < asks; k++) good &= plane[ask[3 * k] + ask[3 * k + 1] - 1];
            ((walltime_wide *)fit)[g] |= good;
        }
        return count_nodes(fit, groups);
    }
    WALLTIME_WIDE static int fit_nodes(const long long *cells, Py_ssize_t at, Py_ssize_t groups, Py_ssize_t planes,
                                       const long long *ask, Py_ssize_t asks, const long long *among, Py_ssize_t among_at,
                                       long long *fit, Py_ssize_t fit_at) {
        return fit_row(cells + at, groups, planes, ask, asks, among + among_at, fit + fit_at);
    }
    /* The rows of the steps from before `until` back to `since`, as long as enough nodes of `among` have room from each
       to the last of them; `fit` has those, by step, from step `zero` on. In the steps from `own_since` to `own_until`
       what the job asks for is its own on some nodes; of a step that is closed no node has room. The step at which that
       ends, and how many have room from there on. */
    WALLTIME_WIDE static Py_ssize_t fit_steps(const long long *cells, const long long *row, const long long *closed,
                                              Py_ssize_t since, Py_ssize_t until, Py_ssize_t groups, Py_ssize_t planes,
                                              const long long *ask, Py_ssize_t asks, const long long *among,
                                              const long long *own, Py_ssize_t own_since, Py_ssize_t own_until, int below,
                                              long long *fit, Py_ssize_t zero, long long want, long long *have) {
        Py_ssize_t span = groups * WALLTIME_LANES, k = until;
        while (k > since) {
            const long long *at = cells + (Py_ssize_t)row[--k] * span * planes;
            long long *into = fit + (k - zero) * span;
            if (closed[row[k]] > 0)
                *have = 0;
            else if (k < own_since || k >= own_until)
                *have = fit_row(at, groups, planes, ask, asks, among, into);
            else
                *have = fit_beside(at, groups, planes, ask, asks, among, own, below, into);
            if (*have < want) break;
            among = into;
        }
        return k;
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
            walltime_word none = 0;
            for (int j = 0; j < (int)WALLTIME_LANES; j++) none |= ((const walltime_word *)&some)[j];
            if (none == 0) continue;
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
    /* The first of the times from one on, which ascend, that is not before another. Four are compared at a time: that takes
       no longer than to foretell wrongly which one it is. */
    static inline Py_ssize_t pass_times(const long long *times, Py_ssize_t at, Py_ssize_t count, long long until) {
        for (; at + 4 <= count; at += 4) {
            int before = (times[at] < until) + (times[at + 1] < until) + (times[at + 2] < until) + (times[at + 3] < until);
            if (before < 4) return at + before;
        }
        while (at < count && times[at] < until) at++;
        return at;
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
    Py_ssize_t fit_steps(const long long *cells, const long long *row, const long long *closed, Py_ssize_t since, Py_ssize_t until, Py_ssize_t groups, Py_ssize_t planes, const long long *ask, Py_ssize_t asks, const long long *among, const long long *own, Py_ssize_t own_since, Py_ssize_t own_until, int below, long long *fit, Py_ssize_t zero, long long want, long long *have) noexcept nogil
    int add_to_nodes(long long *cells, const long long *row, Py_ssize_t since, Py_ssize_t until, Py_ssize_t groups, Py_ssize_t planes, Py_ssize_t first, Py_ssize_t count, long long amount, const long long *nodes, Py_ssize_t nodes_at) noexcept nogil
    int add_to_node(long long *cells, Py_ssize_t at, Py_ssize_t planes, Py_ssize_t first, Py_ssize_t count, long long amount, Py_ssize_t node) noexcept nogil
    Py_ssize_t pass_times(const long long *times, Py_ssize_t at, Py_ssize_t count, long long until) noexcept nogil
    int meet_nodes(const long long *one, Py_ssize_t one_at, const long long *other, Py_ssize_t other_at, long long *into, Py_ssize_t into_at, Py_ssize_t count) noexcept nogil
    int pick_nodes(const long long *source, const long long *pairs, Py_ssize_t first, Py_ssize_t last, long long want, long long *into, Py_ssize_t into_at, Py_ssize_t count) noexcept nogil
    int has_node(const long long *nodes, Py_ssize_t at, Py_ssize_t node) noexcept nogil
    int put_node(long long *nodes, Py_ssize_t at, Py_ssize_t node) noexcept nogil
    int put_run(long long *nodes, Py_ssize_t at, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    int move_words(long long *into, Py_ssize_t into_at, const long long *source, Py_ssize_t at, Py_ssize_t count) noexcept nogil
