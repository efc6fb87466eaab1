// SPDX-License-Identifier: MIT
/*
 * hello.c - a program's arguments and its return value.
 *
 *	./redzone run examples/hello.c -- Ada "Grace Hopper"
 *
 * greets both and ends with status 0; without arguments it returns 2, which gives status 4.
 */
#include <stdio.h>

int main(int argc, char **argv)
{
	int i;

	if (argc < 2) {
		fprintf(stderr, "usage: %s NAME...\n", argv[0]);
		return 2;
	}
	for (i = 1; i < argc; i++)
		printf("Hello, %s!\n", argv[i]);
	return 0;
}
