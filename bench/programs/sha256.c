/* SPDX-License-Identifier: MIT */
/* sha256.c - for ./redzone bench programs: Mbed TLS's SHA-256 of 16 MiB. */
#include <mbedtls/sha256.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
	static unsigned char block[65536];
	unsigned char digest[32];
	mbedtls_sha256_context context;

	memset(block, 'z', sizeof(block));
	mbedtls_sha256_init(&context);
	if (mbedtls_sha256_starts_ret(&context, 0))
		return 1;
	for (int i = 0; i < 256; i++)
		mbedtls_sha256_update_ret(&context, block, sizeof(block));
	mbedtls_sha256_finish_ret(&context, digest);
	mbedtls_sha256_free(&context);
	printf("result ");
	for (size_t i = 0; i < sizeof(digest); i++)
		printf("%02x", digest[i]);
	printf("\n");
	return 0;
}
