/* SPDX-License-Identifier: MIT */
/* vendor.c - stands for a library that comes as an object: a memcpy() of its own, a function that uses it, and a copy
 * with a name of its own. Compiled without Redzone's options. */
#include <stddef.h>

/* A compiler may inline it into functions of this file: nothing can check that. */
__attribute__((noinline)) void *memcpy(void *to, const void *from, size_t size)
{
	char *at = to;

	while (size--)
		*at++ = *(const volatile char *)from++;
	return to;
}

void *sbi_memcpy(void *to, const void *from, size_t size)
{
	return memcpy(to, from, size);
}

size_t vendor_pack(char *to, const char *from, size_t size)
{
	memcpy(to, from, size);
	return size;
}
