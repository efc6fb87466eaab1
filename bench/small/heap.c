/* SPDX-License-Identifier: MIT */
/*
 * heap.c - an allocator as small systems have them: a list of free blocks by address, first fit, neighbours joined.
 * Not instrumented: its words lie between the objects.
 */
#include <kasan/kasan.h>

#include "board.h"

struct block {
	size_t size; /* with this header */
	struct block *next;
};

#define HEADER sizeof(struct block)

static struct block *first;

void *raw_malloc(size_t size)
{
	struct block **link = &first, *block, *rest;

	if (!first) {
		first = (struct block *)(((uintptr_t)__heap_start + 7) & ~(uintptr_t)7);
		first->size = (size_t)(__heap_end - (char *)first) & ~(size_t)7;
		first->next = (struct block *)__heap_end;
	}
	size = ((size + 7) & ~(size_t)7) + HEADER;
	for (; (char *)*link != __heap_end; link = &(*link)->next) {
		block = *link;
		if (block->size < size)
			continue;
		if (block->size - size < 2 * HEADER) {
			*link = block->next;
			return block + 1;
		}
		rest = (struct block *)((char *)block + size);
		rest->size = block->size - size;
		rest->next = block->next;
		*link = rest;
		block->size = size;
		return block + 1;
	}
	return NULL;
}

void raw_free(void *raw)
{
	struct block *block = (struct block *)raw - 1, **link = &first, *before = NULL;

	while (*link < block && (char *)*link != __heap_end) {
		before = *link;
		link = &before->next;
	}
	block->next = *link;
	if ((char *)block + block->size == (char *)block->next &&
	    (char *)block->next != __heap_end) {
		block->size += block->next->size;
		block->next = block->next->next;
	}
	if (before && (char *)before + before->size == (char *)block) {
		before->size += block->size;
		before->next = block->next;
	} else {
		*link = block;
	}
}

/* --- Under KASAN --- */

static void *acquire(struct kasan_heap *heap, size_t size)
{
	(void)heap;
	return raw_malloc(size);
}

static void release(struct kasan_heap *heap, void *raw)
{
	(void)heap;
	raw_free(raw);
}

static struct kasan_heap heap = {
	.name = "heap",
	.quarantine_max = QUARANTINE_BYTES,
	.acquire = acquire,
	.release = release,
};

void heap_watch(void)
{
	kasan_heap_add(&heap);
}

void *malloc(size_t size)
{
	return kasan_heap_malloc(&heap, size);
}

void free(void *ptr)
{
	kasan_heap_free(&heap, ptr, (uintptr_t)__builtin_return_address(0));
}
