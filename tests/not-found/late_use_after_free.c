/* SPDX-License-Identifier: MIT */
/* A freed object is written to when its memory belongs to another one, after very many allocations. */
#include <stdint.h>
#include <stdlib.h>

#define TRIES 4000000

int main(void)
{
	volatile char *p = malloc(4000), *q = NULL;

	free((void *)p);
	for (long i = 0; i < TRIES; i++) {
		q = malloc(4000);
		/* With tags: one whose tag is another. */
		if ((uintptr_t)q << 8 == (uintptr_t)p << 8 &&
		    (q == p) == ((uintptr_t)p >> 56 == 0xff))
			break;
		free((void *)q);
		q = NULL;
	}
	if (!q)
		return 1;
	p[100] = 1;
	return 0;
}
