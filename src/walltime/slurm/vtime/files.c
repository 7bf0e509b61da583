/* Descriptors: waiting for them, counting callers, and keeping every listener on the loopback. */
#include "vtime.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_TRACKED 4096
static char accepted[MOST_TRACKED];

/* A connected stream socket: its peer answers in zero virtual time. */
static int is_peer(int file) {
    int listening, kept = errno;
    socklen_t size = sizeof listening;
    if (file < 0 || getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size)) {
        errno = kept;
        return 0;
    }
    return !listening;
}

static int is_pipe(int file) {
    struct stat about;
    int kept = errno, found = !fstat(file, &about) && S_ISFIFO(about.st_mode);
    errno = kept;
    return found;
}

/* A pipe is how one thread gets another out of a poll. */
EXPORT ssize_t write(int file, const void *data, size_t size) {
    ssize_t written = REAL(write)(file, data, size);
    if (active && written > 0 && !piped) piped = is_pipe(file);
    return written;
}

static int wait_for_files(struct pollfd *files, nfds_t count, int milliseconds) {
    if (!active || !self) return REAL(poll)(files, count, milliseconds);
    int peer = 0, pipe = 0;
    for (nfds_t i = 0; i < count; i++) {
        int connected = is_peer(files[i].fd);
        peer |= connected;
        pipe |= !connected && is_pipe(files[i].fd);
        if (files[i].events & POLLOUT) { /* log files and answers being written: done at once, nothing to yield for */
            int ready = REAL(poll)(files, count, milliseconds);
            touched |= connected && !(files[i].revents & (POLLERR | POLLHUP)); /* a refused connection told no peer */
            return ready;
        }
    }
    if (milliseconds == 0) return REAL(poll)(files, count, 0);
    return vtime_poll(files, count, milliseconds, peer, pipe);
}

EXPORT int poll(struct pollfd *files, nfds_t count, int milliseconds) {
    return wait_for_files(files, count, milliseconds);
}

EXPORT int __poll_chk(struct pollfd *files, nfds_t count, int milliseconds, size_t size) {
    (void)size;
    return wait_for_files(files, count, milliseconds);
}

EXPORT int accept4(int listener, struct sockaddr *address, socklen_t *size, int flags) {
    int file = REAL(accept4)(listener, address, size, flags);
    if (active && file >= 0 && file < MOST_TRACKED && !accepted[file]) {
        accepted[file] = 1;
        connections++;
    }
    return file;
}

EXPORT int close(int file) {
    if (active && file == control) { /* start-up code closes every descriptor that it does not know */
        errno = EBADF;
        return -1;
    }
    if (active && file >= 0 && file < MOST_TRACKED && accepted[file]) {
        accepted[file] = 0;
        connections--;
    }
    return REAL(close)(file);
}

EXPORT int bind(int file, const struct sockaddr *address, socklen_t size) {
    struct sockaddr_storage changed;
    if (!active || size > sizeof changed) return REAL(bind)(file, address, size);
    memcpy(&changed, address, size);
    if (address->sa_family == AF_INET) ((struct sockaddr_in *)&changed)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (address->sa_family == AF_INET6) ((struct sockaddr_in6 *)&changed)->sin6_addr = in6addr_loopback;
    return REAL(bind)(file, (struct sockaddr *)&changed, size);
}

/* What the controller saves is thrown away with the run; there is no need to wait for a disk. */
EXPORT int fsync(int file) { return active ? 0 : REAL(fsync)(file); }
EXPORT int fdatasync(int file) { return active ? 0 : REAL(fdatasync)(file); }
EXPORT void sync(void) {
    if (!active) REAL(sync)();
}
