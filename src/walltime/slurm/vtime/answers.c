/* Answers that are known: when could this waiting job start?

   Nearly all of a backfill pass is the selection plug-in's answer to this question, for every waiting job again and
   again. Its answer follows from the question (the job's record, the nodes it may have, how many), from the machine
   (running jobs and what they hold, nodes, partitions, settings) and, if a job runs past its end, from the clock. So it
   is kept with a digest of all of these, and given again when all of these are the same. README.md says what is
   looked at. Questions with preemption, with reserved cores or about switches always go to the plug-in, and so does all
   where scheduling costs time. */
#include "vtime.h"

#include "layouts.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>

#define WILL_RUN 2
#define ROOM (1UL << 28) /* address space for answers; they are all forgotten when it is full */
#define BUCKETS (1U << 15)
#define MOST_NODES (1 << 17)
#define LOW 0xffUL         /* of a node's weight: what select/cons_tres sets for jobs with GPUs */
#define PLANNED (1U << 21) /* of a node's state: what every pass sets anew, and no answer depends on */

struct answer {
    uint64_t key[2];
    uint32_t next; /* in its bucket, in steps of 8 bytes; 0: none */
    int code;
    int64_t start_before, start;
    uint32_t cpus_before, cpus, changes, words;
    int now; /* it starts when it is asked, which says that it could start at the time of the question */
    uint64_t bits[]; /* the nodes, then the changed weights of nodes: number and weight */
};

static const struct layout *layout;
static int checking;
static uint64_t changes_seen, switches_seen; /* what was the case when the machine was looked at */
static uint64_t changes;                     /* how often the plug-in was told of something */
static int64_t now_seen;
static int looked, settled, weights_known; /* answers hold; the digest of the weights of nodes does */
static uint64_t machine[2], weights[2], high_weights[2]; /* high: but for what select/cons_tres sets */
static char *room;
static size_t used;
static uint32_t buckets[BUCKETS];
static uint64_t old_weights[MOST_NODES];
static uint8_t set_weights[MOST_NODES]; /* whether the plug-in has set the low byte */
static int64_t old_bits[MOST_NODES / 64 + 2];

/* What the controller has. */
static void ***node_table, **all_jobs, **all_partitions, **idle, **available;
static int *node_count;
static char *settings;
static size_t settings_size;
static int (*for_each)(void *list, int (*visit)(void *item, void *what), void *what);

/* ---- digests of 128 bits */

static void add(uint64_t *digest, uint64_t word) {
    digest[0] = (digest[0] ^ word) * 0x9e3779b97f4a7c15;
    digest[0] ^= digest[0] >> 32;
    digest[1] = (digest[1] + word) * 0xd6e8feb86659fd93;
    digest[1] ^= digest[1] >> 29;
}

static void add_bytes(uint64_t *digest, const char *from, size_t size) {
    uint64_t word = 0;
    for (; size >= 8; from += 8, size -= 8) {
        memcpy(&word, from, 8);
        add(digest, word);
    }
    word = 0;
    memcpy(&word, from, size);
    if (size) add(digest, word);
}

static void add_record(uint64_t *digest, const char *record, const struct range *spared, size_t size) {
    size_t at = 0;
    for (; at < size; spared++) {
        add_bytes(digest, record + at, spared->from - at);
        at = spared->to;
    }
}

#define FIELD(type, record, offset) (*(type *)((char *)(record) + (offset)))
static size_t count_words(const int64_t *bits) { return (size_t)(bits[1] + 63) / 64; }
#define WEIGHT(node) FIELD(uint64_t, (*node_table)[node], layout->weight)
static void add_bits(uint64_t *digest, const int64_t *bits) {
    if (bits) add_bytes(digest, (const char *)(bits + 1), 8 + 8 * count_words(bits));
}
static size_t size_of(const void *block) { return ((const size_t *)block)[-1]; } /* as the controller notes it itself */

/* ---- the machine */

static int add_job(void *job, void *past) {
    uint32_t state = FIELD(uint32_t, job, layout->job_state);
    if ((state & 0xff) != 1 && (state & 0xff) != 2) return 0; /* neither running nor suspended */
    int64_t end = FIELD(int64_t, job, layout->end_time);
    if (end <= page->now / SECOND) *(int *)past = 1;
    add(machine, (uintptr_t)job);
    add(machine, state);
    add(machine, (uint64_t)end);
    add(machine, FIELD(uint64_t, job, layout->job_resources));
    add(machine, FIELD(uint64_t, job, layout->partition));
    add_bits(machine, FIELD(int64_t *, job, layout->node_bitmap));
    return 0;
}

static int add_partition(void *partition, void *unused) {
    (void)unused;
    add_bytes(machine, partition, size_of(partition));
    return 0;
}

