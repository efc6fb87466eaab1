// SPDX-License-Identifier: MIT
/*
 * Compresses the files of the arguments with brotli at several qualities, expands them, and compares.
 *
 * Each line has the size and a checksum of the compressed data, so that two machines can be compared.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <brotli/decode.h>
#include <brotli/encode.h>

static const int qualities[] = {0, 1, 2, 4, 5, 6, 9, 10, 11};

static uint32_t checksum(const uint8_t *data, size_t size)
{
	uint32_t sum = 2166136261U;

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ data[i]) * 16777619U;
	return sum;
}

static uint8_t *read_file(const char *name, size_t *size)
{
	FILE *file = fopen(name, "rb");
	uint8_t *data = NULL;

	*size = 0;
	while (file != NULL && !feof(file)) {
		data = realloc(data, *size + 4096);
		*size += fread(data + *size, 1, 4096, file);
	}
	if (file == NULL || ferror(file)) {
		printf("%s cannot be read\n", name);
		exit(1);
	}
	fclose(file);
	return realloc(data, *size > 0 ? *size : 1);
}

/* Expand @size bytes of @packed, with input and output in pieces. Returns 1 if the result is @data. */
static int expands(const uint8_t *packed, size_t size, const uint8_t *data, size_t length)
{
	BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
	uint8_t piece[777];
	size_t in = 0, done = 0, left = 0;
	BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT;
	const uint8_t *next = packed;
	int same = 1;

	while (result != BROTLI_DECODER_RESULT_SUCCESS && result != BROTLI_DECODER_RESULT_ERROR) {
		uint8_t *out = piece;
		size_t room = sizeof(piece);

		if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT) {
			if (left == 0 && in == size)
				break;
			left = size - in < 100 ? size - in : 100;
			in += left;
		}
		result = BrotliDecoderDecompressStream(state, &left, &next, &room, &out, NULL);
		size_t made = sizeof(piece) - room;

		same = same && done + made <= length && memcmp(data + done, piece, made) == 0;
		done += made;
	}
	BrotliDecoderDestroyInstance(state);
	return same && result == BROTLI_DECODER_RESULT_SUCCESS && done == length;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t length;
		uint8_t *data = read_file(argv[i], &length);

		for (size_t q = 0; q < sizeof(qualities) / sizeof(qualities[0]); q++) {
			size_t size = BrotliEncoderMaxCompressedSize(length);
			uint8_t *packed = malloc(size);

			if (packed == NULL ||
			    !BrotliEncoderCompress(qualities[q], 18, BROTLI_MODE_GENERIC, length,
						   data, &size, packed)) {
				printf("%s quality %d: no result\n", argv[i], qualities[q]);
				return 1;
			}
			packed = realloc(packed, size);
			printf("%s quality %d: %zu bytes, checksum %08x, %s\n", argv[i],
			       qualities[q], size, checksum(packed, size),
			       expands(packed, size, data, length) ? "same" : "DIFFERENT");
			free(packed);
		}
		free(data);
	}
	return 0;
}
