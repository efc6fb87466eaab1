/* SPDX-License-Identifier: MIT */
/* heap.c - for ./redzone bench time: a pair of malloc(SIZE) and free(), with 64 objects alive. */
#include <stdlib.h>

#include "work.h"

#ifndef SIZE
#define SIZE 64
#endif
#define ALIVE 64

void work(unsigned long rounds, unsigned int thread)
{
	char *alive[ALIVE] = {0};
	unsigned long i;

	(void)thread;
	for (i = 0; i < rounds; i++) {
		char **at = &alive[i % ALIVE];

		free(*at);
		*at = malloc(SIZE);
		if (!*at)
			exit(1);
		(*at)[0] = (*at)[SIZE - 1] = 1;
	}
	for (i = 0; i < ALIVE; i++)
		free(alive[i]);
}
