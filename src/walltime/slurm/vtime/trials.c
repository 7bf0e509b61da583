/* Trials that can only fail.

   Asked when a job could start, select/cons_tres tries now, and then after one end of running jobs after another, each
   time with all nodes and all their cores. Most trials fail because there is not room enough. If the nodes in question
   have fewer free processors than the job needs, they are taken away when the trial begins: with no nodes it fails as
   it would have failed, at once. README.md says why nothing else is changed by it. */
#include "vtime.h"

#include "layouts.h"

#include <string.h>

#define MOST_CPUS 1024 /* of a node; with a larger one every trial is made */
#define NOW_ONLY 0x20  /* of a job's flags: there is one trial alone */
#define BY_CORES 7     /* of the parameters of the plug-in: processors, sockets or cores are what is given out */

/* What the plug-in keeps of the cores in use: for each partition some rows, with the cores of each node. */
struct row {
    void *jobs;
    uint32_t room, job_count;
    int64_t **cores;
    uint32_t in_use;
};
struct rows {
    struct rows *next;
    uint16_t count;
    void *partition;
    struct row *row;
};
_Static_assert(sizeof(struct row) == 32 && sizeof(struct rows) == 32, "as the plug-in has them");

static const struct layout *layout;
static const char *job; /* that is asked about; NULL: all trials are made */
static int64_t *nodes;
static uint32_t least, most;
static const struct rows *rows; /* of the machine as it is, then of the one that the plug-in thinks of */
static int skipped; /* trials that were not made */
static int first;   /* the trial is the first one of a job with GPUs; -1: none has begun */

static void *plugin;
static int cons_tres;
static struct rows **rows_now;
static const uint8_t *gang;
static void ***node_table;

#define FIELD(type, record, offset) (*(type *)((char *)(record) + (offset)))

/* ---- is there room? */

