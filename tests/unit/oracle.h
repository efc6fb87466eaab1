/* SPDX-License-Identifier: MIT */
/*
 * oracle.h - which bytes of a piece of memory are accessible: one flag for each byte.
 *
 * The oracle has no granules and no shadow values: every operation is a loop over bytes. Tests compare the runtime's
 * answers with the oracle's.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include "unit.h"

struct oracle {
	uintptr_t base;
	size_t size;
	bool *accessible;
};

static inline void oracle_set(struct oracle *o, uintptr_t addr, size_t size, bool accessible)
{
	for (size_t i = 0; i < size; i++)
		o->accessible[addr - o->base + i] = accessible;
}

/* As the contract of kasan_unpoison() says: the bytes become accessible, the rest of the last granule does not. */
static inline void oracle_unpoison(struct oracle *o, uintptr_t addr, size_t size)
{
	oracle_set(o, addr, size, true);
	for (uintptr_t a = addr + size; a % 8; a++)
		o->accessible[a - o->base] = false;
}

/* Return: the address of the first inaccessible byte; 0 if there is none. */
static inline uintptr_t oracle_first_bad(const struct oracle *o, uintptr_t addr, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!o->accessible[addr - o->base + i])
			return addr + i;
	return 0;
}

#endif
