// SPDX-License-Identifier: MIT
/* bad.c - a target that misbehaves in the way that the first byte of its input names, for the suite fuzz. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static volatile int sink;
static int *volatile nowhere;

static int deep(int n)
{
	volatile char room[4096];

	room[0] = (char)n;
	return deep(n + 1) + room[0];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size != 4)
		return 0;
	if (!memcmp(data, "Hang", 4))
		for (;;)
			sink++;
	if (!memcmp(data, "Null", 4))
		sink = *nowhere;
	if (!memcmp(data, "Exit", 4))
		exit(3);
	if (!memcmp(data, "Deep", 4))
		sink = deep(0);
	if (!memcmp(data, "Many", 4))
		for (int i = 0; i < 1000000; i++)
			sink += data[size + i % 3];
	/* The last: the other lines read the input. */
	if (!memcmp(data, "Free", 4))
		free((void *)data);
	return 0;
}
