/* SPDX-License-Identifier: MIT */
/*
 * float128.h - a long double that is IEEE 754's binary128, as on arm64 and RISC-V, taken to pieces and put together: for the
 * functions that a compiler calls to calculate with it.
 *
 * Rounding follows the CPU's mode and exceptions go to its flags, as with the CPU's own arithmetic, so <fenv.h> holds for
 * long double too. The functions are tested bit for bit against GCC's: tests/builtins.
 */
#ifndef KERNEL_BUILTINS_FLOAT128_H
#define KERNEL_BUILTINS_FLOAT128_H

#include <asm/builtins.h>
#include <stdbool.h>
#include <stdint.h>

typedef unsigned __int128 u128;
typedef __int128 s128;
typedef long double f128;

#define FRACTION_BITS 112
#define BIAS	      16383
#define EXP_MAX	      0x7fff
#define IMPLICIT      ((u128)1 << FRACTION_BITS)
#define SIGN_BIT      ((u128)1 << 127)
#define INFINITY_BITS ((u128)EXP_MAX << FRACTION_BITS)
#define QUIET_BIT     ((u128)1 << (FRACTION_BITS - 1))

/* A significand that waits for its rounding has three bits more: two exact ones, and one that says whether anything
 * else was lost. */
#define EXTRA_BITS 3

static inline u128 bits_of(f128 value)
{
	union {
		f128 value;
		u128 bits;
	} both = {.value = value};

	return both.bits;
}

static inline f128 from_bits(u128 bits)
{
	union {
		u128 bits;
		f128 value;
	} both = {.bits = bits};

	return both.value;
}

static inline int leading_zeros(u128 value)
{
	uint64_t high = (uint64_t)(value >> 64);

	return high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)value);
}

/* @value >> @count; the lowest bit is set as well if a 1 was shifted out. */
static inline u128 shift_right_sticky(u128 value, unsigned int count)
{
	if (count == 0)
		return value;
	if (count > 127)
		return value != 0;
	return value >> count | (value << (128 - count) != 0);
}

static inline bool is_nan(u128 bits)
{
	return (bits & ~SIGN_BIT) > INFINITY_BITS;
}

static inline bool is_signaling(u128 bits)
{
	return is_nan(bits) && !(bits & QUIET_BIT);
}

static inline int exponent_of(u128 bits)
{
	return (int)(bits >> FRACTION_BITS) & EXP_MAX;
}

/* The significand of a number that is not 0, its first bit at FRACTION_BITS. *exp: its biased exponent. */
static inline u128 normalized(u128 bits, int *exp)
{
	u128 fraction = bits & (IMPLICIT - 1);
	int shift;

	*exp = exponent_of(bits);
	if (*exp)
		return fraction | IMPLICIT;
	shift = leading_zeros(fraction) - (127 - FRACTION_BITS);
	*exp = 1 - shift;
	return fraction << shift;
}

/* The result of an operation with at least one NaN: a signaling operand goes before a quiet one, the first before
 * the second. */
static inline f128 nan_of(u128 a, u128 b)
{
	u128 nan = a;

	if (is_signaling(a) || is_signaling(b)) {
		arch_raise_float(FLOAT_INVALID);
		nan = is_signaling(a) ? a : b;
	} else if (!is_nan(a)) {
		nan = b;
	}
	return from_bits(nan | QUIET_BIT);
}

/* No number is right: libgcc's NaN. */
static inline f128 invalid(void)
{
	arch_raise_float(FLOAT_INVALID);
	return from_bits(INFINITY_BITS | (IMPLICIT - 1));
}

/* A format of IEEE 754. */
struct format {
	int fraction_bits;
	int exp_bits;
};

#define HALF   ((struct format){10, 5})
#define SINGLE ((struct format){23, 8})
#define DOUBLE ((struct format){52, 11})
#define QUAD   ((struct format){FRACTION_BITS, 15})

static inline int bias_of(struct format format)
{
	return (1 << (format.exp_bits - 1)) - 1;
}

/* What the last bit of @significand gains when its extra bits are rounded off. */
static inline unsigned int round_up(bool negative, u128 significand)
{
	const unsigned int half = 1U << (EXTRA_BITS - 1);
	const unsigned int lost = (unsigned int)significand & (2 * half - 1);

	switch (arch_rounding()) {
	case NEAREST:
		return lost > half || (lost == half && (significand >> EXTRA_BITS & 1));
	case UP:
		return lost && !negative;
	case DOWN:
		return lost && negative;
	default:
		return 0;
	}
}

/*
 * The bits of a number of @significand, rounded to a format. The first bit of @significand is that of the format's and
 * EXTRA_BITS further left, with the biased exponent @exp, which may be out of range; at @exp 1 it may be further right.
 */
static inline __attribute__((always_inline)) u128 rounded(bool negative, int exp, u128 significand,
							  struct format format)
{
	const int exp_max = (1 << format.exp_bits) - 1;
	const u128 sign = (u128)negative << (format.fraction_bits + format.exp_bits);
	unsigned int flags = FLOAT_INEXACT;
	u128 result;

	if (__builtin_expect(exp <= 0, 0)) {
		significand = shift_right_sticky(significand, (unsigned int)(1 - exp));
		exp = 1;
		flags = FLOAT_INEXACT | FLOAT_UNDERFLOW;
	}
	result = significand >> EXTRA_BITS;
	if (significand & ((1U << EXTRA_BITS) - 1))
		result += round_up(negative, significand);
	else
		flags = 0;
	/* The first bit adds 1 to the exponent, and so does a carry into the next. */
	if (__builtin_expect(exp - 1 + (int)(result >> format.fraction_bits) >= exp_max, 0)) {
		enum rounding mode = arch_rounding();
		bool to_largest = mode == TO_ZERO || mode == (negative ? UP : DOWN);

		arch_raise_float(FLOAT_OVERFLOW | FLOAT_INEXACT);
		return (((u128)(unsigned int)exp_max << format.fraction_bits) - to_largest) | sign;
	}
	if (flags)
		arch_raise_float(flags);
	return (((u128)(unsigned int)(exp - 1) << format.fraction_bits) + result) | sign;
}

static inline f128 rounded_quad(bool negative, int exp, u128 significand)
{
	return from_bits(rounded(negative, exp, significand, QUAD));
}

/* (@high:@low) / @by, which is more than @high. *rest: what is left. */
static inline uint64_t divide_words(uint64_t high, uint64_t low, uint64_t by, uint64_t *rest)
{
	const int shift = __builtin_clzll(by);
	const uint64_t half = (uint64_t)1 << 32;
	uint64_t top, bottom, quotient[2];

	/* By halves of a word, as on paper: a half of the quotient is tried, and is at most 2 too large. */
	by <<= shift;
	top = by >> 32;
	bottom = by & (half - 1);
	if (shift)
		high = high << shift | low >> (64 - shift);
	low <<= shift;
	for (int i = 0; i < 2; i++) {
		uint64_t next = i ? low & (half - 1) : low >> 32;
		uint64_t digit = high / top, left = high % top;

		while (digit >= half || digit * bottom > (left << 32 | next)) {
			digit--;
			left += top;
			if (left >= half)
				break;
		}
		quotient[i] = digit;
		high = (high << 32 | next) - digit * by;
	}
	*rest = high >> shift;
	return quotient[0] << 32 | quotient[1];
}

#endif /* KERNEL_BUILTINS_FLOAT128_H */
