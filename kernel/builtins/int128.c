/* SPDX-License-Identifier: MIT */
/*
 * int128.c - what compilers call for integers: division and shifts of 128 bits, the arithmetic of -ftrapv, counts of bits for
 * code that may not use vector registers, and __clear_cache(). Their names and results are those of GCC's and LLVM's libraries.
 */
#include "float128.h"

/* --- Division of 128 bits --- */

u128 __udivmodti4(u128 a, u128 b, u128 *rest);
u128 __udivmodti4(u128 a, u128 b, u128 *rest)
{
	uint64_t high = (uint64_t)(a >> 64), top = (uint64_t)(b >> 64), quotient, left;

	if (!top) {
		const uint64_t by = (uint64_t)b;
		uint64_t quotient_high = 0;

		if (high >= by) {
			/* By 0 too, for which the CPU has 0. */
			quotient_high = high / by;
			high -= quotient_high * by;
		}
		if (!high || !by) {
			quotient = (uint64_t)a / by;
			left = (uint64_t)a - quotient * by;
		} else {
			quotient = divide_words(high, (uint64_t)a, by, &left);
		}
		*rest = by ? left : a;
		return (u128)quotient_high << 64 | quotient;
	}
	if (a < b) {
		*rest = a;
		return 0;
	}
	/* The first word of b alone gives a quotient that is right, or 1 too large. */
	const int shift = __builtin_clzll(top);

	quotient = divide_words(high >> 1, (uint64_t)(a >> 1), (uint64_t)(b << shift >> 64), &left);
	quotient >>= 63 - shift;
	if (quotient)
		quotient--;
	a -= quotient * b;
	if (a >= b) {
		a -= b;
		quotient++;
	}
	*rest = a;
	return quotient;
}

u128 __udivti3(u128 a, u128 b);
u128 __udivti3(u128 a, u128 b)
{
	u128 rest;

	return __udivmodti4(a, b, &rest);
}

u128 __umodti3(u128 a, u128 b);
u128 __umodti3(u128 a, u128 b)
{
	u128 rest;

	__udivmodti4(a, b, &rest);
	return rest;
}

static inline u128 magnitude(s128 value)
{
	return value < 0 ? -(u128)value : (u128)value;
}

s128 __divmodti4(s128 a, s128 b, s128 *rest);
s128 __divmodti4(s128 a, s128 b, s128 *rest)
{
	u128 left, quotient = __udivmodti4(magnitude(a), magnitude(b), &left);

	*rest = (s128)(a < 0 ? -left : left);
	return (s128)((a < 0) != (b < 0) ? -quotient : quotient);
}

s128 __divti3(s128 a, s128 b);
s128 __divti3(s128 a, s128 b)
{
	s128 rest;

	return __divmodti4(a, b, &rest);
}

s128 __modti3(s128 a, s128 b);
s128 __modti3(s128 a, s128 b)
{
	s128 rest;

	__divmodti4(a, b, &rest);
	return rest;
}

/* --- Arithmetic that knows of overflow --- */

/* By hand: for the compiler's builtin Clang calls this function. */
s128 __muloti4(s128 a, s128 b, int *overflow);
s128 __muloti4(s128 a, s128 b, int *overflow)
{
	const u128 x = magnitude(a), y = magnitude(b);
	const uint64_t x_high = (uint64_t)(x >> 64), y_high = (uint64_t)(y >> 64);
	const u128 cross = (u128)x_high * (uint64_t)y + (u128)y_high * (uint64_t)x;
	const u128 low = (u128)(uint64_t)x * (uint64_t)y;
	const bool negative = (a < 0) != (b < 0);
	u128 product = low + (cross << 64);

	*overflow = (x_high && y_high) || cross >> 64 || product < low ||
		    product > ((u128)1 << 127) - !negative;
	return (s128)(negative ? -product : product);
}

static inline bool multiply_int32_t(int32_t a, int32_t b, int32_t *result)
{
	return __builtin_mul_overflow(a, b, result);
}

static inline bool multiply_int64_t(int64_t a, int64_t b, int64_t *result)
{
	return __builtin_mul_overflow(a, b, result);
}

static inline bool multiply_s128(s128 a, s128 b, s128 *result)
{
	int overflow;

	*result = __muloti4(a, b, &overflow);
	return overflow;
}