static void forget(void) {
    memset(buckets, 0, sizeof buckets);
    used = 8;
}

/* Looks at all of it, if anybody else has run since the last look, or the plug-in was told of something. */
static void look(void) {
    if (looked && switches_seen == (uint64_t)page->switches && changes_seen == changes && now_seen == page->now) return;
    uint64_t before[2] = {machine[0], machine[1]};
    int past = 0;
    machine[0] = changes;
    machine[1] = 1;
    for_each(*all_jobs, add_job, &past);
    for_each(*all_partitions, add_partition, 0);
    for (int i = 0; i < *node_count; i++) {
        char *node = (*node_table)[i];
        if (!node) continue;
        add_record(machine, node, layout->node_free, layout->node_size);
        add(machine, FIELD(uint32_t, node, layout->node_state) & ~PLANNED);
    }
    add_bytes(machine, settings, settings_size);
    add_bits(machine, (int64_t *)*idle);
    add_bits(machine, (int64_t *)*available);
    if (machine[0] != before[0] || machine[1] != before[1]) forget();
    switches_seen = (uint64_t)page->switches;
    changes_seen = changes;
    now_seen = page->now;
    looked = 1;
    settled = !past;
    weights_known = 0;
}

/* Whether records are as large as the layout says; checked with every question, because it costs nothing. */
static int fits(const char *job) {
    const char *details = FIELD(char *, job, layout->details);
    return size_of(job) == layout->job_size && details && size_of(details) == layout->details_size &&
           *node_count <= MOST_NODES;
}

static void digest_weights(void) {
    weights[0] = weights[1] = high_weights[0] = high_weights[1] = 0;
    for (int i = 0; i < *node_count; i++) {
        if (!(*node_table)[i]) continue;
        add(weights, WEIGHT(i));
        add(high_weights, WEIGHT(i) & ~LOW);
    }
    weights_known = 1;
}

/* ---- answers */

struct question {
    uint64_t key[2], image[2]; /* of everything; of the job alone */
    int64_t start;
    uint32_t cpus;
    int sets;  /* the plug-in sets the low byte of the weight of each node that it considers, and reads no other */
    int later; /* it asks about a time to come */
};

static int add_gres(void *gres, void *image) {
    add_bytes(image, gres, 8);
    add_bytes(image, FIELD(char *, gres, 8), layout->gres_asked);
    return 0;
}

/* Whether it would share nodes: backfilling asks first as if not, and then as it is. To select/cons_tres that is one
   question, unless the job says yes or (24.11) how many tasks a node has. */
static uint64_t digest_share(const char *details) {
    uint8_t share = FIELD(uint8_t, details, layout->share);
    int by_tasks = layout->tasks_each && FIELD(uint16_t, details, layout->tasks_each);
    return share == 1 || by_tasks || !vtime_is_cons_tres() ? share : 0;
}

/* The job and all that the plug-in reads by way of it. */
static void digest_job(uint64_t *image, const char *job) {
    const char *details = FIELD(char *, job, layout->details), *cores = FIELD(char *, details, layout->cores_asked);
    void *gres = FIELD(void *, job, layout->gres);
    image[0] = image[1] = 0;
    add_record(image, job, layout->job_free, layout->job_size);
    add_record(image, details, layout->details_free, layout->details_size);
    add(image, digest_share(details));
    add_bits(image, FIELD(int64_t *, details, layout->required));
    add_bits(image, FIELD(int64_t *, details, layout->excluded));
    if (cores) add_bytes(image, cores, size_of(cores));
    if (gres) for_each(gres, add_gres, image);
}

static void put(struct question *q, const char *job, const int64_t *bits, uint32_t least, uint32_t most,
                uint32_t wanted, const int64_t *window) {
    if (!weights_known) digest_weights();
    digest_job(q->image, job);
    q->start = FIELD(int64_t, job, layout->start_time);
    q->cpus = FIELD(uint32_t, job, layout->cpus);
    q->sets = layout->sets_low && FIELD(void *, job, layout->gres) && vtime_is_cons_tres();
    memcpy(q->key, q->sets ? high_weights : weights, sizeof q->key);
    add(q->key, (uintptr_t)job);
    add(q->key, (uint64_t)least << 32 | most);
    add(q->key, wanted);
    add(q->key, q->image[0]);
    add(q->key, q->image[1]);
    add_bits(q->key, bits);
    q->later = window && window[0] > page->now / SECOND;
    if (window) { /* no job ends before now: any time before it is the same */
        add(q->key, window[0] && !q->later ? 1 : (uint64_t)window[0]);
        add(q->key, (uint64_t)window[1]);
    }
}

static struct answer *at(uint32_t place) { return (struct answer *)(room + place * 8UL); }

