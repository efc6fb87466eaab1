// SPDX-License-Identifier: MIT
/* fuzz_target.c - the function that test_fuzz.c fuzzes: compiled with coverage, which the test itself is not. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fuzz_target.h"

volatile unsigned int target_steps;

int fuzz_target(const uint8_t *data, size_t size)
{
	uint32_t word = 0;

	if (size >= sizeof(word))
		memcpy(&word, data, sizeof(word));
	if (word == 0x12345678)
		target_steps++;
	if (size && data[0] == 'a')
		for (unsigned int i = 0; i < size; i++)
			target_steps += 2;
	return size ? 0 : -1;
}
