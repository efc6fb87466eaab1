/* SPDX-License-Identifier: MIT */
/* empty.c - for ./redzone bench programs: what start, boot and end take. */
#include <stdio.h>

int main(void)
{
	printf("result 0\n");
	return 0;
}
