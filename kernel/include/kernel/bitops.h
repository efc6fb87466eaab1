/* SPDX-License-Identifier: MIT */
/* bitops.h - single bits in arrays of long, and counting bits. */
#ifndef KERNEL_BITOPS_H
#define KERNEL_BITOPS_H

#include <kernel/atomic.h>
#include <kernel/types.h>

#define BITS_PER_BYTE		   8
#define BITS_PER_LONG		   64
#define BIT_MASK(nr)		   (1UL << ((nr) % BITS_PER_LONG))
#define BIT_WORD(nr)		   ((nr) / BITS_PER_LONG)
#define BITS_TO_LONGS(nr)	   DIV_ROUND_UP(nr, BITS_PER_LONG)
#define GENMASK(high, low)	   ((~0UL << (low)) & (~0UL >> (BITS_PER_LONG - 1 - (high))))
#define DECLARE_BITMAP(name, bits) unsigned long name[BITS_TO_LONGS(bits)]

/* Atomic. The forms that return the old bit are fully ordered, the others are not ordered. */
static inline void set_bit(unsigned long nr, volatile unsigned long *addr)
{
	__atomic_fetch_or(&addr[BIT_WORD(nr)], BIT_MASK(nr), __ATOMIC_RELAXED);
}

static inline void clear_bit(unsigned long nr, volatile unsigned long *addr)
{
	__atomic_fetch_and(&addr[BIT_WORD(nr)], ~BIT_MASK(nr), __ATOMIC_RELAXED);
}

static inline void change_bit(unsigned long nr, volatile unsigned long *addr)
{
	__atomic_fetch_xor(&addr[BIT_WORD(nr)], BIT_MASK(nr), __ATOMIC_RELAXED);
}

static inline bool test_and_set_bit(unsigned long nr, volatile unsigned long *addr)
{
	return __full(addr,
		      __atomic_fetch_or(&addr[BIT_WORD(nr)], BIT_MASK(nr), __ATOMIC_RELEASE)) &
	       BIT_MASK(nr);
}

static inline bool test_and_clear_bit(unsigned long nr, volatile unsigned long *addr)
{
	return __full(addr,
		      __atomic_fetch_and(&addr[BIT_WORD(nr)], ~BIT_MASK(nr), __ATOMIC_RELEASE)) &
	       BIT_MASK(nr);
}

static inline bool test_and_change_bit(unsigned long nr, volatile unsigned long *addr)
{
	return __full(addr,
		      __atomic_fetch_xor(&addr[BIT_WORD(nr)], BIT_MASK(nr), __ATOMIC_RELEASE)) &
	       BIT_MASK(nr);
}

static inline bool test_bit(unsigned long nr, const volatile unsigned long *addr)
{
	return (addr[BIT_WORD(nr)] >> (nr % BITS_PER_LONG)) & 1;
}

/* A bit as a lock: no access moves from after the locking to before it, or from before the unlocking to
 * after it. */
static inline bool test_and_set_bit_lock(unsigned long nr, volatile unsigned long *addr)
{
	return __atomic_fetch_or(&addr[BIT_WORD(nr)], BIT_MASK(nr), __ATOMIC_ACQUIRE) &
	       BIT_MASK(nr);
}

static inline void clear_bit_unlock(unsigned long nr, volatile unsigned long *addr)
{
	__atomic_fetch_and(&addr[BIT_WORD(nr)], ~BIT_MASK(nr), __ATOMIC_RELEASE);
}

/** __clear_bit_unlock() - the same if no other code changes a bit of the word meanwhile. */
static inline void __clear_bit_unlock(unsigned long nr, volatile unsigned long *addr)
{
	unsigned long word = __atomic_load_n(&addr[BIT_WORD(nr)], __ATOMIC_RELAXED);

	__atomic_store_n(&addr[BIT_WORD(nr)], word & ~BIT_MASK(nr), __ATOMIC_RELEASE);
}

/** xor_unlock_is_negative_byte() - flip the bits of @mask, all below bit 7, with release order.
 *  Return: true if bit 7 was set: a waiter for the lock bit exists. */
static inline bool xor_unlock_is_negative_byte(unsigned long mask, volatile unsigned long *addr)
{
	return __atomic_fetch_xor(addr, mask, __ATOMIC_RELEASE) & BIT_MASK(7);
}

/* Not atomic. */
static inline void __set_bit(unsigned long nr, volatile unsigned long *addr)
{
	addr[BIT_WORD(nr)] |= BIT_MASK(nr);
}

