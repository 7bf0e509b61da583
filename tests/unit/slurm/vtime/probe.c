/* A little threaded program that does what a controller does: sleeps, waits for conditions with and without a time,
   locks, joins, polls. Every line it prints begins with the clock, in milliseconds since the start. */
#include <signal.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long long began;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t book = PTHREAD_RWLOCK_INITIALIZER;
static int items;

static long long now(void) {
    struct timeval t;
    gettimeofday(&t, 0);
    return t.tv_sec * 1000LL + t.tv_usec / 1000;
}

static void say(const char *who, const char *what) {
    printf("%lld %s %s\n", now() - began, who, what);
    fflush(stdout);
}

static void *sleeper(void *name) {
    for (int i = 0; i < 3; i++) {
        usleep(1000 * atoi((char *)name + 1));
        say(name, "wakes");
    }
    return 0;
}

static void *producer(void *unused) {
    (void)unused;
    for (int i = 0; i < 3; i++) {
        sleep(100);
        pthread_mutex_lock(&lock);
        items++;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

static void *consumer(void *name) {
    pthread_mutex_lock(&lock);
    for (int taken = 0; taken < 3;) {
        struct timespec until = {time(0) + 70, 0};
        int code = items ? 0 : pthread_cond_timedwait(&filled, &lock, &until);
        if (items) {
            items--;
            taken++;
            say(name, "takes");
        } else say(name, code == ETIMEDOUT ? "is impatient" : "was woken for nothing");
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

static void *writer(void *name) {
    pthread_rwlock_wrlock(&book);
    say(name, "writes");
    sleep(5);
    pthread_rwlock_unlock(&book);
    return 0;
}

static void *reader(void *name) {
    pthread_rwlock_rdlock(&book);
    say(name, "reads");
    sleep(2);
    pthread_rwlock_unlock(&book);
    return 0;
}

static void *listener(void *name) {
    int pair[2];
    pipe(pair);
    struct pollfd file = {.fd = pair[0], .events = POLLIN};
    int ready = poll(&file, 1, 12345);
    say(name, ready == 0 ? "heard nothing" : "heard something");
    return 0;
}

static int run_threads(void) {
    const char *names[] = {"s700", "s300", "s300", "c", "p", "w1", "r1", "r2", "w2", "l"};
    void *(*bodies[])(void *) = {sleeper, sleeper, sleeper, consumer, producer, writer, reader, reader, writer, listener};
    pthread_t threads[10];
    for (int i = 0; i < 10; i++) pthread_create(&threads[i], 0, bodies[i], (void *)names[i]);
    for (int i = 0; i < 10; i++) pthread_join(threads[i], 0);
    sleep(1000000);
    say("main", "ends");
    return 0;
}

static int bell[2];

static void ring(int signal) {
    char sign = signal == SIGALRM ? 'a' : '?';
    if (write(bell[1], &sign, 1) != 1) _exit(1);
}

static void *knock(void *unused) {
    sleep(100);
    if (write(bell[1], "k", 1) != 1) _exit(1);
    return unused;
}

/* One thread polls a pipe without end; a timer's signal writes to it, then another thread. */
static int hear(void) {
    pthread_t other;
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct sigaction action = {.sa_handler = ring};
    struct itimerspec soon = {.it_value = {.tv_sec = 40}}, later = {0};
    if (pipe(bell) || sigaction(SIGALRM, &action, 0) || timer_create(CLOCK_REALTIME, &event, &timer)) return 1;
    timer_settime(timer, 0, &soon, 0);
    pthread_create(&other, 0, knock, 0);
    for (int i = 0; i < 3; i++) {
        char word[2] = {0};
        struct pollfd wait = {.fd = bell[0], .events = POLLIN};
        poll(&wait, 1, -1);
        if (read(bell[0], word, 1) != 1) return 1;
        say("main", word);
        if (i == 1) {
            clock_gettime(CLOCK_REALTIME, &later.it_value);
            later.it_value.tv_sec += 200;
            timer_settime(timer, TIMER_ABSTIME, &later, 0);
        }
    }
    pthread_join(other, 0);
    return timer_delete(timer);
}

/* A thread talks to a peer outside; no virtual time passes before the answer. */
static int talk(const char *number) {
    char word[16] = {0};
    int file = atoi(number);
    if (write(file, "ping", 4) != 4) return 1;
    struct pollfd wait = {.fd = file, .events = POLLIN};
    poll(&wait, 1, 1000);
    if (read(file, word, sizeof word - 1) < 0) return 1;
    say("main", word);
    return 0;
}

/* Blocks of all sizes are taken, grown and given back by threads in turn; each keeps its contents, zeroed ones are zero,
   all are aligned, and no two overlap: every block is filled with its own number. */
#define BLOCKS 400
static struct { unsigned char *place; size_t size; unsigned char mark; } blocks[BLOCKS];
static unsigned long long faults, seed = 7;

static unsigned draw(unsigned below) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(seed >> 33) % below;
}

static void check(int i) {
    for (size_t k = 0; k < blocks[i].size; k++) faults += blocks[i].place[k] != blocks[i].mark;
}

static void *churn(void *unused) {
    for (int turn = 0; turn < 20000; turn++) {
        int i = (int)draw(BLOCKS);
        size_t size = draw(10) ? draw(300) : draw(5000);
        check(i);
        switch (draw(4)) {
        case 0:
            blocks[i].place = realloc(blocks[i].place, size + 1);
            for (size_t k = 0; k < blocks[i].size && k <= size; k++) faults += blocks[i].place[k] != blocks[i].mark;
            break;
        case 1:
            free(blocks[i].place);
            blocks[i].place = calloc(size + 1, 1);
            for (size_t k = 0; k <= size; k++) faults += blocks[i].place[k] != 0;
            break;
        default:
            free(blocks[i].place);
            blocks[i].place = draw(2) ? malloc(size + 1) : aligned_alloc(64, (size + 64) & ~63UL);
        }
        faults += (unsigned long long)blocks[i].place % 16 != 0;
        blocks[i].size = size + 1;
        blocks[i].mark = (unsigned char)turn;
        memset(blocks[i].place, blocks[i].mark, size + 1);
        if (!draw(1000)) usleep(1000);
    }
    return unused;
}

static int run_memory(void) {
    pthread_t threads[4];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, churn, 0);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    }
    volatile size_t huge = (size_t)-1 / 2;
    printf("%llu faults, %s\n", faults, calloc(huge, 4) ? "granted" : "refused");
    printf("%p %p\n", malloc(40), malloc(40));
    return 0;
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "threads";
    began = now();
    if (!strcmp(what, "threads")) return run_threads();
    if (!strcmp(what, "memory")) return run_memory();
    if (!strcmp(what, "talk")) return talk(words[2]);
    if (!strcmp(what, "hear")) return hear();
    if (!strcmp(what, "date")) printf("%ld\n", (long)time(0));
    if (!strcmp(what, "who")) {
        struct passwd *p = getpwnam(words[2]);
        printf("%s %ld ", words[2], p ? (long)p->pw_uid : -1L);
        printf("%s\n", getpwuid(20001) ? getpwuid(20001)->pw_name : "-");
    }
    if (!strcmp(what, "spin"))
        for (long long until = now() + atoll(words[2]); now() < until;) ;
    if (!strcmp(what, "forever")) for (;;) sleep(10);
    return 0;
}
