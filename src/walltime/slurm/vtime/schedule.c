/* Threads, the baton, and what happens when no thread can run: the heart of the library. */
#include "vtime.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define MOST_FILES 1024
#define SILENCE 60000 /* real milliseconds after which a peer that owes an answer counts as gone */
#define CONTROL_FILE 900 /* a high number, out of the way of start-up code that closes low ones */

int active, clock_only, control = -1, touched = 1, piped, connections;
double cost;
int64_t slack;
__thread struct thread *self __attribute__((tls_model("initial-exec")));

static struct page own_page;
struct page *page = &own_page;
static int64_t horizon, charged; /* how far the manager lets time run; CPU nanoseconds charged so far */
static struct thread *all, *first_ready, *last_ready;
static uint64_t orders;
static int numbers;

void vtime_die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    dprintf(2, "vtime: ");
    vdprintf(2, format, arguments);
    dprintf(2, "\n");
    va_end(arguments);
    _exit(99);
}

/* ---- the baton */

static void take_baton(struct thread *t) {
    while (!__atomic_load_n(&t->baton, __ATOMIC_ACQUIRE)) syscall(SYS_futex, &t->baton, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
    t->baton = 0;
}

static void give_baton(struct thread *t) {
    __atomic_store_n(&t->baton, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &t->baton, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

void vtime_wake(struct thread *t, int reason) {
    t->state = READY;
    t->reason = reason;
    t->object = 0;
    t->deadline = NEVER;
    t->after = 0;
    if (last_ready) last_ready->after = t;
    else first_ready = t;
    last_ready = t;
}

static struct thread *find_first(void *object) {
    struct thread *best = 0;
    for (struct thread *t = all; t; t = t->next)
        if (t->state == BLOCKED && t->object == object && (!best || t->order < best->order)) best = t;
    return best;
}

int vtime_wake_first(void *object) {
    struct thread *t = find_first(object);
    if (t) vtime_wake(t, 0);
    return t != 0;
}

void vtime_wake_all(void *object) {
    while (vtime_wake_first(object));
}

static void become_idle(void);

static struct thread *pick(void) {
    if (!first_ready) become_idle();
    struct thread *t = first_ready;
    first_ready = t->after;
    if (!first_ready) last_ready = 0;
    t->after = 0;
    return t;
}

static void hand_over(void) {
    if (cost > 0) vtime_charge();
    struct thread *t = pick();
    if (t == self) return;
    page->switches++;
    give_baton(t);
    take_baton(self);
}

int vtime_block(void *object, int64_t deadline) {
    int kept = errno;
    self->state = BLOCKED;
    self->object = object;
    self->deadline = deadline == NEVER ? NEVER : deadline + slack;
    self->order = ++orders;
    self->reason = 0;
    hand_over();
    errno = kept;
    return self->reason;
}

int vtime_poll(struct pollfd *files, nfds_t count, int milliseconds, int peer, int pipe) {
    self->state = POLLING;
    self->files = files;
    self->file_count = count;
    self->peer = peer;
    self->pipe = pipe;
    piped |= pipe;
    self->object = 0;
    self->order = ++orders;
    self->deadline = milliseconds < 0 ? NEVER : page->now + milliseconds * 1000LL + slack;
    hand_over();
    if (self->reason < 0) {
        errno = EINTR;
        return -1;
    }
    if (self->reason == 0)
        for (nfds_t i = 0; i < count; i++) files[i].revents = 0;
    return self->reason;
}

/* ---- when no thread can run */

void vtime_charge(void) {
    struct timespec spent;
    REAL(clock_gettime)(CLOCK_PROCESS_CPUTIME_ID, &spent);
    int64_t total = spent.tv_sec * 1000000000LL + spent.tv_nsec;
    page->now += (int64_t)((total - charged) * cost / 1000);
    charged = total;
}

static struct thread *find_oldest_peer(void) {
    struct thread *best = 0;
    for (struct thread *t = all; t; t = t->next)
        if (t->state == POLLING && t->peer && (!best || t->order < best->order)) best = t;
    return best;
}

/* Waits in real time for the answer that a thread needs; no virtual time passes. */
static int await_peer(struct thread *t) {
    struct pollfd files[MOST_FILES + 1];
    nfds_t count = t->file_count < MOST_FILES ? t->file_count : MOST_FILES;
    touched = 1;
    memcpy(files, t->files, count * sizeof *files);
    files[count] = (struct pollfd){.fd = control};
    int found = REAL(poll)(files, count + 1, SILENCE);
    if (found < 0) return 0;
    if (found > 0 && files[count].revents) _exit(0); /* the manager has gone */
    int ready = found > 0 ? REAL(poll)(t->files, t->file_count, 0) : 0;
    vtime_wake(t, ready);
    return 1;
}

/* Wakes every thread whose deadline has come, by deadline and then by the order in which they began to wait. */
static void wake_expired(void) {
    vtime_sound_alarms();
    for (;;) {
        struct thread *best = 0;
        for (struct thread *t = all; t; t = t->next)
            if ((t->state == BLOCKED || t->state == POLLING) && t->deadline <= page->now &&
                (!best || t->deadline < best->deadline || (t->deadline == best->deadline && t->order < best->order)))
                best = t;
        if (!best) return;
        vtime_wake(best, best->state == POLLING ? 0 : ETIMEDOUT);
    }
}

static int64_t find_next_deadline(void) {
    int64_t next = vtime_next_alarm();
    for (struct thread *t = all; t; t = t->next)
        if ((t->state == BLOCKED || t->state == POLLING) && t->deadline < next) next = t->deadline;
    return next;
}

/* Wakes the threads that poll a pipe to which another thread has written, or a signal's handler. */
static int wake_piped(void) {
    int woken = piped = 0;
    for (struct thread *t = all; t; t = t->next) {
        int ready = t->state == POLLING && t->pipe ? REAL(poll)(t->files, t->file_count, 0) : 0;
        if (ready > 0) {
            vtime_wake(t, ready);
            woken = 1;
        }
    }
    return woken;
}

/* Tells the manager that nothing will happen before `next`, then waits for a grant or for a caller. */
static int consult_manager(int64_t next) {
    static struct pollfd files[MOST_FILES];
    static struct thread *owners[MOST_FILES];
    int64_t report[4] = {page->now, next, ++page->messages, connections};
    if (write(control, report, sizeof report) != sizeof report) _exit(0);
    nfds_t count;
wait:
    count = 1;
    files[0] = (struct pollfd){.fd = control, .events = POLLIN};
    for (struct thread *t = all; t; t = t->next)
        for (nfds_t i = 0; t->state == POLLING && i < t->file_count && count < MOST_FILES; i++) {
            files[count] = t->files[i];
            owners[count++] = t;
        }
    while (REAL(poll)(files, count, -1) < 0);
    int woken = 0;
    for (nfds_t i = 1; i < count; i++)
        if (files[i].revents && owners[i]->state == POLLING) {
            int ready = REAL(poll)(owners[i]->files, owners[i]->file_count, 0);
            if (ready <= 0) continue;
            touched = woken = 1;
            vtime_wake(owners[i], ready);
        }
    if (woken || !files[0].revents) return woken;
    int64_t grant[2];
    if (read(control, grant, sizeof grant) != sizeof grant) _exit(0); /* the manager has gone */
    if (grant[1] != page->messages) goto wait; /* it answers an older report; the answer to this one will come */
    horizon = grant[0];
    touched = 0;
    return 0;
}

static void become_idle(void) {
    page->idles++;
    while (!first_ready) {
        if (piped && wake_piped()) continue;
        struct thread *debtor = find_oldest_peer();
        if (debtor) {
            await_peer(debtor);
            continue;
        }
        int64_t next = find_next_deadline();
        if (!touched && next <= horizon) {
            if (next > page->now) {
                page->now = next;
                page->advances++;
            }
            wake_expired();
            continue;
        }
        if (!touched && page->now < horizon) page->now = horizon;
        consult_manager(next);
    }
}

/* ---- threads */

static void enlist(struct thread *t) {
    t->previous = 0;
    t->next = all;
    if (all) all->previous = t;
    all = t;
}

static void strike(struct thread *t) {
    if (t->previous) t->previous->next = t->next;
    else all = t->next;
    if (t->next) t->next->previous = t->previous;
}

static struct thread *find_thread(pthread_t handle) {
    for (struct thread *t = all; t; t = t->next)
        if (t->handle == handle) return t;
    return 0;
}

static void finish(void *unused) {
    (void)unused;
    if (!active) return;
    struct thread *me = self;
    if (cost > 0) vtime_charge();
    me->state = ENDED;
    vtime_wake_all(me);
    int detached = me->detached;
    if (detached) strike(me);
    struct thread *t = pick();
    if (detached) free(me); /* while no other thread runs */
    self = 0;
    give_baton(t);
}

static void *begin(void *argument) {
    self = argument;
    take_baton(self);
    void *result = 0;
    pthread_cleanup_push(finish, 0);
    result = self->body(self->argument);
    pthread_cleanup_pop(1);
    return result;
}

EXPORT int pthread_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    if (!active) return REAL(pthread_create)(handle, attributes, body, argument);
    struct thread *t = calloc(1, sizeof *t);
    t->body = body;
    t->argument = argument;
    t->number = numbers++;
    t->deadline = NEVER;
    int detached = 0;
    if (attributes) pthread_attr_getdetachstate(attributes, &detached);
    t->detached = detached == PTHREAD_CREATE_DETACHED;
    int code = REAL(pthread_create)(&t->handle, attributes, begin, t);
    if (code) {
        free(t);
        return code;
    }
    *handle = t->handle;
    page->threads++;
    enlist(t);
    vtime_wake(t, 0);
    return 0;
}

EXPORT int pthread_join(pthread_t handle, void **result) {
    struct thread *t = active ? find_thread(handle) : 0;
    if (t) {
        while (t->state != ENDED) vtime_block(t, NEVER);
        strike(t);
        free(t);
    }
    return REAL(pthread_join)(handle, result);
}

EXPORT int pthread_detach(pthread_t handle) {
    struct thread *t = active ? find_thread(handle) : 0;
    if (t) {
        t->detached = 1;
        if (t->state == ENDED) {
            strike(t);
            free(t);
        }
    }
    return REAL(pthread_detach)(handle);
}

/* A signal to a thread only ever serves to get it out of a poll. */
EXPORT int pthread_kill(pthread_t handle, int signal) {
    if (!active) return REAL(pthread_kill)(handle, signal);
    struct thread *t = find_thread(handle);
    if (t && t->state == POLLING) vtime_wake(t, -1);
    return t ? 0 : ESRCH;
}

EXPORT int sigwait(const sigset_t *set, int *signal) {
    if (!active) return REAL(sigwait)(set, signal);
    for (;;) vtime_block(0, NEVER); /* signals to the controller are not part of a simulation */
}

/* ---- start */

static void leave_in_child(void) {
    active = 0;
    page = &own_page;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a helper process of the controller never outlives it */
    if (control >= 0) REAL(close)(control);
}

static void report_crash(int signal) {
    void *frames[60];
    int count = backtrace(frames, 60);
    dprintf(2, "vtime: signal %d in thread %d\n", signal, self ? self->number : -1);
    backtrace_symbols_fd(frames, count, 2);
    _exit(98);
}

static void connect_manager(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) vtime_die("the path of the control socket is too long: %s", path);
    strcpy(address.sun_path, path);
    int file = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (connect(file, (void *)&address, sizeof address)) vtime_die("cannot reach the manager at %s", path);
    control = fcntl(file, F_DUPFD_CLOEXEC, CONTROL_FILE);
    if (control < 0) control = file;
    else REAL(close)(file);
}

static void map_clock(const char *path, int writable) {
    int file = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (file < 0) vtime_die("cannot open the clock %s", path);
    page = mmap(0, sizeof *page, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, file, 0);
    if (page == MAP_FAILED) vtime_die("cannot map the clock %s", path);
    REAL(close)(file);
}

__attribute__((constructor)) static void start(void) {
    const char *manager = getenv("VTIME_CONTROL"), *clock = getenv("VTIME_CLOCK"), *people = getenv("VTIME_PEOPLE");
    if (people) vtime_read_people(people);
    if (!manager) {
        if (clock) map_clock(clock, 0);
        clock_only = clock != 0;
        return;
    }
    connect_manager(manager);
    if (clock) map_clock(clock, 1);
    const char *begin = getenv("VTIME_START"), *charge = getenv("VTIME_COST"),
               *late = getenv("VTIME_SLACK");
    page->now = horizon = begin ? atoll(begin) : 0;
    cost = charge ? atof(charge) : 0;
    slack = late ? atoll(late) : 0;
    unsetenv("VTIME_CONTROL"); /* the programs that this one starts live in real time */
    unsetenv("LD_PRELOAD");
    vtime_make_room();
    const char *release = getenv("VTIME_RELEASE");
    if (release && cost == 0) vtime_know_release(release, getenv("VTIME_CHECK") != 0);
    self = calloc(1, sizeof *self);
    self->handle = pthread_self();
    self->number = numbers++;
    self->deadline = NEVER;
    enlist(self);
    pthread_atfork(0, 0, leave_in_child);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    void *frames[4];
    backtrace(frames, 4); /* loads what report_crash needs while memory can still be had */
    signal(SIGSEGV, report_crash);
    signal(SIGABRT, report_crash);
    signal(SIGBUS, report_crash);
    active = 1;
    if (cost > 0) vtime_charge(), page->now = horizon; /* starting up costs nothing */
}
