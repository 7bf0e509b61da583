/* Mutexes, conditions and read-write locks for threads of which one runs at a time.

   Their state lives in the C library's own structures, so that static initialisers and the attributes set by the
   *_init functions hold. Waiters are served first come, first served. */
#include "vtime.h"

#include <errno.h>
#include <time.h>

#define OWNER(thread) ((thread)->number + 1)

static int is_recursive(const pthread_mutex_t *m) { return (m->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE_NP; }

static void lock(pthread_mutex_t *m) {
    if (m->__data.__lock && is_recursive(m) && m->__data.__owner == OWNER(self)) {
        m->__data.__count++;
        return;
    }
    while (m->__data.__lock) {
        m->__data.__nusers++; /* here: how many wait */
        vtime_block(m, NEVER);
        m->__data.__nusers--;
    }
    m->__data.__lock = 1;
    m->__data.__owner = OWNER(self);
    m->__data.__count = 1;
}

static void unlock(pthread_mutex_t *m) {
    if (is_recursive(m) && --m->__data.__count > 0) return;
    m->__data.__lock = 0;
    m->__data.__owner = 0;
    m->__data.__count = 0;
    if (m->__data.__nusers) vtime_wake_first(m);
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *m) {
    if (!active || !self) return REAL(pthread_mutex_lock)(m);
    lock(m);
    return 0;
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *m) {
    if (!active || !self) return REAL(pthread_mutex_trylock)(m);
    if (m->__data.__lock && !(is_recursive(m) && m->__data.__owner == OWNER(self))) return EBUSY;
    lock(m);
    return 0;
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *m) {
    if (!active || !self) return REAL(pthread_mutex_unlock)(m);
    unlock(m);
    return 0;
}

EXPORT int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) {
    if (!active) return REAL_VERSION(pthread_cond_wait, "GLIBC_2.3.2")(c, m);
    unlock(m);
    vtime_block(c, NEVER);
    lock(m);
    return 0;
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until) {
    if (!active) return REAL_VERSION(pthread_cond_timedwait, "GLIBC_2.3.2")(c, m, until);
    int64_t deadline = until->tv_sec * SECOND + (until->tv_nsec + 999) / 1000;
    unlock(m);
    int reason = vtime_block(c, deadline < page->now ? page->now : deadline);
    lock(m);
    return reason == ETIMEDOUT ? ETIMEDOUT : 0;
}

EXPORT int pthread_cond_signal(pthread_cond_t *c) {
    if (!active) return REAL_VERSION(pthread_cond_signal, "GLIBC_2.3.2")(c);
    vtime_wake_first(c);
    return 0;
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *c) {
    if (!active) return REAL_VERSION(pthread_cond_broadcast, "GLIBC_2.3.2")(c);
    vtime_wake_all(c);
    return 0;
}

/* Readers are preferred, as by the C library unless told otherwise. */
#define READERS(l) ((l)->__data.__readers)
#define WRITER(l) ((l)->__data.__writers)
#define WAITING(l) ((l)->__data.__pad3)

static void wait_for(pthread_rwlock_t *l) {
    WAITING(l)++;
    vtime_block(l, NEVER);
    WAITING(l)--;
}

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *l) {
    if (!active) return REAL(pthread_rwlock_rdlock)(l);
    while (WRITER(l)) wait_for(l);
    READERS(l)++;
    return 0;
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *l) {
    if (!active) return REAL(pthread_rwlock_wrlock)(l);
    while (WRITER(l) || READERS(l)) wait_for(l);
    WRITER(l) = 1;
    return 0;
}

EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *l) {
    if (!active) return REAL(pthread_rwlock_tryrdlock)(l);
    if (WRITER(l)) return EBUSY;
    READERS(l)++;
    return 0;
}

EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *l) {
    if (!active) return REAL(pthread_rwlock_trywrlock)(l);
    if (WRITER(l) || READERS(l)) return EBUSY;
    WRITER(l) = 1;
    return 0;
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *l) {
    if (!active) return REAL(pthread_rwlock_unlock)(l);
    if (WRITER(l)) WRITER(l) = 0;
    else READERS(l)--;
    if (WAITING(l) && !WRITER(l) && !READERS(l)) vtime_wake_all(l);
    return 0;
}
