// SPDX-License-Identifier: MIT
/*
 * compare.c - shows the operands of memcmp(), strcmp() and their like to the fuzzing engine. The linker's --wrap sends
 * all calls here. A magic word at the start of a file is found by that.
 */
#include <kasan/fuzz.h>
#include <kasan/kasan.h>
#include <kernel/kernel.h>
#include <kernel/string.h>
#include <kernel/types.h>

int __real_memcmp(const void *a, const void *b, size_t size);
int __wrap_memcmp(const void *a, const void *b, size_t size);
int __real_strcmp(const char *a, const char *b);
int __wrap_strcmp(const char *a, const char *b);
int __real_strncmp(const char *a, const char *b, size_t size);
int __wrap_strncmp(const char *a, const char *b, size_t size);
int __real_strcasecmp(const char *a, const char *b);
int __wrap_strcasecmp(const char *a, const char *b);

/* Return: how many bytes of both may be read, at most @size. The comparison itself may have ended before. */
static size_t readable(const void *a, const void *b, size_t size)
{
	size_t length = 0;

	size = min(size, (size_t)KASAN_FUZZ_CMP_MAX);
	while (length < size && kasan_byte_accessible((const char *)a + length) &&
	       kasan_byte_accessible((const char *)b + length))
		length++;
	return length;
}

/* The same for text, which ends with the shorter one. Names are short, so only they are looked at, and not what follows. */
static size_t readable_text(const char *a, const char *b, size_t size)
{
	size_t length = 0;

	size = min(size, (size_t)KASAN_FUZZ_CMP_MAX);
	while (length < size && kasan_byte_accessible(a + length) &&
	       kasan_byte_accessible(b + length) && a[length] && b[length])
		length++;
	return length;
}

int __wrap_memcmp(const void *a, const void *b, size_t size)
{
	const int result = __real_memcmp(a, b, size);

	if (result && kasan_fuzz_wants_compare())
		kasan_fuzz_compare(__builtin_return_address(0), a, b, readable(a, b, size));
	return result;
}

static int text(const void *place, int result, const char *a, const char *b, size_t size)
{
	if (result && kasan_fuzz_wants_compare())
		kasan_fuzz_compare(place, a, b, readable_text(a, b, size));
	return result;
}

int __wrap_strcmp(const char *a, const char *b)
{
	return text(__builtin_return_address(0), __real_strcmp(a, b), a, b, KASAN_FUZZ_CMP_MAX);
}

int __wrap_strncmp(const char *a, const char *b, size_t size)
{
	return text(__builtin_return_address(0), __real_strncmp(a, b, size), a, b, size);
}

int __wrap_strcasecmp(const char *a, const char *b)
{
	return text(__builtin_return_address(0), __real_strcasecmp(a, b), a, b, KASAN_FUZZ_CMP_MAX);
}
