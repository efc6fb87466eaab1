/* SPDX-License-Identifier: MIT */
/*
 * oracle.h - the truth about a piece of memory, one bit (kept as a byte) per byte.
 *
 * It knows nothing of granules or shadow values: every operation is a loop over bytes. What the runtime
 * answers is compared with it.
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

/* What the contract of kasan_unpoison() says: the bytes, and not the rest of the last granule. */
static inline void oracle_unpoison(struct oracle *o, uintptr_t addr, size_t size)
{
	oracle_set(o, addr, size, true);
	for (uintptr_t a = addr + size; a % 8; a++)
		o->accessible[a - o->base] = false;
}

/* Return: address of the first inaccessible byte, 0 if there is none. */
static inline uintptr_t oracle_first_bad(const struct oracle *o, uintptr_t addr, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!o->accessible[addr - o->base + i])
			return addr + i;
	return 0;
}

#endif
