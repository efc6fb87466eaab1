/* SPDX-License-Identifier: MIT */
/* zlib.c - for ./redzone bench time: zlib packs and unpacks 16 KiB of words. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "work.h"

#define SIZE (16U << 10)

void work(unsigned long rounds, unsigned int thread)
{
	unsigned char *text = malloc(SIZE), *packed = malloc(2 * SIZE), *again = malloc(SIZE);
	unsigned int random = thread + 1, n = 0;

	if (!text || !packed || !again)
		exit(1);
	while (n < SIZE) {
		random = random * 1103515245U + 12345U;
		for (unsigned int i = 0; i < 3 + (random >> 16) % 7 && n < SIZE; i++)
			text[n++] = (unsigned char)('a' + ((random >> 16) % 300 * 7 + i * i) % 26);
	}
	while (rounds--) {
		uLongf size = 2 * SIZE, length = SIZE;

		if (compress(packed, &size, text, SIZE) != Z_OK ||
		    uncompress(again, &length, packed, size) != Z_OK || length != SIZE ||
		    memcmp(text, again, SIZE) != 0)
			exit(1);
	}
	free(text);
	free(packed);
	free(again);
}
