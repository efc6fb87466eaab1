/* SPDX-License-Identifier: MIT */
/* bugs.h - what the programs that plant bugs have in common: main.c, main_sample.c, riscv_main.c. */
#ifndef BUGS_H
#define BUGS_H

#include "board.h"

struct bug {
	const char *name, *type; /* type: NULL: must not be reported */
	void (*run)(void);
};

/* Hides a value from the compiler: it would see the bug, and remove it. */
static inline size_t runtime(size_t value)
{
	__asm__ volatile("" : "+r"(value));
	return value;
}

static inline bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

#endif /* BUGS_H */
