/* SPDX-License-Identifier: MIT */
/* memory.c - for ./redzone bench time: memcpy(), memmove() and memset() of 8 to 1,024 bytes of the heap. */
#include <stdlib.h>
#include <string.h>

#include "work.h"

void work(unsigned long rounds, unsigned int thread)
{
	char *from = malloc(2048), *to = malloc(2048);
	unsigned long i;

	(void)thread;
	if (!from || !to)
		exit(1);
	memset(from, 1, 2048);
	for (i = 0; i < rounds; i++) {
		size_t size = 8UL << i % 8;

		keep(size);
		memcpy(to, from, size);
		memmove(to + 8, to, size);
		memset(from, (int)i, size);
		keep(to);
	}
	free(from);
	free(to);
}
