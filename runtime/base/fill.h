/* SPDX-License-Identifier: MIT */
/* fill.h - fills shadow and memory word by word. */
#ifndef KASAN_FILL_H
#define KASAN_FILL_H

#include "base.h"

#include <kasan/shadow_inline.h>

typedef uint64_t __attribute__((may_alias)) kasan_u64_alias; /* aligned */

/** kasan_fill() - write @count bytes at @at, and no others: another CPU may be changing a neighbouring granule's
 *  shadow. */
void kasan_fill(uint8_t *at, uint8_t value, size_t count);

/* Shadow of 4 KiB: whole pages have no odd ends, so theirs needs no other unit. */
#if (CONFIG_KASAN_PAGE_SIZE & 4095) == 0
#define KASAN_PAGE_SHADOW (4096U >> KASAN_SHADOW_SCALE_SHIFT)

/** kasan_page_shadows() - Return: how many times KASAN_PAGE_SHADOW the pages of @size bytes have. */
static inline size_t kasan_page_shadows(size_t size)
{
	return (size + (CONFIG_KASAN_PAGE_SIZE - 1)) / CONFIG_KASAN_PAGE_SIZE *
	       (CONFIG_KASAN_PAGE_SIZE / 4096);
}

/** kasan_fill_page_shadows() - write @count times KASAN_PAGE_SHADOW. */
static inline void kasan_fill_page_shadows(uint8_t *shadow, size_t count, uint8_t value)
{
	const uint64_t word = value * 0x0101010101010101ULL;

	/* Not up to an end, which is address 0 if the shadow is the last memory that there is. */
	for (; count; count--) {
#pragma GCC unroll 64
		for (unsigned int i = 0; i < KASAN_PAGE_SHADOW / 8; i++)
			((kasan_u64_alias *)shadow)[i] = word;
		shadow += KASAN_PAGE_SHADOW;
		kasan_opaque(shadow);
	}
}
#endif

#endif /* KASAN_FILL_H */
