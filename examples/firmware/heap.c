/* SPDX-License-Identifier: MIT */
/* heap.c - a first-fit heap, like those of many firmware images. */
#include "firmware.h"

struct block {
	size_t size;
	struct block *next;
};

static struct block *freed;
static char *unused = heap_start;

void *malloc(size_t size)
{
	struct block **at = &freed, *block;

	size = (size + 15) & ~(size_t)15;
	for (; *at; at = &(*at)->next) {
		if ((*at)->size >= size) {
			block = *at;
			*at = block->next;
			return block + 1;
		}
	}
	if (size > (size_t)(heap_end - unused) - sizeof(*block))
		return NULL;
	block = (struct block *)unused;
	unused += sizeof(*block) + size;
	block->size = size;
	return block + 1;
}

void free(void *ptr)
{
	struct block *block = (struct block *)ptr - 1;

	if (!ptr)
		return;
	block->next = freed;
	freed = block;
}
