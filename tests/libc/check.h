/* SPDX-License-Identifier: MIT
 * check.h - CHECK(): a condition that must hold. A program returns `failed` in the end. */
#include <errno.h>
#include <stdio.h>

static int failed;

#define CHECK(condition)                                                                 \
	do {                                                                             \
		if (!(condition)) {                                                      \
			printf("line %d: %s (errno %d)\n", __LINE__, #condition, errno); \
			failed = 1;                                                      \
		}                                                                        \
	} while (0)
