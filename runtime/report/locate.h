/* SPDX-License-Identifier: MIT */
/* locate.h - whose memory an address is, outside of reports. */
#ifndef KASAN_LOCATE_H
#define KASAN_LOCATE_H

#include "../base/base.h"

/**
 * struct kasan_located - what is known about an address
 * @kind: a constant of __asan_locate_address().
 * @start, @size: of the object or variable, without a tag; @size as asked for. 0: not known.
 * @is_live: an object that is allocated.
 * @name: of the variable or cache; "": not known.
 * @alloc, @free: their stacks; a stack of 0 is not known. @alloc_pc: if there is no stack, who allocated it; 0: not known.
 */
struct kasan_located {
	const char *kind;
	uintptr_t start;
	size_t size;
	bool is_live;
	struct kasan_track alloc, free;
	uintptr_t alloc_pc;
	char name[48];
};

/** kasan_locate() - fill @located for @addr, which in the tag modes has the tag of the pointer. Waits for a report that
 *  another CPU prints. Return: false if that takes too long, or inside of a report: @located then says "unknown". */
bool kasan_locate(uintptr_t addr, struct kasan_located *located);

/** kasan_print_located() - the same, but print it. */
void kasan_print_located(uintptr_t addr);

#endif /* KASAN_LOCATE_H */
