/* SPDX-License-Identifier: MIT */
/* deep.c - for ./redzone bench time: malloc() and free() from below 40 functions. Both sanitizers store the stack. */
#include <stdlib.h>

#include "work.h"

#define DEPTH 40

__attribute__((noinline)) static void down(unsigned int depth, unsigned long rounds)
{
	if (depth) {
		down(depth - 1, rounds);
		keep(depth);
		return;
	}
	while (rounds--) {
		char *object = malloc(64);

		if (!object)
			exit(1);
		keep(object);
		free(object);
	}
}

void work(unsigned long rounds, unsigned int thread)
{
	(void)thread;
	down(DEPTH, rounds);
}
