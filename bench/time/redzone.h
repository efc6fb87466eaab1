/* SPDX-License-Identifier: MIT */
/*
 * redzone.h - included before each file of a program that ./redzone bench time compiles for the runtime: the heap is
 * the port's, and string functions check what ASan's interceptors check. A host process has none of the runtime's own.
 */
#ifndef BENCH_TIME_REDZONE_H
#define BENCH_TIME_REDZONE_H

#include <kasan/kasan.h>
#include <stdlib.h>
#include <string.h>

#include "kasan_posix.h"

static inline size_t checked_strlen(const char *text)
{
	size_t length = strlen(text);

	kasan_check_read(text, length + 1);
	return length;
}

static inline char *checked_strcpy(char *to, const char *from)
{
	size_t size = strlen(from) + 1;

	kasan_check_read(from, size);
	kasan_check_write(to, size);
	return __builtin_strcpy(to, from);
}

/* Its loop is part of a function that is not checked, as in ASan. */
__attribute__((no_sanitize("kernel-address"))) static inline int checked_strcmp(const char *a,
										const char *b)
{
	size_t same = 0;

	while (a[same] == b[same] && a[same])
		same++;
	kasan_check_read(a, same + 1);
	kasan_check_read(b, same + 1);
	return (unsigned char)a[same] - (unsigned char)b[same];
}

static inline char *checked_strchr(const char *text, int wanted)
{
	char *found = strchr(text, wanted);

	kasan_check_read(text, (found ? (size_t)(found - text) : strlen(text)) + 1);
	return found;
}

#define strlen	checked_strlen
#define strcpy	checked_strcpy
#define strcmp	checked_strcmp
#define strchr	checked_strchr
#define malloc	kasan_posix_malloc
#define calloc	kasan_posix_calloc
#define realloc kasan_posix_realloc
#define free	kasan_posix_free

#endif
