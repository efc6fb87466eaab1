/* SPDX-License-Identifier: MIT */
/* Inline assembly writes past an object. */
#include <stdlib.h>

int main(void)
{
	char *p = malloc(32);

	__asm__ volatile("strb wzr, [%0, #32]" : : "r"(p) : "memory");
	free(p);
	return 0;
}
