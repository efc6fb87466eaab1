// SPDX-License-Identifier: MIT
/*
 * numbers.c - changes inputs whose fields have fixed places, such as images of file systems: most of the time it gives a
 * number another value where it is. Most of libFuzzer's own changes move all that lies behind them, so that a table is
 * no longer where the header says.
 */
#include <stdint.h>
#include <string.h>

/* libFuzzer's. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);

/* One of so many changes is libFuzzer's. */
#define FOREIGN	  4
#define WIDTH_MAX 8

/* Bytes of a number. Most numbers of such formats have four. */
static const size_t widths[] = {1, 2, 4, 4, 8};

/* New values. The largest one comes more often: it overflows, whatever is added to it. */
enum value { LARGEST, LARGEST_SIGNED, ZERO, NEAR, COPY, BIT };
static const enum value values[] = {
	LARGEST, LARGEST, LARGEST, LARGEST_SIGNED, ZERO, NEAR, COPY, BIT,
};

/* Return: a random number below @limit, which is not 0. */
static uint64_t below(uint64_t *state, uint64_t limit)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (*state >> 33) % limit;
}

/* Change the number of @width bytes at @at, least significant byte first, in the input @data of @size bytes. */
static void change(uint8_t *at, size_t width, const uint8_t *data, size_t size, uint64_t *state)
{
	uint64_t number = 0;

	switch (values[below(state, sizeof(values) / sizeof(*values))]) {
	case LARGEST_SIGNED:
		memset(at, 0xff, width);
		at[width - 1] = 0x7f;
		return;
	case ZERO:
		memset(at, 0, width);
		return;
	case NEAR:
		memcpy(&number, at, width);
		number += below(state, 33) - 16;
		memcpy(at, &number, width);
		return;
	case COPY:
		memmove(at, data + below(state, size - width + 1), width);
		return;
	case BIT:
		at[below(state, width)] ^= (uint8_t)(1U << below(state, 8));
		return;
	case LARGEST:
		memset(at, 0xff, width);
		return;
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	uint64_t state = seed;
	size_t width;

	if (size < WIDTH_MAX || !below(&state, FOREIGN))
		return LLVMFuzzerMutate(data, size, max);
	width = widths[below(&state, sizeof(widths) / sizeof(*widths))];
	change(data + below(&state, size - width + 1), width, data, size, &state);
	return size;
}