static struct answer *find(const struct question *q) {
    for (uint32_t place = buckets[q->key[0] % BUCKETS]; place; place = at(place)->next) {
        struct answer *a = at(place);
        if (a->key[0] != q->key[0] || a->key[1] != q->key[1]) continue;
        /* a question without an answer leaves these as they were */
        if (!a->code || (a->start_before == q->start && a->cpus_before == q->cpus)) return a;
    }
    return 0;
}

static int give(const struct answer *a, char *job, int64_t *bits) {
    FIELD(int64_t, job, layout->start_time) = a->now ? page->now / SECOND : a->start;
    FIELD(uint32_t, job, layout->cpus) = a->cpus;
    memcpy(bits + 2, a->bits, 8UL * a->words);
    const uint64_t *change = a->bits + a->words;
    for (uint32_t i = 0; i < a->changes; i++, change += 2) WEIGHT(change[0]) = change[1];
    if (a->changes) weights_known = 0;
    return a->code;
}

/* Keeps an answer, unless the plug-in has changed more of the job than that, or the job could start now. */
static struct answer *keep(const struct question *q, int code, const char *job, const int64_t *bits) {
    uint64_t image[2];
    int64_t start = FIELD(int64_t, job, layout->start_time);
    int now = !code && start <= page->now / SECOND;
    digest_job(image, job);
    if (memcmp(image, q->image, sizeof image) || (now && !q->later)) return 0;
    size_t words = count_words(bits);
    if (used + sizeof(struct answer) + 8 * words + 16UL * (size_t)*node_count > ROOM) forget();
    struct answer *a = at((uint32_t)(used / 8));
    *a = (struct answer){{q->key[0], q->key[1]}, 0, code, q->start, start, q->cpus,
                         FIELD(uint32_t, job, layout->cpus), 0, (uint32_t)words, now};
    memcpy(a->bits, bits + 2, 8 * words);
    uint64_t *change = a->bits + words;
    for (int i = 0; i < *node_count; i++) {
        if (!(*node_table)[i] || (q->sets ? !set_weights[i] : WEIGHT(i) == old_weights[i])) continue;
        *change++ = (uint64_t)i;
        *change++ = WEIGHT(i);
        a->changes++;
    }
    return a;
}

static void enter(struct answer *a) {
    a->next = buckets[a->key[0] % BUCKETS];
    buckets[a->key[0] % BUCKETS] = (uint32_t)(used / 8);
    used += sizeof *a + 8UL * a->words + 16UL * a->changes;
}

/* Compares what was known with what the plug-in has just said. */
static void compare(const struct answer *known, const struct answer *said) {
    size_t size = 8UL * known->words + 16UL * known->changes;
    if (!said || known->code != said->code || known->now != said->now ||
        (!known->now && known->start != said->start) || known->cpus != said->cpus ||
        known->changes != said->changes || memcmp(known->bits, said->bits, size))
        vtime_die("an answer that was known is not what the plug-in says: %d at %ld, %d at %ld", known->code,
                  known->start, said ? said->code : -1, said ? said->start : 0);
}

/* ---- what is taken over */

typedef int ask_function(char *job, int64_t *bits, uint32_t least, uint32_t most, uint32_t wanted, uint16_t mode,
                         void *victims, void **chosen, void **reserved, int64_t *window, long other);

/* Whether it is a question that can be known: nothing to preempt, nothing reserved, no switches to wait for. */
static int is_plain(const char *job, uint16_t mode, void *victims, void **chosen, void **reserved) {
    if (!layout || mode != WILL_RUN || victims || chosen || !fits(job)) return 0;
    if (FIELD(uint32_t, job, layout->switches) || (layout->licenses && FIELD(void *, job, layout->licenses))) return 0;
    if (reserved && !layout->exceptions) return 0;
    for (uint32_t i = 0; reserved && i < layout->exceptions; i++)
        if (reserved[i]) return 0;
    look();
    return settled;
}

static void save_weights(void) {
    for (int i = 0; i < *node_count; i++) old_weights[i] = (*node_table)[i] ? WEIGHT(i) : 0;
}

/* Before the plug-in is asked: a low byte of 0 is one that it has not set. */
static void ready_weights(const struct question *q) {
    for (int i = 0; i < *node_count; i++)
        if ((*node_table)[i]) WEIGHT(i) = q->sets ? old_weights[i] & ~LOW : old_weights[i];
}

static void settle_weights(const struct question *q) {
    for (int i = 0; q->sets && i < *node_count; i++) {
        if (!(*node_table)[i]) continue;
        set_weights[i] = (WEIGHT(i) & LOW) != 0;
        if (!set_weights[i]) WEIGHT(i) = old_weights[i];
    }
    weights_known = 0;
}