static inline void __clear_bit(unsigned long nr, volatile unsigned long *addr)
{
	addr[BIT_WORD(nr)] &= ~BIT_MASK(nr);
}

static inline void __change_bit(unsigned long nr, volatile unsigned long *addr)
{
	addr[BIT_WORD(nr)] ^= BIT_MASK(nr);
}

static inline bool __test_and_set_bit(unsigned long nr, volatile unsigned long *addr)
{
	bool old = test_bit(nr, addr);

	__set_bit(nr, addr);
	return old;
}

static inline bool __test_and_clear_bit(unsigned long nr, volatile unsigned long *addr)
{
	bool old = test_bit(nr, addr);

	__clear_bit(nr, addr);
	return old;
}

static inline bool __test_and_change_bit(unsigned long nr, volatile unsigned long *addr)
{
	bool old = test_bit(nr, addr);

	__change_bit(nr, addr);
	return old;
}

/** ffs(), fls() - Return: the lowest, highest set bit counted from 1; 0 if none is set. */
static inline int ffs(int x)
{
	return __builtin_ffs(x);
}

static inline int fls(unsigned int x)
{
	return x ? 32 - __builtin_clz(x) : 0;
}

static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

/** __ffs(), __fls() - the same counted from 0; undefined for 0. */
static inline unsigned long __ffs(unsigned long x)
{
	return (unsigned long)__builtin_ctzl(x);
}

static inline unsigned long __fls(unsigned long x)
{
	return BITS_PER_LONG - 1UL - (unsigned long)__builtin_clzl(x);
}

static inline unsigned long ffz(unsigned long x)
{
	return __ffs(~x);
}

/** hweight64() - Return: number of set bits. */
static inline unsigned int hweight64(u64 x)
{
	x -= (x >> 1) & 0x5555555555555555UL;
	x = (x & 0x3333333333333333UL) + ((x >> 2) & 0x3333333333333333UL);
	x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fUL;
	return (unsigned int)((x * 0x0101010101010101UL) >> 56);
}

static inline unsigned int hweight32(u32 x)
{
	return hweight64(x);
}

#define hweight_long(x) hweight64(x)

/** ilog2() - Return: number of the highest set bit, -1 for 0. */
static inline int ilog2(u64 x)
{
	return fls64(x) - 1;
}

static inline bool is_power_of_2(unsigned long x)
{
	return x != 0 && (x & (x - 1)) == 0;
}

/** roundup_pow_of_two() - Return: smallest power of two not below @x, which is at least 1. */
static inline unsigned long roundup_pow_of_two(unsigned long x)
{
	return 1UL << fls64(x - 1);
}

static inline unsigned long rounddown_pow_of_two(unsigned long x)
{
	return 1UL << (fls64(x) - 1);
}

/** find_next_bit() - Return: first set bit at or after @start; @size if there is none. */
static inline unsigned long find_next_bit(const unsigned long *addr, unsigned long size,
					  unsigned long start)
{
	while (start < size) {
		unsigned long word = addr[BIT_WORD(start)] >> (start % BITS_PER_LONG);

		if (word)
			return min(start + __ffs(word), size);
		start = ALIGN_DOWN(start, BITS_PER_LONG) + BITS_PER_LONG;
	}
	return size;
}

static inline unsigned long find_next_zero_bit(const unsigned long *addr, unsigned long size,
					       unsigned long start)
{
	while (start < size) {
		unsigned long word = ~addr[BIT_WORD(start)] >> (start % BITS_PER_LONG);

		if (word)
			return min(start + __ffs(word), size);
		start = ALIGN_DOWN(start, BITS_PER_LONG) + BITS_PER_LONG;
	}
	return size;
}

#define find_first_bit(addr, size)	find_next_bit(addr, size, 0)
#define find_first_zero_bit(addr, size) find_next_zero_bit(addr, size, 0)
#define for_each_set_bit(bit, addr, size)                        \
	for ((bit) = find_first_bit(addr, size); (bit) < (size); \
	     (bit) = find_next_bit(addr, size, (bit) + 1))

/** bitmap_zero() - clear @bits bits, rounded up to whole words. */
static inline void bitmap_zero(unsigned long *map, unsigned long bits)
{
	for (unsigned long i = 0; i < BITS_TO_LONGS(bits); i++)
		map[i] = 0;
}

static inline bool bitmap_empty(const unsigned long *map, unsigned long bits)
{
	return find_first_bit(map, bits) == bits;
}

#endif
