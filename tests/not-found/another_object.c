/* SPDX-License-Identifier: MIT */
/* An index is so wrong that it hits another living object. */
#include <stdint.h>
#include <stdlib.h>

#define TRIES 64

int main(void)
{
	volatile char *p = malloc(64), *q = p;

	/* With tags: one whose tag is another. */
	for (int i = 0; i < TRIES && (q == p || (uintptr_t)p >> 56 == (uintptr_t)q >> 56); i++)
		q = malloc(64);
	p[((uintptr_t)q << 8 >> 8) - ((uintptr_t)p << 8 >> 8)] = 1;
	return 0;
}
