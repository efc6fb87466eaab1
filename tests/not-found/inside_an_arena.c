/* SPDX-License-Identifier: MIT */
/* A program's own allocator hands out parts of one object, and one part is overflowed. */
#include <stdlib.h>

int main(void)
{
	char *arena = malloc(4096);
	volatile char *first = arena, *volatile second = arena + 32;

	first[32] = 1;
	(void)second;
	free(arena);
	return 0;
}
