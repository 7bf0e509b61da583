/* Memory: zeroed blocks from the thread's own cache.

   The C library's calloc does not look into the cache of freed blocks that malloc keeps for each thread. A backfill pass
   allocates and frees millions of small zeroed bitmaps, and spent a quarter of its time there. */
#include "vtime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CACHED 1024 /* bytes; malloc's cache has no larger blocks */

extern void *__libc_calloc(size_t count, size_t size);

static void *(*volatile allocate)(size_t) = malloc; /* the compiler would make a call of calloc of it */

EXPORT void *calloc(size_t count, size_t size) {
    size_t whole;
    if (__builtin_mul_overflow(count, size, &whole) || whole > CACHED) return __libc_calloc(count, size);
    void *block = allocate(whole);
    return block ? memset(block, 0, whole) : 0;
}