static uint32_t count_bits(uint64_t word) { /* without the instruction, which not every machine has */
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    return (uint32_t)(((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56);
}

/* Cores that any row has on a node. */
static uint32_t count_used(int node, uint32_t cores) {
    uint32_t used = 0;
    for (uint32_t w = 0; w * 64 < cores; w++) {
        uint64_t word = 0;
        for (const struct rows *part = rows; part; part = part->next) {
            for (int i = 0; part->row && i < part->count; i++) {
                const int64_t *bits = part->row[i].cores ? part->row[i].cores[node] : 0;
                if (bits && 64 * w < bits[1]) word |= (uint64_t)bits[2 + w];
            }
        }
        used += count_bits(word);
    }
    return used;
}

/* Whether the `most` nodes with most free processors have fewer than are needed, or too few nodes have any. */
static int is_short(void) {
    static uint32_t nodes_with[MOST_CPUS + 1];
    void **table = *node_table;
    const char *details = FIELD(char *, job, layout->details);
    uint32_t count = 0, each = FIELD(uint32_t, details, layout->cpus_each), left = most ? most : UINT32_MAX;
    uint32_t for_gpus = FIELD(uint32_t, details, layout->gres_cpus);
    if (for_gpus > MOST_CPUS) return 0;
    memset(nodes_with, 0, sizeof nodes_with);
    for (int64_t w = 0; w < (nodes[1] + 63) / 64; w++) {
        for (uint64_t bits = (uint64_t)nodes[2 + w]; bits; bits &= bits - 1) {
            int node = (int)(64 * w) + __builtin_ctzl(bits);
            uint32_t cores = FIELD(uint16_t, table[node], layout->node_cores);
            uint32_t threads = FIELD(uint16_t, table[node], layout->node_threads);
            if (cores * threads > MOST_CPUS) return 0;
            uint32_t used = count_used(node, cores), cpus = used < cores ? (cores - used) * threads : 0;
            if (!cpus || cpus < each) continue;
            nodes_with[cpus > for_gpus ? cpus : for_gpus]++; /* the plug-in may take it for that many */
            count++;
        }
    }
    if (count < least) return 1;
    int64_t missing = FIELD(uint32_t, details, layout->cpus_needed);
    for (uint32_t cpus = MOST_CPUS; cpus && left && missing > 0; cpus--) {
        uint32_t taken = nodes_with[cpus] < left ? nodes_with[cpus] : left;
        missing -= (int64_t)taken * cpus;
        left -= taken;
    }
    return missing > 0;
}

/* ---- what is taken over */

/* No nodes are left for this trial, if there is no room for the job on them. */
static void judge(void) {
    if (!is_short()) return;
    memset(nodes + 2, 0, 8 * (size_t)((nodes[1] + 63) / 64));
    skipped++;
}

/* A trial begins. */
EXPORT void free_job_resources(void **resources);
EXPORT void free_job_resources(void **resources) {
    if (job && !*resources && (const char *)resources == job + layout->job_resources) {
        /* how many processors go with GPUs is not known before the first trial has computed it */
        first = first < 0 && FIELD(void *, job, layout->gres);
        if (!first) judge();
    }
    REAL(free_job_resources)(resources);
}

/* What the plug-in calls in itself; it is no library of the program, and is found by who calls. */
typedef long inner_function(long, long, long, long, long, long);

static inner_function *find(const char *name, void *caller) {
    Dl_info info;
    if (!plugin && dladdr(caller, &info)) {
        plugin = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        cons_tres = plugin && strstr(info.dli_fname, "/select_cons_tres.so");
        node_table = dlsym(RTLD_DEFAULT, "node_record_table_ptr");
        gang = plugin ? dlsym(plugin, "gang_mode") : 0;
        rows_now = cons_tres && gang ? dlsym(plugin, "select_part_record") : 0;
    }
    inner_function *found = plugin ? (inner_function *)dlsym(plugin, name) : 0;
    if (!found) vtime_die("no %s in the selection plug-in", name);
    return found;
}
#define INNER(name)                                                      \
    ({                                                                   \
        static inner_function *found;                                    \
        if (!found) found = find(#name, __builtin_return_address(0));    \
        found;                                                           \
    })

/* In a trial, when all that is asked for is computed, and before anything is done for each node. */
EXPORT inner_function common_mark_avail_cores;
EXPORT long common_mark_avail_cores(long map, long b, long c, long d, long e, long f) {
    if (job && first > 0 && (int64_t *)map == nodes) judge();
    return INNER(common_mark_avail_cores)(map, b, c, d, e, f);
}

/* The plug-in copies its rows, to think of a time to come. */
EXPORT inner_function part_data_dup_res;
EXPORT long part_data_dup_res(long of, long map, long c, long d, long e, long f) {
    long copy = INNER(part_data_dup_res)(of, map, c, d, e, f);
    if (job) rows = (const struct rows *)copy;
    return copy;
}

/* ---- called with every question */

/* From here on trials of this job are looked at, if it can have no core but a free one. */
void vtime_begin_trials(const struct layout *release, char *asked, int64_t *bits, uint32_t from, uint32_t to,
                        const char *settings) {
    layout = release;
    skipped = 0;
    first = -1;
    if (!layout->max_share || !rows_now || *gang || !from) return;
    const char *partition = FIELD(char *, asked, layout->partition), *details = FIELD(char *, asked, layout->details);
    if (!partition || FIELD(uint16_t, partition, layout->max_share) != 1) return;
    if (FIELD(uint16_t, partition, layout->partition_by) || FIELD(uint8_t, details, layout->overcommit)) return;
    if (!(FIELD(uint16_t, settings, layout->select_by) & BY_CORES)) return;
    if (FIELD(uint64_t, asked, layout->flags) & NOW_ONLY) return;
    nodes = bits;
    least = from;
    most = to;
    rows = *rows_now;
    job = asked;
}

int vtime_is_cons_tres(void) { return cons_tres; }

/* How many trials were not made. */
int vtime_end_trials(void) {
    job = 0;
    page->skipped += skipped;
    return skipped;
}
