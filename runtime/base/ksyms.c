/* SPDX-License-Identifier: MIT */
/* ksyms.c - kasan_port_symbol() for systems without a symbol table of their own: it searches the table that `./redzone
 * ksyms` made for the image. Without one it finds nothing. */
#include "base.h"

/* Empty, until a generated file with the table is linked in. */
KASAN_WEAK const struct kasan_ksyms kasan_ksyms = {0, 0, NULL, NULL, NULL};

KASAN_WEAK bool kasan_port_symbol(uintptr_t pc, char *buf, size_t size, struct kasan_symbol *sym)
{
	/* Read from memory, so that a compiler that sees this empty table does not assume it is the only one. */
	const struct kasan_ksyms *const table = &kasan_ksyms;
	uintptr_t low = 0, high = *(const volatile uintptr_t *)&table->count;
	const char *name;
	size_t i;

	/* The entry after the last function has no name, so every function has a next entry. */
	if (high < 2 || pc < table->base || pc - table->base >= table->starts[high - 1])
		return false;
	while (high - low > 1) {
		const uintptr_t middle = low + (high - low) / 2;

		if (pc - table->base >= table->starts[middle])
			low = middle;
		else
			high = middle;
	}
	name = table->names + table->name_at[low];
	if (pc - table->base < table->starts[low] || !*name || !size)
		return false;
	for (i = 0; i + 1 < size && name[i]; i++)
		buf[i] = name[i];
	buf[i] = '\0';
	sym->start = table->base + table->starts[low];
	sym->size = table->starts[low + 1] - table->starts[low];
	return true;
}
