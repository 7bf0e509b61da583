/* Reading the clock and sleeping on it. */
#include "vtime.h"

#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define MAIN_LOOP_STEP 100000 /* microseconds: the controller's main loop sleeps ten times this for its second */

static int64_t read_clock(void) {
    if (active && self && cost > 0) vtime_charge();
    return page->now;
}

EXPORT time_t time(time_t *place) {
    if (!active && !clock_only) return REAL(time)(place);
    time_t now = read_clock() / SECOND;
    if (place) *place = now;
    return now;
}

EXPORT int gettimeofday(struct timeval *restrict place, void *restrict zone) {
    if (!active && !clock_only) return REAL(gettimeofday)(place, zone);
    int64_t now = read_clock();
    place->tv_sec = now / SECOND;
    place->tv_usec = now % SECOND;
    return 0;
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *place) {
    int wall = clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME_COARSE ||
               clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_BOOTTIME;
    if ((!active && !clock_only) || !wall) return REAL(clock_gettime)(clock, place);
    int64_t now = read_clock();
    place->tv_sec = now / SECOND;
    place->tv_nsec = now % SECOND * 1000;
    return 0;
}

/* The main loop looks for a shutdown ten times a second and does its work once a second. A shutdown is not simulated,
   so the ten short sleeps are taken as one: a quarter of the wake-ups, the same decisions. */
static useconds_t fold(useconds_t length) {
    static unsigned calls;
    if (self->number != 0 || length != MAIN_LOOP_STEP) return length;
    return calls++ % 10 ? 0 : 10 * MAIN_LOOP_STEP + 9 * slack;
}

EXPORT int usleep(useconds_t length) {
    if (!active || !self) return REAL(usleep)(length);
    length = fold(length);
    if (length) vtime_block(0, page->now + length);
    return 0;
}

EXPORT unsigned sleep(unsigned length) {
    if (!active || !self) return REAL(sleep)(length);
    vtime_block(0, page->now + length * SECOND);
    return 0;
}

EXPORT int nanosleep(const struct timespec *length, struct timespec *rest) {
    if (!active || !self) return REAL(nanosleep)(length, rest);
    vtime_block(0, page->now + length->tv_sec * SECOND + (length->tv_nsec + 999) / 1000);
    return 0;
}
