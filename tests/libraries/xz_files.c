// SPDX-License-Identifier: MIT
/*
 * Decodes and encodes with liblzma: the files that it has for its own tests, and data made here.
 *
 * Each line has the result and a checksum, so that two machines can be compared.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lzma.h>

#define ROOM   (1 << 20)
#define MEMORY (UINT64_C(64) << 20)

/* Bytes to encode. A shorter run has fewer. */
#ifndef MADE
#define MADE 60000
#endif

static uint8_t plain[ROOM];
static uint8_t packed[ROOM];
static uint8_t again[ROOM];

/* Decode @size bytes of @data in steps of @step. Returns the status, and the size of the result in @made. */
static lzma_ret decode(lzma_stream *stream, const uint8_t *data, size_t size, size_t step,
		       size_t *made)
{
	lzma_ret status = LZMA_OK;

	stream->next_out = plain;
	stream->avail_out = ROOM;
	for (size_t done = 0; status == LZMA_OK && done < size;) {
		size_t part = size - done < step ? size - done : step;

		stream->next_in = data + done;
		stream->avail_in = part;
		done += part;
		do {
			status = lzma_code(stream, done == size ? LZMA_FINISH : LZMA_RUN);
		} while (status == LZMA_OK && stream->avail_in > 0);
	}
	*made = ROOM - stream->avail_out;
	return status;
}

static void decode_file(const char *name)
{
	FILE *file = fopen(name, "rb");
	uint8_t *data = malloc(ROOM);

	if (file == NULL || data == NULL) {
		printf("%s cannot be read\n", name);
		exit(1);
	}
	size_t size = fread(data, 1, ROOM, file);

	fclose(file);
	/* An object of the file's own size: a byte behind it is a report. */
	data = realloc(data, size > 0 ? size : 1);
	for (size_t step = 1; step <= size; step *= 64) {
		lzma_stream stream = LZMA_STREAM_INIT;
		size_t made = 0;
		lzma_ret status = lzma_auto_decoder(&stream, MEMORY, LZMA_CONCATENATED);

		if (status == LZMA_OK)
			status = decode(&stream, data, size, step, &made);
		lzma_end(&stream);
		printf("%s in steps of %zu: status %d, %zu bytes, crc64 %016llx\n", name, step,
		       (int)status, made, (unsigned long long)lzma_crc64(plain, made, 0));
	}
	free(data);
}

/* Fill plain[] with text that has repetitions near and far. */
static void make(void)
{
	uint32_t random = 1;

	for (size_t at = 0; at < MADE;) {
		random = random * 1664525 + 1013904223;
		if (random >> 30 != 0 && at > 300) {
			size_t length = 3 + (random >> 8) % 60;
			size_t back = 1 + (random >> 12) % (at - 1);

			for (size_t i = 0; i < length && at < MADE; i++, at++)
				plain[at] = plain[at - back];
		} else {
			plain[at++] = (uint8_t)('a' + (random >> 20) % 26);
		}
	}
}

static void encode(const char *name, lzma_filter *filters)
{
	size_t size = 0, in = 0, out = 0;
	uint64_t limit = MEMORY;

	make();
	lzma_ret status = lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC64, NULL, plain, MADE,
						    packed, &size, ROOM);

	if (status == LZMA_OK)
		status = lzma_stream_buffer_decode(&limit, 0, NULL, packed, &in, size, again, &out,
						   ROOM);
	printf("%s: status %d, %zu bytes, crc64 %016llx, %s\n", name, (int)status, size,
	       (unsigned long long)lzma_crc64(packed, size, 0),
	       out == MADE && memcmp(plain, again, MADE) == 0 ? "same" : "DIFFERENT");
}

int main(int argc, char **argv)
{
	lzma_options_lzma options;
	lzma_options_delta delta = {.type = LZMA_DELTA_TYPE_BYTE, .dist = 4};

	for (int i = 1; i < argc; i++)
		decode_file(argv[i]);
	for (uint32_t preset = 0; preset <= 6; preset += 3) {
		char name[16];
		lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, NULL}};

		snprintf(name, sizeof(name), "preset %u", (unsigned int)preset);
		lzma_lzma_preset(&options, preset);
		options.dict_size = 1 << 16;
		encode(name, filters);
	}
	lzma_lzma_preset(&options, 1);
	options.dict_size = 1 << 12;
	encode("delta", (lzma_filter[]){{LZMA_FILTER_DELTA, &delta},
					{LZMA_FILTER_LZMA2, &options},
					{LZMA_VLI_UNKNOWN, NULL}});
	encode("x86", (lzma_filter[]){{LZMA_FILTER_X86, NULL},
				      {LZMA_FILTER_LZMA2, &options},
				      {LZMA_VLI_UNKNOWN, NULL}});
	encode("arm64", (lzma_filter[]){{LZMA_FILTER_ARM64, NULL},
					{LZMA_FILTER_LZMA2, &options},
					{LZMA_VLI_UNKNOWN, NULL}});
	return 0;
}
