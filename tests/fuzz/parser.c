// SPDX-License-Identifier: MIT
/*
 * parser.c - a small parser with two planted bugs, for the suite fuzz: a list of records behind a magic word and a key. A
 * record is a kind, a length and that many bytes.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KEY 0x600df00d

/* Bug: nobody compares the length with what is left. */
static int sum_of(const uint8_t *data, uint8_t length)
{
	int sum = 0;

	for (uint8_t i = 0; i < length; i++)
		sum += data[i];
	return sum;
}

/* Bug: with the right key, the copy is used after it was freed. */
static int unlock(const uint8_t *data)
{
	uint32_t key;
	char *copy;

	memcpy(&key, data, sizeof(key));
	if (key != KEY)
		return 0;
	copy = malloc(16);
	if (!copy)
		return 0;
	memset(copy, 1, 16);
	free(copy);
	return copy[3];
}

static int parse(const uint8_t *data, size_t size)
{
	int sum = 0;

	if (size < 8 || memcmp(data, "TOY1", 4) != 0)
		return 0;
	sum += unlock(data + 4);
	data += 8;
	size -= 8;
	while (size >= 2) {
		const uint8_t kind = data[0], length = data[1];

		if (kind == 'S')
			sum += sum_of(data + 2, length);
		if (length > size - 2)
			break;
		data += 2 + length;
		size -= 2 + length;
	}
	return sum;
}

static volatile int result;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	result = parse(data, size);
	return 0;
}
