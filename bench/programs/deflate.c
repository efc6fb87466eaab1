/* SPDX-License-Identifier: MIT */
/* deflate.c - for ./redzone bench programs: libdeflate compresses and expands 200,000 bytes, 30 times. */
#include <libdeflate.h>
#include <stdio.h>
#include <string.h>

#define SIZE   200000
#define ROUNDS 30

static unsigned char text[SIZE], packed[SIZE + 1000], again[SIZE];

/* Words of a dictionary of 500, in an order that is the same in every run. */
static void write_text(void)
{
	unsigned int random = 1;
	size_t n = 0;

	while (n < SIZE) {
		unsigned int word, length;

		random = random * 1103515245u + 12345u;
		word = (random >> 16) % 500;
		length = 2 + word % 9;
		for (unsigned int i = 0; i < length && n < SIZE; i++)
			text[n++] = (unsigned char)('a' + (word * 7 + i * i * 3) % 26);
		if (n < SIZE)
			text[n++] = ' ';
	}
}

int main(void)
{
	struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(6);
	struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
	size_t total = 0;

	write_text();
	for (int i = 0; i < ROUNDS; i++) {
		size_t size =
			libdeflate_gzip_compress(compressor, text, SIZE, packed, sizeof(packed));
		size_t length = 0;

		if (size == 0 ||
		    libdeflate_gzip_decompress(decompressor, packed, size, again, SIZE, &length) ||
		    length != SIZE || memcmp(text, again, SIZE) != 0)
			return 1;
		total += size;
	}
	libdeflate_free_compressor(compressor);
	libdeflate_free_decompressor(decompressor);
	printf("result %zu\n", total);
	return 0;
}
