/* What the parts of the virtual-time library share. README.md says how it works.

   Invariant: one thread of the process runs at a time, the one that was handed the baton; everything here is touched
   by that thread alone, so nothing needs a lock. */
#ifndef WALLTIME_VTIME_H
#define WALLTIME_VTIME_H

#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define NEVER INT64_MAX
#define SECOND 1000000LL

enum state { READY, BLOCKED, POLLING, ENDED };

struct thread {
    struct thread *next, *previous; /* all threads, newest first */
    struct thread *after;           /* the run queue, oldest first */
    int number;                     /* in order of creation; 0 is the main thread */
    enum state state;
    int baton;    /* futex: 1 when this thread may run */
    int reason;   /* why a blocked thread was woken: 0, ETIMEDOUT, or poll's result */
    int detached;
    void *object;     /* what a blocked thread waits for; NULL: only for its deadline */
    int64_t deadline; /* virtual microseconds, or NEVER */
    uint64_t order;   /* when it began to wait, for first come, first served */
    struct pollfd *files;
    nfds_t file_count;
    int pipe; /* polls a pipe, to which this process may write itself */
    int peer; /* polls a connected socket: the peer owes an answer, and no virtual time passes meanwhile */
    pthread_t handle;
    void *(*body)(void *);
    void *argument;
};

/* The page shared with the manager and with the clients: the clock, then counters to measure with. */
struct page {
    int64_t now; /* virtual microseconds since 1970 */
    int64_t idles, messages, switches, advances, threads, asked, known, skipped;
};

extern int active;          /* this process is scheduled here; 0 in clients and after fork */
extern int clock_only;      /* this process only reads the clock */
extern struct page *page;
extern int control;         /* socket to the manager */
extern int touched;         /* something was exchanged with a peer since the last grant */
extern int piped;           /* a thread that polls a pipe may find it readable: this process has written to one */
extern int connections;     /* accepted and not yet closed */
extern double cost;         /* virtual seconds charged for a second of computing; 0: none */
extern int64_t slack;       /* microseconds by which every sleep is longer than asked, as on a real machine */
extern __thread struct thread *self __attribute__((tls_model("initial-exec")));

void vtime_die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void vtime_charge(void);                          /* add the computing time since the last call to the clock */
int vtime_block(void *object, int64_t deadline);  /* give the baton away; returns why this thread was woken */
void vtime_wake(struct thread *thread, int reason);
int vtime_wake_first(void *object);               /* wakes the longest waiter; 0 if there is none */
void vtime_wake_all(void *object);
int vtime_poll(struct pollfd *files, nfds_t count, int milliseconds, int peer, int pipe);
int64_t vtime_next_alarm(void);                   /* when the next timer expires */
void vtime_sound_alarms(void);                    /* the signals of all timers whose time has come */
void vtime_know_release(const char *release, int check); /* answers of the selection plug-in are kept */
struct layout;
void vtime_begin_trials(const struct layout *layout, char *job, int64_t *nodes, uint32_t least, uint32_t most,
                        const char *settings);
int vtime_end_trials(void);                       /* how many trials were not made, because they could only fail */
int vtime_is_cons_tres(void);                     /* whether that is the selection plug-in, as far as is known */
void vtime_make_room(void);                       /* for small blocks of memory */
void vtime_read_people(const char *path);

/* The function behind the one that is defined here, looked up once. */
#define REAL(name)                                                     \
    ({                                                                 \
        static __typeof__(&name) found;                                \
        if (!found) found = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
        found;                                                         \
    })
/* The same where the C library keeps an older version of the symbol, which dlsym would find first. */
#define REAL_VERSION(name, version)                                              \
    ({                                                                           \
        static __typeof__(&name) found;                                          \
        if (!found) found = (__typeof__(&name))dlvsym(RTLD_NEXT, #name, version); \
        if (!found) found = (__typeof__(&name))dlsym(RTLD_NEXT, #name);           \
        found;                                                                   \
    })
#endif
