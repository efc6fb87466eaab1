/* SPDX-License-Identifier: MIT */
/* message.c - kasan_complain(), which may run before any other code. */
#include "base.h"

static char message[256];

static size_t put_text(size_t at, const char *text)
{
	while (*text && at < sizeof(message) - 1)
		message[at++] = *text++;
	message[at] = '\0';
	return at;
}

static size_t put_hex(size_t at, uintptr_t value)
{
	char digits[2 * sizeof(value) + 1];
	size_t n = sizeof(digits) - 1;

	digits[n] = '\0';
	do {
		digits[--n] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	at = put_text(at, "0x");
	return put_text(at, digits + n);
}

const char *kasan_complain(const char *before, uintptr_t a, const char *middle, uintptr_t b,
			   const char *after)
{
	size_t at = put_hex(put_text(0, before), a);

	at = put_hex(put_text(at, middle), b);
	put_text(at, after);
	return message;
}
