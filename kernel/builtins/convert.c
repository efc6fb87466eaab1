/* SPDX-License-Identifier: MIT */
/*
 * convert.c - what compilers call for conversions of long double, and of integers of 128 bits to and from floating
 * point. Their names and results are those of GCC's and LLVM's libraries.
 */
#include "float128.h"

/* --- Between long double and the CPU's own formats --- */

static inline f128 widened(uint64_t bits, struct format from)
{
	const int up = FRACTION_BITS - from.fraction_bits;
	const uint64_t exp_max = ((uint64_t)1 << from.exp_bits) - 1;
	const int bias = (int)(exp_max >> 1);
	const u128 sign = bits >> (from.fraction_bits + from.exp_bits) & 1 ? SIGN_BIT : 0;
	const uint64_t fraction = bits & (((uint64_t)1 << from.fraction_bits) - 1);
	const uint64_t exp = bits >> from.fraction_bits & exp_max;
	u128 shifted = (u128)fraction << up;
	int shift;

	if (exp == exp_max) {
		if (fraction && !(shifted & QUIET_BIT))
			arch_raise_float(FLOAT_INVALID);
		return from_bits(sign | INFINITY_BITS | shifted | (fraction ? QUIET_BIT : 0));
	}
	if (exp)
		return from_bits(sign | (u128)(exp + (unsigned int)(BIAS - bias)) << FRACTION_BITS |
				 shifted);
	if (!fraction)
		return from_bits(sign);
	shift = leading_zeros(shifted) - (127 - FRACTION_BITS);
	shifted <<= shift;
	return from_bits(sign |
			 (((u128)(unsigned int)(BIAS - bias - shift) << FRACTION_BITS) + shifted));
}

static inline uint64_t narrowed(f128 value, struct format to)
{
	const u128 bits = bits_of(value);
	const u128 fraction = bits & (IMPLICIT - 1);
	const int down = FRACTION_BITS - to.fraction_bits;
	const bool negative = bits >> 127;
	const uint64_t sign = (uint64_t)negative << (to.fraction_bits + to.exp_bits);
	int exp = exponent_of(bits);

	if (exp == EXP_MAX) {
		const uint64_t infinity = (((uint64_t)1 << to.exp_bits) - 1) << to.fraction_bits;

		if (is_signaling(bits))
			arch_raise_float(FLOAT_INVALID);
		return sign | infinity |
		       (uint64_t)((fraction | (fraction ? QUIET_BIT : 0)) >> down);
	}
	if (!(bits & ~SIGN_BIT))
		return sign;
	/* The smallest numbers of a long double are far below those of the others: a first bit that is not there does no harm. */
	return (uint64_t)rounded(
		negative, exp - BIAS + bias_of(to),
		shift_right_sticky(fraction | IMPLICIT, (unsigned int)(down - EXTRA_BITS)), to);
}

#define DEFINE_FORMAT(type, letters, integer, format)                \
	f128 __extend##letters##tf2(type value);                     \
	f128 __extend##letters##tf2(type value)                      \
	{                                                            \
		union {                                              \
			type value;                                  \
			integer bits;                                \
		} both = {.value = value};                           \
                                                                     \
		return widened(both.bits, format);                   \
	}                                                            \
	type __trunctf##letters##2(f128 value);                      \
	type __trunctf##letters##2(f128 value)                       \
	{                                                            \
		union {                                              \
			integer bits;                                \
			type value;                                  \
		} both = {.bits = (integer)narrowed(value, format)}; \
                                                                     \
		return both.value;                                   \
	}

#ifdef ARCH_FLOAT16
DEFINE_FORMAT(_Float16, hf, uint16_t, HALF)
#endif
DEFINE_FORMAT(float, sf, uint32_t, SINGLE)
DEFINE_FORMAT(double, df, uint64_t, DOUBLE)

/* --- Between long double and integers --- */

/*
 * The integer part of @value, as a number of @bits bits. One that does not fit is the nearest that does, and an exception.
 */
