/* SPDX-License-Identifier: MIT */
/* main.c - the application. It has a bug: the copy of the name has no room for the terminating zero. */
#include "firmware.h"

static size_t length(const char *text)
{
	size_t n = 0;

	while (text[n])
		n++;
	return n;
}

static char *copy_name(const char *name)
{
	char *copy = malloc(length(name));
	size_t i = 0;

	do
		copy[i] = name[i];
	while (name[i++]);
	return copy;
}

int main(void)
{
	char *name = copy_name("sensor-number-17");

	print(name);
	print("\n");
	free(name);
	return 0;
}
