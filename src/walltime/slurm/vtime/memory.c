/* Memory: small blocks from free lists by size, without locks and without searching.

   A backfill pass takes and gives back millions of small zeroed blocks, the bitmaps of cores of every candidate; two
   fifths of its time went to the C library's allocator. Here a block of up to LARGEST bytes comes from the list of its
   size, last in, first out. One thread runs at a time, so nothing needs a lock; a thread that has no baton (it is just
   ending) and everything larger goes to the C library. Addresses follow from the order of the calls alone, so they are
   the same every time. */
#include "vtime.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LARGEST 1024
#define STEP 16               /* sizes are multiples of this, and so are addresses */
#define CHUNK_BITS 16         /* a chunk of memory is cut into blocks of one size */
#define CHUNK (1UL << CHUNK_BITS)
#define ROOM (1UL << 36)      /* address space; it is opened for use piece by piece */
#define PIECE (CHUNK << 6)

extern void *__libc_malloc(size_t size), *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void __libc_free(void *block);

static struct block {
    struct block *next;
} *lists[LARGEST / STEP + 1];
static char *room, *fresh, *opened; /* where the address space begins, its first unused chunk, its end of use */
static uint8_t kinds[ROOM >> CHUNK_BITS];   /* of each chunk the size of its blocks, in steps */

static int is_ours(const void *block) { return (uintptr_t)block - (uintptr_t)room < ROOM && room; }
static size_t size_of(const void *block) { return (size_t)kinds[((char *)block - room) >> CHUNK_BITS] * STEP; }

/* Called once, before there is a second thread; without the room everything stays with the C library. */
void vtime_make_room(void) {
    void *found = mmap(0, ROOM + CHUNK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED) return;
    room = fresh = opened = (char *)(((uintptr_t)found + CHUNK - 1) & ~(CHUNK - 1));
}

/* Cuts a new chunk into blocks of a size; the first of them is taken. */
static void *cut(size_t kind) {
    if (fresh == opened) {
        if (opened == room + ROOM || mprotect(opened, PIECE, PROT_READ | PROT_WRITE)) return 0;
        opened += PIECE;
    }
    char *chunk = fresh;
    size_t size = kind * STEP, count = CHUNK / size;
    fresh += CHUNK;
    kinds[(chunk - room) >> CHUNK_BITS] = (uint8_t)kind;
    for (size_t i = count - 1; i > 0; i--) {
        struct block *b = (struct block *)(chunk + i * size);
        b->next = lists[kind];
        lists[kind] = b;
    }
    return chunk;
}

static inline void *take(size_t size) {
    size_t kind = size ? (size + STEP - 1) / STEP : 1;
    struct block *b = lists[kind];
    if (!b) return cut(kind);
    lists[kind] = b->next;
    return b;
}

static inline int serves(size_t size) { return size <= LARGEST && self && room; }

EXPORT void *malloc(size_t size) {
    void *block = serves(size) ? take(size) : 0;
    return block ? block : __libc_malloc(size);
}

EXPORT void *calloc(size_t count, size_t size) {
    size_t whole;
    if (__builtin_mul_overflow(count, size, &whole)) return __libc_calloc(count, size); /* which refuses it */
    void *block = serves(whole) ? take(whole) : 0;
    if (!block) return __libc_calloc(count, size);
    uint64_t *word = block, *end = (uint64_t *)((char *)block + ((whole + 15) & ~15UL));
    for (; word < end; word += 2) word[0] = word[1] = 0;
    return block;
}

EXPORT void free(void *block) {
    if (!is_ours(block)) {
        __libc_free(block);
        return;
    }
    if (!self) return; /* a thread that ends beside the others; a few bytes are lost */
    size_t kind = kinds[((char *)block - room) >> CHUNK_BITS];
    ((struct block *)block)->next = lists[kind];
    lists[kind] = block;
}

EXPORT void *realloc(void *block, size_t size) {
    if (!is_ours(block)) return block ? __libc_realloc(block, size) : malloc(size);
    if (!size) {
        free(block);
        return 0;
    }
    size_t held = size_of(block);
    if (size <= held) return block;
    void *moved = malloc(size);
    if (!moved) return 0;
    memcpy(moved, block, held);
    free(block);
    return moved;
}

EXPORT size_t malloc_usable_size(void *block) {
    if (block && is_ours(block)) return size_of(block);
    return REAL(malloc_usable_size)(block);
}
