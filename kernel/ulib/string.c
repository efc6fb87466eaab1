// SPDX-License-Identifier: MIT
/* string.c - the parts of <string.h> that the kernel's own library does not have. Byte by byte, so
 * that KASAN names the first byte outside an object. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void *mempcpy(void *restrict dst, const void *restrict src, size_t n)
{
	return (char *)memcpy(dst, src, n) + n;
}

/* The kernel's only locale is C's. */
int strcoll(const char *a, const char *b)
{
	return strcmp(a, b);
}

char *strtok(char *restrict s, const char *restrict delimiters)
{
	static char *save;

	if (!s && !save)
		return NULL;
	return strtok_r(s, delimiters, &save);
}

char *strndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *copy = malloc(len + 1);

	if (!copy)
		return NULL;
	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *strdup(const char *s)
{
	size_t size = strlen(s) + 1;
	char *copy = malloc(size);

	return copy ? memcpy(copy, s, size) : NULL;
}

void bzero(void *dst, size_t n)
{
	memset(dst, 0, n);
}
