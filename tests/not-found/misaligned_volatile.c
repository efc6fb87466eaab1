/* SPDX-License-Identifier: MIT */
/* A misaligned volatile access begins in an object and ends after it. */
#include <stdint.h>
#include <stdlib.h>

int main(void)
{
	char *p = calloc(1, 16);
	volatile int at = 13;
	uint32_t value = *(volatile uint32_t *)(p + at);

	free(p);
	return value & 0;
}
