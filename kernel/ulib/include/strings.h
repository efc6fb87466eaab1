/* SPDX-License-Identifier: MIT */
/* strings.h - comparisons without case, and first set bits. */
#ifndef _STRINGS_H
#define _STRINGS_H

#include <stddef.h>

int strcasecmp(const char *a, const char *b);
int strncasecmp(const char *a, const char *b, size_t n);
void bzero(void *dst, size_t n);

static inline int ffs(int n)
{
	return __builtin_ffs(n);
}

#endif
