/* SPDX-License-Identifier: MIT */
/* fill.h - fills shadow and memory word by word. */
#ifndef KASAN_FILL_H
#define KASAN_FILL_H

#include "base.h"

/* Words at any address, in memory that has another declared type. */
typedef uint16_t __attribute__((aligned(1), may_alias)) kasan_u16_any;
typedef uint32_t __attribute__((aligned(1), may_alias)) kasan_u32_any;
typedef uint64_t __attribute__((aligned(1), may_alias)) kasan_u64_any;

/** kasan_fill() - write @count bytes at @at, and no others: another CPU may be changing a neighbouring granule's
 *  shadow. */
void kasan_fill(uint8_t *at, uint8_t value, size_t count);

/* Hides a loop's pointer so that no compiler turns the loop into a call of memset(). */
#define kasan_opaque(pointer) __asm__("" : "+r"(pointer))

/**
 * kasan_fill_inline() - kasan_fill() for hooks of slab objects, which call nothing else and so have no registers to
 * save. The counts of small objects come first. Two stores that may overlap cover every count from one to two times
 * their width.
 */
static kasan_always_inline void kasan_fill_inline(uint8_t *at, uint8_t value, size_t count)
{
	const uint64_t word = value * 0x0101010101010101ULL;
	uint8_t *const end = at + count;
	unsigned int i;

	if (kasan_likely(count - 8 <= 8)) {
		*(kasan_u64_any *)at = word;
		*(kasan_u64_any *)(end - 8) = word;
	} else if (count > 16) {
		/* Ends with the last full 64 bytes. If nothing is left over, the code below writes some bytes twice. */
		/* Compares distances, because memory may lie at address 0 or at the top: @last may wrap below 0, and
		 * @at past the top. */
		for (uint8_t *const last = end - 64;
		     (intptr_t)((uintptr_t)last - (uintptr_t)at) >= 0; at += 64) {
#pragma GCC unroll 8
			for (i = 0; i < 8; i++)
				((kasan_u64_any *)at)[i] = word;
			kasan_opaque(at);
		}
		if (end - at > 32) {
			((kasan_u64_any *)at)[0] = ((kasan_u64_any *)at)[1] = word;
			((kasan_u64_any *)at)[2] = ((kasan_u64_any *)at)[3] = word;
			((kasan_u64_any *)end)[-4] = ((kasan_u64_any *)end)[-3] = word;
		} else if (end - at > 16) {
			((kasan_u64_any *)at)[0] = ((kasan_u64_any *)at)[1] = word;
		}
		/* At most 16 bytes are left, and there were more than 16 to begin with. */
		((kasan_u64_any *)end)[-2] = ((kasan_u64_any *)end)[-1] = word;
	} else if (count >= 4) {
		*(kasan_u32_any *)at = (uint32_t)word;
		*(kasan_u32_any *)(end - 4) = (uint32_t)word;
	} else if (count) {
		at[0] = at[count / 2] = end[-1] = value;
	}
}

#endif /* KASAN_FILL_H */
