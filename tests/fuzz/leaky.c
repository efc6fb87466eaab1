// SPDX-License-Identifier: MIT
/*
 * leaky.c - a target that leaves objects over, in the way that the first byte of its input names, for the suite fuzz.
 *
 * Two ways are no leaks: a table that is made once, and an object of one input that the next one frees.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static char *table, *last, *volatile sink;

__attribute__((noinline)) static void lose_some(size_t size)
{
	sink = malloc(size);
}

__attribute__((noinline)) static void lose_text(const uint8_t *data)
{
	char text[2] = {(char)data[0], '\0'};

	sink = strdup(text);
}

__attribute__((noinline)) static void make_table(void)
{
	if (!table)
		table = calloc(16, 16);
}

__attribute__((noinline)) static void keep_last(const uint8_t *data, size_t size)
{
	free(last);
	last = malloc(size);
	if (last)
		memcpy(last, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size != 4)
		return 0;
	if (!memcmp(data, "Lose", 4))
		lose_some(24);
	if (!memcmp(data, "Huge", 4))
		lose_some(9 << 20);
	if (!memcmp(data, "Text", 4))
		lose_text(data);
	if (!memcmp(data, "Once", 4))
		make_table();
	if (!memcmp(data, "Last", 4))
		keep_last(data, size);
	return 0;
}