static inline u128 integer_of(f128 value, unsigned int bits, bool is_signed)
{
	const u128 all = bits_of(value);
	const bool negative = all >> 127;
	const int exp = exponent_of(all) - BIAS;
	const u128 limit = is_signed  ? ((u128)1 << (bits - 1)) - !negative
			   : negative ? 0
				      : ~(u128)0 >> (128 - bits);
	const u128 significand = (all & (IMPLICIT - 1)) | IMPLICIT;
	u128 whole = 0;
	bool inexact;

	if (exp < 0) {
		inexact = (all & ~SIGN_BIT) != 0;
	} else {
		if (exp > 127 ||
		    (exp > FRACTION_BITS && significand >> (FRACTION_BITS + 127 - exp + 1)))
			goto too_large;
		if (exp <= FRACTION_BITS) {
			whole = significand >> (FRACTION_BITS - exp);
			inexact = exp < FRACTION_BITS &&
				  significand << (128 - FRACTION_BITS + exp) != 0;
		} else {
			whole = significand << (exp - FRACTION_BITS);
			inexact = false;
		}
		if (whole > limit)
			goto too_large;
	}
	if (inexact)
		arch_raise_float(FLOAT_INEXACT);
	return negative ? -whole : whole;
too_large:
	arch_raise_float(FLOAT_INVALID);
	return negative ? -limit : limit;
}

/* The bits of @magnitude, and its sign, in a format. */
static inline u128 from_integer(u128 magnitude, bool negative, struct format to)
{
	int zeros;

	if (!magnitude)
		return 0;
	zeros = leading_zeros(magnitude);
	/* One that fits is exact; its first bit adds 1 to the exponent. */
	if (zeros >= 127 - to.fraction_bits && 127 - zeros <= bias_of(to))
		return ((u128)negative << (to.fraction_bits + to.exp_bits)) +
		       ((u128)(unsigned int)(bias_of(to) + 126 - zeros) << to.fraction_bits) +
		       (magnitude << (zeros - (127 - to.fraction_bits)));
	return rounded(negative, bias_of(to) + 127 - zeros,
		       shift_right_sticky(magnitude << zeros,
					  (unsigned int)(127 - to.fraction_bits - EXTRA_BITS)),
		       to);
}

#define MAGNITUDE(value, type) ((value) < 0 ? -(type)(value) : (type)(value))

#define DEFINE_INTEGER(letters, bits, s_type, u_type)                                      \
	s_type __fixtf##letters(f128 value);                                               \
	s_type __fixtf##letters(f128 value)                                                \
	{                                                                                  \
		return (s_type)integer_of(value, bits, true);                              \
	}                                                                                  \
	u_type __fixunstf##letters(f128 value);                                            \
	u_type __fixunstf##letters(f128 value)                                             \
	{                                                                                  \
		return (u_type)integer_of(value, bits, false);                             \
	}                                                                                  \
	f128 __float##letters##tf(s_type value);                                           \
	f128 __float##letters##tf(s_type value)                                            \
	{                                                                                  \
		return from_bits(from_integer(MAGNITUDE(value, u_type), value < 0, QUAD)); \
	}                                                                                  \
	f128 __floatun##letters##tf(u_type value);                                         \
	f128 __floatun##letters##tf(u_type value)                                          \
	{                                                                                  \
		return from_bits(from_integer(value, false, QUAD));                        \
	}

DEFINE_INTEGER(si, 32, int32_t, uint32_t)
DEFINE_INTEGER(di, 64, int64_t, uint64_t)
DEFINE_INTEGER(ti, 128, s128, u128)

/* --- Between the CPU's own formats and integers of 128 bits --- */

#define DEFINE_128_BITS(type, letters, integer, format)                                    \
	static inline type to_##letters(integer bits)                                      \
	{                                                                                  \
		union {                                                                    \
			integer bits;                                                      \
			type value;                                                        \
		} both = {.bits = bits};                                                   \
                                                                                           \
		return both.value;                                                         \
	}                                                                                  \
	s128 __fix##letters##ti(type value);                                               \
	s128 __fix##letters##ti(type value)                                                \
	{                                                                                  \
		return integer_of(__extend##letters##tf2(value), 128, true);               \
	}                                                                                  \
	u128 __fixuns##letters##ti(type value);                                            \
	u128 __fixuns##letters##ti(type value)                                             \
	{                                                                                  \
		return integer_of(__extend##letters##tf2(value), 128, false);              \
	}                                                                                  \
	type __floatti##letters(s128 value);                                               \
	type __floatti##letters(s128 value)                                                \
	{                                                                                  \
		return to_##letters(                                                       \
			(integer)from_integer(MAGNITUDE(value, u128), value < 0, format)); \
	}                                                                                  \
	type __floatunti##letters(u128 value);                                             \
	type __floatunti##letters(u128 value)                                              \
	{                                                                                  \
		return to_##letters((integer)from_integer(value, false, format));          \
	}

#ifdef ARCH_FLOAT16
DEFINE_128_BITS(_Float16, hf, uint16_t, HALF)
#endif
DEFINE_128_BITS(float, sf, uint32_t, SINGLE)
DEFINE_128_BITS(double, df, uint64_t, DOUBLE)
