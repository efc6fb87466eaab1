/* SPDX-License-Identifier: MIT */
/* Memory is read before anything was written to it. */
#include <stdlib.h>

int main(void)
{
	volatile int *p = malloc(64);
	int value = p[3];

	free((void *)p);
	return value & 0;
}
