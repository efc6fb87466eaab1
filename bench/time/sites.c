/* SPDX-License-Identifier: MIT */
/* sites.c - for ./redzone bench time: malloc() and free() from 256 functions in turn, each with stacks of its own. */
#include <stdlib.h>

#include "work.h"

#define SITE(n)                                             \
	__attribute__((noinline)) static void site##n(void) \
	{                                                   \
		char *object = malloc(32);                  \
                                                            \
		if (!object)                                \
			exit(1);                            \
		object[0] = (char)(0x##n & 0x7f);           \
		keep(object);                               \
		free(object);                               \
	}
#define SITES(high)   \
	SITE(high##0) \
	SITE(high##1) \
	SITE(high##2) \
	SITE(high##3) \
	SITE(high##4) \
	SITE(high##5) \
	SITE(high##6) \
	SITE(high##7) \
	SITE(high##8) \
	SITE(high##9) \
	SITE(high##a) SITE(high##b) SITE(high##c) SITE(high##d) SITE(high##e) SITE(high##f)
SITES(0)
SITES(1)
SITES(2)
SITES(3)
SITES(4)
SITES(5)
SITES(6)
SITES(7)
SITES(8)
SITES(9)
SITES(a)
SITES(b)
SITES(c)
SITES(d)
SITES(e)
SITES(f)

#define NAMES(high)                                                                               \
	site##high##0, site##high##1, site##high##2, site##high##3, site##high##4, site##high##5, \
		site##high##6, site##high##7, site##high##8, site##high##9, site##high##a,        \
		site##high##b, site##high##c, site##high##d, site##high##e, site##high##f

static void (*const sites[])(void) = {
	NAMES(0), NAMES(1), NAMES(2), NAMES(3), NAMES(4), NAMES(5), NAMES(6), NAMES(7),
	NAMES(8), NAMES(9), NAMES(a), NAMES(b), NAMES(c), NAMES(d), NAMES(e), NAMES(f),
};

void work(unsigned long rounds, unsigned int thread)
{
	unsigned long i;

	(void)thread;
	for (i = 0; i < rounds; i++)
		sites[i * 37 % 256]();
}
