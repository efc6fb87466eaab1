// SPDX-License-Identifier: MIT
/*
 * compiler.c - functions that GCC calls where the base instructions do not suffice: bits are counted, and bytes exchanged, in
 * libgcc and libatomic.
 *
 * Not instrumented: the lock of the console is one of those bytes.
 */
#include <kernel/types.h>

int __clzdi2(u64 value);
int __ctzdi2(u64 value);

int __clzdi2(u64 value)
{
	int zeroes = 0;

	for (int width = 32; width; width /= 2) {
		if (value >> (64 - width))
			continue;
		zeroes += width;
		value <<= width;
	}
	return zeroes;
}

int __ctzdi2(u64 value)
{
	/* Only the lowest bit that is set. */
	return 63 - __clzdi2(value & -value);
}

/* The compiler knows the real name as its own. */
u8 exchange_1(u8 *at, u8 value, int order) __asm__("__atomic_exchange_1");

u8 exchange_1(u8 *at, u8 value, int order)
{
	u32 *word = (u32 *)((uintptr_t)at & ~3UL);
	const unsigned int shift = ((uintptr_t)at & 3) * 8;
	u32 old = __atomic_load_n(word, __ATOMIC_RELAXED), new;

	do {
		new = (old & ~(0xffU << shift)) | (u32)value << shift;
	} while (!__atomic_compare_exchange_n(word, &old, new, true, __ATOMIC_SEQ_CST,
					      __ATOMIC_RELAXED));
	return (u8)(old >> shift);
}
