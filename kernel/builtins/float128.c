/* SPDX-License-Identifier: MIT */
/*
 * float128.c - what compilers call for arithmetic and comparisons of long double: __addtf3() and its relatives. Their
 * names and results are those of GCC's and LLVM's libraries.
 */
#include "float128.h"

f128 __addtf3(f128 a, f128 b);
f128 __subtf3(f128 a, f128 b);
f128 __multf3(f128 a, f128 b);
f128 __divtf3(f128 a, f128 b);
f128 __negtf2(f128 a);
int __eqtf2(f128 a, f128 b);
int __netf2(f128 a, f128 b);
int __lttf2(f128 a, f128 b);
int __letf2(f128 a, f128 b);
int __gttf2(f128 a, f128 b);
int __getf2(f128 a, f128 b);
int __unordtf2(f128 a, f128 b);

static inline f128 add(u128 a, u128 b)
{
	u128 sign, difference, larger, smaller;
	int exp, exp_b, shift;

	if (__builtin_expect(exponent_of(a) == EXP_MAX || exponent_of(b) == EXP_MAX, 0)) {
		if (is_nan(a) || is_nan(b))
			return nan_of(a, b);
		if (exponent_of(a) != EXP_MAX)
			return from_bits(b);
		/* The difference of two infinities. */
		if (exponent_of(b) == EXP_MAX && a != b)
			return invalid();
		return from_bits(a);
	}
	if ((a & ~SIGN_BIT) < (b & ~SIGN_BIT)) {
		u128 other = a;

		a = b;
		b = other;
	}
	sign = a & SIGN_BIT;
	difference = (a ^ b) & SIGN_BIT;
	exp = exponent_of(a);
	exp_b = exponent_of(b);
	larger = (a & (IMPLICIT - 1)) | (exp ? IMPLICIT : 0);
	smaller = (b & (IMPLICIT - 1)) | (exp_b ? IMPLICIT : 0);
	exp += !exp;
	exp_b += !exp_b;
	larger <<= EXTRA_BITS;
	smaller = shift_right_sticky(smaller << EXTRA_BITS, (unsigned int)(exp - exp_b));
	if (!difference) {
		larger += smaller;
		if (larger >> (FRACTION_BITS + EXTRA_BITS + 1)) {
			larger = shift_right_sticky(larger, 1);
			exp++;
		}
		return rounded_quad(sign != 0, exp, larger);
	}
	larger -= smaller;
	if (!larger)
		return from_bits(arch_rounding() == DOWN ? SIGN_BIT : 0);
	shift = leading_zeros(larger) - (127 - FRACTION_BITS - EXTRA_BITS);
	/* A number that is too small for a first bit of its own stays where it is: nothing of it is lost. */
	if (shift >= exp)
		shift = exp - 1;
	return rounded_quad(sign != 0, exp - shift, larger << shift);
}

f128 __addtf3(f128 a, f128 b)
{
	return add(bits_of(a), bits_of(b));
}

f128 __subtf3(f128 a, f128 b)
{
	u128 bits = bits_of(b);

	/* A NaN keeps its sign. */
	return add(bits_of(a), is_nan(bits) ? bits : bits ^ SIGN_BIT);
}

f128 __negtf2(f128 a)
{
	return from_bits(bits_of(a) ^ SIGN_BIT);
}

/* The product of two numbers of 128 bits. Return: its upper half; its lower one only says whether it is 0. */
static inline u128 multiply(u128 a, u128 b, bool *rest)
{
	const uint64_t a_low = (uint64_t)a, a_high = (uint64_t)(a >> 64);
	const uint64_t b_low = (uint64_t)b, b_high = (uint64_t)(b >> 64);
	const u128 low = (u128)a_low * b_low;
	const u128 cross = (u128)a_high * b_low + (low >> 64);
	const u128 other = (u128)a_low * b_high + (uint64_t)cross;

	*rest = ((uint64_t)low | (uint64_t)other) != 0;
	return (u128)a_high * b_high + (cross >> 64) + (other >> 64);
}

