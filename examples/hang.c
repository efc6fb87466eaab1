// SPDX-License-Identifier: MIT
/*
 * hang.c - a program that never ends: `./redzone run examples/hang.c --timeout 5` stops the machine
 * after five seconds and ends with status 3.
 */
#include <stdio.h>

int main(int argc, char **argv)
{
	volatile unsigned long rounds = 0;

	printf("Waiting for a flag that nobody sets.\n");
	for (;;)
		rounds++;
}
