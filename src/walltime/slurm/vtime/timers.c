/* Timers that send a signal when their time has come (timer_create), on the virtual clock.

   The signal's handler is called by whichever thread finds that time has passed, while no other thread runs. */
#include "vtime.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#define MOST_TIMERS 16

static struct alarm {
    int used, signal;
    int64_t deadline;
} alarms[MOST_TIMERS];

static struct alarm *find_alarm(timer_t handle) {
    intptr_t place = (intptr_t)handle - 1;
    return place >= 0 && place < MOST_TIMERS && alarms[place].used ? &alarms[place] : 0;
}

int64_t vtime_next_alarm(void) {
    int64_t next = NEVER;
    for (struct alarm *a = alarms; a < alarms + MOST_TIMERS; a++)
        if (a->used && a->deadline < next) next = a->deadline;
    return next;
}

void vtime_sound_alarms(void) {
    for (struct alarm *a = alarms; a < alarms + MOST_TIMERS; a++) {
        struct sigaction action;
        if (!a->used || a->deadline > page->now) continue;
        a->deadline = NEVER;
        if (!sigaction(a->signal, 0, &action) && action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN)
            action.sa_handler(a->signal);
    }
}

EXPORT int timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict handle) {
    if (!active) return REAL(timer_create)(clock, event, handle);
    for (struct alarm *a = alarms; a < alarms + MOST_TIMERS; a++)
        if (!a->used) {
            *a = (struct alarm){1, event ? event->sigev_signo : SIGALRM, NEVER};
            *handle = (timer_t)(a - alarms + 1);
            return 0;
        }
    errno = EAGAIN;
    return -1;
}

EXPORT int timer_settime(timer_t handle, int flags, const struct itimerspec *restrict value,
                         struct itimerspec *restrict old) {
    if (!active) return REAL(timer_settime)(handle, flags, value, old);
    struct alarm *a = find_alarm(handle);
    if (!a || value->it_interval.tv_sec || value->it_interval.tv_nsec) { /* none that repeats is in use */
        errno = EINVAL;
        return -1;
    }
    int64_t length = value->it_value.tv_sec * SECOND + (value->it_value.tv_nsec + 999) / 1000;
    a->deadline = !length ? NEVER : (flags & TIMER_ABSTIME) ? length + slack : page->now + length + slack;
    if (old) *old = (struct itimerspec){0};
    return 0;
}

EXPORT int timer_delete(timer_t handle) {
    if (!active) return REAL(timer_delete)(handle);
    struct alarm *a = find_alarm(handle);
    if (!a) {
        errno = EINVAL;
        return -1;
    }
    a->used = 0;
    return 0;
}
