/* SPDX-License-Identifier: MIT */
/*
 * zlib_roundtrip.c - runs 1 MiB through deflate and inflate, at several levels and window sizes, in pieces
 * of awkward sizes. The program is clean: it must succeed without a report.
 *
 * Usage: zlib_roundtrip [LEVEL...]   default: 0 1 6 9
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zlib.h"

#define SIZE (1 << 20)

static uint32_t state = 2463534242;

static uint32_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

/* Text with repetitions near and far, runs of one byte, and noise: this reaches every path of the match
 * finder. */
static void generate(unsigned char *data, size_t size)
{
	size_t at = 0;

	while (at < size) {
		size_t length = 1 + next_random() % 600, i;

		if (length > size - at)
			length = size - at;
		switch (next_random() % 4) {
		case 0:
			for (i = 0; i < length; i++)
				data[at + i] = (unsigned char)next_random();
			break;
		case 1:
			memset(data + at, (int)(next_random() % 256), length);
			break;
		case 2:
			for (i = 0; i < length; i++)
				data[at + i] =
					(unsigned char)("etaoin shrdlu\n"[next_random() % 14]);
			break;
		default:
			if (at < length)
				continue;
			memcpy(data + at, data + next_random() % (at - length + 1), length);
			break;
		}
		at += length;
	}
}

/* @piece: bytes of input and of output for each call, at most. Return: compressed bytes; 0 on an error. */
static size_t compress_all(int level, int bits, const unsigned char *in, size_t size,
			   unsigned char *out, size_t room, size_t piece)
{
	z_stream stream = {0};
	size_t done = 0;
	int status;

	if (deflateInit2(&stream, level, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return 0;
	do {
		size_t left = size - done, n = left < piece ? left : piece;

		stream.next_in = (z_const Bytef *)(in + done);
		stream.avail_in = (uInt)n;
		do {
			size_t used = stream.total_out;

			if (used == room)
				goto fail;
			stream.next_out = out + used;
			stream.avail_out = (uInt)(room - used < piece ? room - used : piece);
			status = deflate(&stream, n == left ? Z_FINISH : Z_NO_FLUSH);
			if (status == Z_STREAM_ERROR)
				goto fail;
		} while (stream.avail_out == 0 || (n == left && status != Z_STREAM_END));
		done += n;
	} while (status != Z_STREAM_END);
	done = stream.total_out;
	return deflateEnd(&stream) == Z_OK ? done : 0;
fail:
	deflateEnd(&stream);
	return 0;
}

/* Return: 1 if @in unpacks to exactly @size bytes, else 0. */
static int expand_all(int bits, const unsigned char *in, size_t in_size, unsigned char *out,
		      size_t size, size_t piece)
{
	z_stream stream = {0};
	int status = Z_OK;
	size_t done = 0;

	if (inflateInit2(&stream, bits) != Z_OK)
		return 0;
	while (status != Z_STREAM_END) {
		if (stream.avail_in == 0) {
			size_t n = in_size - done < piece ? in_size - done : piece;

			stream.next_in = (z_const Bytef *)(in + done);
			stream.avail_in = (uInt)n;
			done += n;
		}
		stream.next_out = out + stream.total_out;
		stream.avail_out =
			(uInt)(size - stream.total_out < piece ? size - stream.total_out : piece);
		status = inflate(&stream, Z_NO_FLUSH);
		if (status != Z_OK && status != Z_STREAM_END) {
			printf("inflate: %d (%s)\n", status,
			       stream.msg ? stream.msg : "no message");
			break;
		}
	}
	done = stream.total_out;
	return inflateEnd(&stream) == Z_OK && status == Z_STREAM_END && done == size;
}

static int round_trip(int level, int bits, size_t piece, const unsigned char *data)
{
	size_t room = compressBound(SIZE) + 64, packed;
	unsigned char *middle = malloc(room), *back = malloc(SIZE);
	int ok = 0;

	if (middle && back) {
		memset(back, 0, SIZE);
		packed = compress_all(level, bits, data, SIZE, middle, room, piece);
		ok = packed && expand_all(bits, middle, packed, back, SIZE, piece + 13) &&
		     !memcmp(data, back, SIZE);
		printf("level %d, window bits %d, pieces of %lu: %lu bytes, %s\n", level, bits,
		       (unsigned long)piece, (unsigned long)packed, ok ? "same" : "DIFFERENT");
	} else {
		printf("no memory\n");
	}
	free(middle);
	free(back);
	return ok;
}

int main(int argc, char **argv)
{
	static const int defaults[] = {0, 1, 6, 9};
	/* zlib, gzip and raw deflate. */
	static const int formats[] = {15, 15 + 16, -12};
	unsigned char *data = malloc(SIZE);
	int count = argc > 1 ? argc - 1 : 4, i, ok = 1;

	if (!data)
		return 1;
	generate(data, SIZE);
	printf("zlib %s, checksum %08lx\n", zlibVersion(),
	       crc32(adler32(1, data, SIZE), data, SIZE));
	for (i = 0; i < count; i++)
		ok &= round_trip(argc > 1 ? atoi(argv[i + 1]) : defaults[i], formats[i % 3],
				 i % 2 ? 4099 : SIZE, data);
	free(data);
	puts(ok ? "round trip: good" : "round trip: BAD");
	return !ok;
}