#define DEFINE_TRAPPING(type, letters)                     \
	type __addv##letters##3(type a, type b);           \
	type __addv##letters##3(type a, type b)            \
	{                                                  \
		type result;                               \
                                                           \
		if (__builtin_add_overflow(a, b, &result)) \
			__builtin_trap();                  \
		return result;                             \
	}                                                  \
	type __subv##letters##3(type a, type b);           \
	type __subv##letters##3(type a, type b)            \
	{                                                  \
		type result;                               \
                                                           \
		if (__builtin_sub_overflow(a, b, &result)) \
			__builtin_trap();                  \
		return result;                             \
	}                                                  \
	type __mulv##letters##3(type a, type b);           \
	type __mulv##letters##3(type a, type b)            \
	{                                                  \
		type result;                               \
                                                           \
		if (multiply_##type(a, b, &result))        \
			__builtin_trap();                  \
		return result;                             \
	}                                                  \
	type __negv##letters##2(type a);                   \
	type __negv##letters##2(type a)                    \
	{                                                  \
		return __subv##letters##3(0, a);           \
	}                                                  \
	type __absv##letters##2(type a);                   \
	type __absv##letters##2(type a)                    \
	{                                                  \
		return a < 0 ? __negv##letters##2(a) : a;  \
	}

DEFINE_TRAPPING(int32_t, si)
DEFINE_TRAPPING(int64_t, di)
DEFINE_TRAPPING(s128, ti)

/* --- Shifts of 128 bits by a number from 0 to 127 that is not constant --- */

/* Clang and GCC 12 shift in line, GCC 14 calls these. They shift halves, or they would call themselves. */
static inline u128 words(uint64_t high, uint64_t low)
{
	return (u128)high << 64 | low;
}

u128 __ashlti3(u128 a, int by);
u128 __ashlti3(u128 a, int by)
{
	const uint64_t high = (uint64_t)(a >> 64), low = (uint64_t)a;

	if (by >= 64)
		return words(low << (by - 64), 0);
	return by ? words(high << by | low >> (64 - by), low << by) : a;
}

u128 __lshrti3(u128 a, int by);
u128 __lshrti3(u128 a, int by)
{
	const uint64_t high = (uint64_t)(a >> 64), low = (uint64_t)a;

	if (by >= 64)
		return high >> (by - 64);
	return by ? words(high >> by, low >> by | high << (64 - by)) : a;
}

s128 __ashrti3(s128 a, int by);
s128 __ashrti3(s128 a, int by)
{
	const int64_t high = (int64_t)(a >> 64);
	const uint64_t low = (uint64_t)a;

	if (by >= 64)
		return high >> (by - 64);
	return by ? (s128)words((uint64_t)(high >> by), low >> by | (uint64_t)high << (64 - by))
		  : a;
}

/* --- Counts of bits --- */

/* @of_64, @of_128: expressions of `value`; `low` and `high` are its halves. */
#define DEFINE_COUNT(name, of_64, of_128)                                             \
	int __##name##di2(uint64_t value);                                            \
	int __##name##di2(uint64_t value)                                             \
	{                                                                             \
		return of_64;                                                         \
	}                                                                             \
	int __##name##ti2(u128 value);                                                \
	int __##name##ti2(u128 value)                                                 \
	{                                                                             \
		const uint64_t low = (uint64_t)value, high = (uint64_t)(value >> 64); \
                                                                                      \
		return of_128;                                                        \
	}

/* Without vector registers a compiler would make a call of __popcountdi2() of its own builtin. */
static inline int ones(uint64_t value)
{
	value -= value >> 1 & 0x5555555555555555;
	value = (value & 0x3333333333333333) + (value >> 2 & 0x3333333333333333);
	value = (value + (value >> 4)) & 0x0f0f0f0f0f0f0f0f;
	return (int)(value * 0x0101010101010101 >> 56);
}

DEFINE_COUNT(popcount, ones(value), ones(low) + ones(high))
DEFINE_COUNT(parity, ones(value) & 1, ones(low ^ high) & 1)
DEFINE_COUNT(clz, __builtin_clzll(value), high ? __builtin_clzll(high) : 64 + __builtin_clzll(low))
DEFINE_COUNT(ctz, __builtin_ctzll(value), low ? __builtin_ctzll(low) : 64 + __builtin_ctzll(high))
DEFINE_COUNT(ffs, value ? __builtin_ctzll(value) + 1 : 0,
	     low    ? __builtin_ctzll(low) + 1
	     : high ? __builtin_ctzll(high) + 65
		    : 0)

/* --- Code that was written just now --- */

void __clear_cache(void *start, void *end);
void __clear_cache(void *start, void *end)
{
	arch_sync_code((uint64_t)start, (uint64_t)end);
}