f128 __multf3(f128 first, f128 second)
{
	u128 a = bits_of(first), b = bits_of(second), sign = (a ^ b) & SIGN_BIT, product;
	const int up = 127 - FRACTION_BITS;
	int exp_a, exp_b, shift;
	bool rest;

	if (__builtin_expect(exponent_of(a) == EXP_MAX || exponent_of(b) == EXP_MAX, 0)) {
		if (is_nan(a) || is_nan(b))
			return nan_of(a, b);
		if (!(a & ~SIGN_BIT) || !(b & ~SIGN_BIT))
			return invalid();
		return from_bits(INFINITY_BITS | sign);
	}
	if (!(a & ~SIGN_BIT) || !(b & ~SIGN_BIT))
		return from_bits(sign);
	a = normalized(a, &exp_a);
	b = normalized(b, &exp_b);
	product = multiply(a << up, b << up, &rest);
	/* The product of two numbers from 1 to 2 lies between 1 and 4, so its first bit is the highest or the next. */
	shift = up - EXTRA_BITS - 1 + (int)(product >> 127);
	return rounded_quad(sign != 0, exp_a + exp_b - BIAS + (int)(product >> 127),
			    shift_right_sticky(product, (unsigned int)shift) | rest);
}

/* The next 64 bits of *@rest / @by, where *@rest is less than @by, whose highest bit is 1. */
static inline uint64_t next_digit(u128 *rest, u128 by)
{
	const uint64_t top = (uint64_t)(by >> 64), bottom = (uint64_t)by;
	uint64_t high = (uint64_t)(*rest >> 64), digit, left;
	u128 over;

	if (high >= top) {
		digit = UINT64_MAX;
		over = (u128)(uint64_t)*rest + top;
	} else {
		digit = divide_words(high, (uint64_t)*rest, top, &left);
		over = left;
	}
	while (!(over >> 64) && (u128)digit * bottom > over << 64) {
		digit--;
		over += top;
	}
	*rest = (*rest << 64) - digit * by;
	return digit;
}

f128 __divtf3(f128 first, f128 second)
{
	u128 a = bits_of(first), b = bits_of(second), sign = (a ^ b) & SIGN_BIT, rest, quotient;
	const int up = 127 - FRACTION_BITS;
	int exp_a, exp_b;

	if (__builtin_expect(exponent_of(a) == EXP_MAX || exponent_of(b) == EXP_MAX, 0)) {
		if (is_nan(a) || is_nan(b))
			return nan_of(a, b);
		if (exponent_of(b) != EXP_MAX)
			return from_bits(INFINITY_BITS | sign);
		return exponent_of(a) == EXP_MAX ? invalid() : from_bits(sign);
	}
	if (!(b & ~SIGN_BIT)) {
		if (!(a & ~SIGN_BIT))
			return invalid();
		arch_raise_float(FLOAT_BY_ZERO);
		return from_bits(INFINITY_BITS | sign);
	}
	if (!(a & ~SIGN_BIT))
		return from_bits(sign);
	a = normalized(a, &exp_a);
	b = normalized(b, &exp_b);
	exp_a -= exp_b - BIAS;
	if (a < b) {
		exp_a--;
		a <<= 1;
	}
	/* Half of the quotient, which is from 1 to 2, has no integer part, and its first bit is the highest. */
	rest = a << (up - 1);
	b <<= up;
	quotient = (u128)next_digit(&rest, b) << 64;
	quotient |= next_digit(&rest, b);
	return rounded_quad(sign != 0, exp_a,
			    shift_right_sticky(quotient, up - EXTRA_BITS) | (rest != 0));
}

/* --- Comparisons --- */

/* Numbers as integers of the same order. */
static inline s128 ordered(u128 bits)
{
	return bits & SIGN_BIT ? -(s128)(bits & ~SIGN_BIT) : (s128)bits;
}

/* -1, 0 or 1; @unordered if one of them is a NaN. @signals: whether any NaN is an exception. */
static inline int compare(f128 first, f128 second, int unordered, bool signals)
{
	u128 a = bits_of(first), b = bits_of(second);
	s128 x, y;

	if (__builtin_expect(is_nan(a) || is_nan(b), 0)) {
		if (signals || is_signaling(a) || is_signaling(b))
			arch_raise_float(FLOAT_INVALID);
		return unordered;
	}
	x = ordered(a);
	y = ordered(b);
	return (x > y) - (x < y);
}

int __eqtf2(f128 a, f128 b)
{
	return compare(a, b, 1, false);
}

int __netf2(f128 a, f128 b)
{
	return compare(a, b, 1, false);
}

int __lttf2(f128 a, f128 b)
{
	return compare(a, b, 2, true);
}

int __letf2(f128 a, f128 b)
{
	return compare(a, b, 2, true);
}

int __gttf2(f128 a, f128 b)
{
	return compare(a, b, -2, true);
}

int __getf2(f128 a, f128 b)
{
	return compare(a, b, -2, true);
}

int __unordtf2(f128 a, f128 b)
{
	return compare(a, b, 2, false) == 2;
}
