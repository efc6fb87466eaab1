// SPDX-License-Identifier: MIT
/*
 * zlib_header.c - unpacks the input as a gzip file that comes in pieces, and asks for the header's extra field: the
 * caller's side of CVE-2022-37434, for the suite fuzz-cves. The caller does everything right. With WITHOUT_BUG it does not ask for the extra field, as the suite fuzz-speed wants it.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "zlib.h"

#define EXTRA_ROOM 16
#define PIECE	   20
#define OUT_MAX	   (1UL << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned char output[1024];
	unsigned char *extra = malloc(EXTRA_ROOM);
	gz_header header = {0};
	z_stream stream = {0};
	int status = Z_OK;

#ifndef WITHOUT_BUG
	header.extra = extra;
#endif
	header.extra_max = EXTRA_ROOM;
	if (extra && inflateInit2(&stream, 15 + 16) == Z_OK &&
	    inflateGetHeader(&stream, &header) == Z_OK) {
		for (size_t done = 0; done < size && status == Z_OK; done += PIECE) {
			stream.next_in = (unsigned char *)(uintptr_t)(data + done);
			stream.avail_in = (uInt)(size - done < PIECE ? size - done : PIECE);
			do {
				stream.next_out = output;
				stream.avail_out = sizeof(output);
				status = inflate(&stream, Z_NO_FLUSH);
			} while (status == Z_OK && !stream.avail_out && stream.total_out < OUT_MAX);
		}
	}
	inflateEnd(&stream);
	free(extra);
	return 0;
}
