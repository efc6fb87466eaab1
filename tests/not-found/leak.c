/* SPDX-License-Identifier: MIT */
/* The only pointer to an object is lost. */
#include <stdlib.h>

int main(void)
{
	void *volatile p = malloc(100);

	p = NULL;
	return p != NULL;
}
