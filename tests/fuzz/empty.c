// SPDX-License-Identifier: MIT
/* empty.c - a target that does nothing, for the suite fuzz-speed: what an input costs by itself. */
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	(void)data;
	(void)size;
	return 0;
}