/* All that an answer has; of a job that cannot start, that it cannot. */
static void digest_answer(uint64_t *digest, int code, const char *job, const int64_t *bits) {
    digest[0] = digest[1] = (uint64_t)code;
    if (code) return;
    digest_job(digest, job);
    add(digest, FIELD(uint64_t, job, layout->start_time));
    add(digest, FIELD(uint32_t, job, layout->cpus));
    add_bits(digest, bits);
    for (int i = 0; i < *node_count; i++) add(digest, (*node_table)[i] ? WEIGHT(i) : 0);
}

EXPORT ask_function select_g_job_test;
EXPORT int select_g_job_test(char *job, int64_t *bits, uint32_t least, uint32_t most, uint32_t wanted, uint16_t mode,
                             void *victims, void **chosen, void **reserved, int64_t *window, long other) {
#define ASK() REAL(select_g_job_test)(job, bits, least, most, wanted, mode, victims, chosen, reserved, window, other)
    struct question q;
    if (!is_plain(job, mode, victims, chosen, reserved)) {
        weights_known = 0;
        return ASK();
    }
    page->asked++;
    put(&q, job, bits, least, most, wanted, layout->window ? window : 0);
    struct answer *known = find(&q);
    if (known) page->known++;
    if (known && !checking) return give(known, job, bits);
    save_weights();
    memcpy(old_bits, bits, 8 * (2 + count_words(bits)));
    ready_weights(&q);
    vtime_begin_trials(layout, job, bits, least, most, settings);
    int code = ASK();
    if (vtime_end_trials() && (code || checking)) { /* all trials: for the nodes it leaves, or to compare */
        uint64_t quick[2], slow[2];
        digest_answer(quick, code, job, bits);
        FIELD(int64_t, job, layout->start_time) = q.start;
        FIELD(uint32_t, job, layout->cpus) = q.cpus;
        memcpy(bits, old_bits, 8 * (2 + count_words(bits)));
        ready_weights(&q);
        code = ASK();
        digest_answer(slow, code, job, bits);
        if (checking && memcmp(quick, slow, sizeof slow))
            vtime_die("a trial that was not made makes a difference: %d at %ld", code,
                      FIELD(int64_t, job, layout->start_time));
    }
    settle_weights(&q);
    struct answer *said = keep(&q, code, job, bits);
    if (known) compare(known, said);
    else if (said) enter(said);
    return code;
#undef ASK
}

/* Whatever else the plug-in is told may change what it answers. */
typedef long tell_function(long, long, long, long, long, long, long, long, long, long, long, long);
#define WATCH(name)                                                                                        \
    EXPORT tell_function name;                                                                             \
    EXPORT long name(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l) { \
        changes++;                                                                                         \
        return REAL(name)(a, b, c, d, e, f, g, h, i, j, k, l);                                             \
    }
WATCH(select_g_job_begin)
WATCH(select_g_job_expand)
WATCH(select_g_job_fini)
WATCH(select_g_job_init)
WATCH(select_g_job_resized)
WATCH(select_g_job_resume)
WATCH(select_g_job_suspend)
WATCH(select_g_node_init)
WATCH(select_g_reconfigure)
WATCH(select_g_state_restore)
WATCH(select_g_update_node_config)
WATCH(gres_init_node_config)
WATCH(gres_job_revalidate)
WATCH(gres_job_revalidate2)
WATCH(gres_node_config_unpack)
WATCH(gres_node_config_validate)
WATCH(gres_node_reconfig)
WATCH(gres_node_remove)
WATCH(gres_reconfig)

/* ---- start */

/* Called once at start with the release; answers are kept if it is known here and has all that is looked at. */
void vtime_know_release(const char *release, int check) {
    Dl_info unused;
    const ElfW(Sym) *symbol = 0;
    node_table = dlsym(RTLD_DEFAULT, "node_record_table_ptr");
    node_count = dlsym(RTLD_DEFAULT, "node_record_count");
    all_jobs = dlsym(RTLD_DEFAULT, "job_list");
    all_partitions = dlsym(RTLD_DEFAULT, "part_list");
    idle = dlsym(RTLD_DEFAULT, "idle_node_bitmap");
    available = dlsym(RTLD_DEFAULT, "avail_node_bitmap");
    for_each = (__typeof__(for_each))dlsym(RTLD_DEFAULT, "slurm_list_for_each");
    settings = dlsym(RTLD_DEFAULT, "slurm_conf");
    if (!settings || !dladdr1(settings, &unused, (void **)&symbol, RTLD_DL_SYMENT) || !symbol) return;
    settings_size = symbol->st_size;
    if (!node_table || !node_count || !all_jobs || !all_partitions || !idle || !available || !for_each) return;
    room = mmap(0, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return;
    checking = check;
    forget();
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (!strcmp(layouts[i].release, release)) layout = &layouts[i];
}
