// SPDX-License-Identifier: MIT
/* argument.c - a program that prints its name and how many arguments it has. */
#include <stdio.h>

int main(int argc, char **argv)
{
	printf("%s has %d arguments\n", argv[0], argc - 1);
	return 0;
}
