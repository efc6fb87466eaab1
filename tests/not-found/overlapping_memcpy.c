/* SPDX-License-Identifier: MIT */
/* The two ranges of memcpy() overlap. */
#include <stdlib.h>
#include <string.h>

int main(void)
{
	char *p = calloc(1, 64);
	volatile size_t size = 32;

	memcpy(p + 1, p, size);
	free(p);
	return 0;
}
