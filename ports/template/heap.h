/* SPDX-License-Identifier: MIT */
/* heap.h - the C functions, and the two extras of this example. */
#ifndef HEAP_H
#define HEAP_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void *malloc(size_t size);
void *memalign(size_t align, size_t size);
void *realloc(void *ptr, size_t size);
void free(void *ptr);

/** heap_watch() - put the heap under KASAN: call it when its memory has shadow. */
void heap_watch(void);

/** early_chunk - allocated before heap_watch(). */
extern char *early_chunk;

#ifdef __cplusplus
}
#endif

#endif /* HEAP_H */
