/* SPDX-License-Identifier: MIT */
/*
 * heap.c - a small first-fit allocator, as firmware has them, and its C functions under KASAN: two
 * callbacks and one-line functions.
 *
 * Not instrumented: the allocator's own words lie between the objects, in memory that no other code may touch.
 * In the tag-based modes it reaches them by pointers without a tag.
 */
#include <kasan/kasan.h>

#include "board.h"
#include "heap.h"

/* --- The allocator: free blocks in a list by address, neighbours joined ---------------------------- */

struct block {
	size_t size; /* bytes behind this header */
	struct block *next;
};

static struct block *free_list;
static char *brk_end;
char *early_chunk;

static void *raw_malloc(size_t size)
{
	struct block **link, *block, *rest;

	if (size > (size_t)PTRDIFF_MAX)
		return NULL;
	size = (size + 15) & ~(size_t)15;
	for (link = &free_list; *link; link = &(*link)->next) {
		block = *link;
		if (block->size < size)
			continue;
		if (block->size - size < 2 * sizeof(*block)) {
			*link = block->next;
			return block + 1;
		}
		rest = (struct block *)((char *)(block + 1) + size);
		rest->size = block->size - size - sizeof(*rest);
		rest->next = block->next;
		block->size = size;
		*link = rest;
		return block + 1;
	}
	if (!brk_end)
		brk_end = __heap_start;
	if (size + sizeof(*block) > (size_t)(__heap_end - brk_end))
		return NULL;
	block = (struct block *)brk_end;
	block->size = size;
	brk_end = (char *)(block + 1) + size;
	return block + 1;
}

static bool touches(const struct block *low, const struct block *high)
{
	return (const char *)(low + 1) + low->size == (const char *)high;
}

static void raw_free(void *raw)
{
	struct block *block = (struct block *)raw - 1, *before = NULL, *after = free_list;

	while (after && after < block) {
		before = after;
		after = after->next;
	}
	block->next = after;
	if (after && touches(block, after)) {
		block->size += sizeof(*after) + after->size;
		block->next = after->next;
	}
	if (!before) {
		free_list = block;
	} else if (touches(before, block)) {
		before->size += sizeof(*block) + block->size;
		before->next = block->next;
	} else {
		before->next = block;
	}
}

/* --- Under KASAN ------------------------------------------------------------------------------------ */

static void *acquire(struct kasan_heap *heap, size_t size)
{
	const unsigned long flags = board_lock();
	void *raw = raw_malloc(size);

	board_unlock(flags);
	return raw;
}

static void release(struct kasan_heap *heap, void *raw)
{
	const unsigned long flags = board_lock();

	raw_free(raw);
	board_unlock(flags);
}

static size_t raw_size(struct kasan_heap *heap, const void *raw)
{
	return ((const struct block *)raw - 1)->size;
}

static struct kasan_heap heap = {
	.name = "heap",
	.redzone = 32,
	.quarantine_max = 64UL << 10,
	.acquire = acquire,
	.release = release,
	.raw_size = raw_size,
};

void heap_watch(void)
{
	kasan_heap_add(&heap);
}

/* With CONFIG_KASAN_SAMPLE one object now and then does not come from the heap: see <kasan/sample.h>. */
void *malloc(size_t size)
{
	void *ptr = kasan_sample_due() ? kasan_sample_alloc(size, 8, heap.name, size, 0) : NULL;

	return ptr ? ptr : kasan_heap_malloc(&heap, size);
}

void *memalign(size_t align, size_t size)
{
	return kasan_heap_memalign(&heap, align, size);
}

void *realloc(void *ptr, size_t size)
{
	size_t old;
	void *moved;

	if (!kasan_sample_owns(ptr))
		return kasan_heap_realloc(&heap, ptr, size);
	old = kasan_sample_size(ptr);
	moved = malloc(size);
	if (moved) {
		memcpy(moved, ptr, old < size ? old : size);
		kasan_sample_free(ptr, (uintptr_t)__builtin_return_address(0));
	}
	return moved;
}

void free(void *ptr)
{
	if (kasan_sample_free(ptr, (uintptr_t)__builtin_return_address(0)))
		return;
	kasan_heap_free(&heap, ptr, (uintptr_t)__builtin_return_address(0));
}
