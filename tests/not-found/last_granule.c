/* SPDX-License-Identifier: MIT */
/* One byte past an object of 13 bytes is written. */
#include <stdlib.h>

int main(void)
{
	volatile char *p = malloc(13);
	volatile int at = 13;

	p[at] = 1;
	free((void *)p);
	return 0;
}
