// SPDX-License-Identifier: MIT
/*
 * lz4_partial.c - unpacks the beginning of an lz4 block: the caller's side of CVE-2021-3520, for the suite fuzz-cves. The
 * first four bytes say how many bytes are wanted, as the header of a file might. The caller has room for ROOM, and says so.
 * With WITHOUT_BUG it wants no more, as the suite fuzz-speed needs it.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lz4.h"

#define ROOM 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int32_t wanted;
	char *output;

	if (size < sizeof(wanted))
		return 0;
	memcpy(&wanted, data, sizeof(wanted));
#ifdef WITHOUT_BUG
	wanted &= ROOM - 1;
#endif
	output = malloc(ROOM);
	if (output)
		LZ4_decompress_safe_partial((const char *)data + sizeof(wanted), output,
					    (int)(size - sizeof(wanted)), wanted, ROOM);
	free(output);
	return 0;
}
