/* SPDX-License-Identifier: MIT */
/*
 * compare.c - kernel/builtins against GCC's libgcc, whose functions have the prefix gcc_ here: the same bits and the same
 * exceptions, for random arguments, in all rounding modes. Random means that every part of a number is often special: exponents at
 * both ends, equal, or near to each other, and fractions of few ones, or of ones only.
 *
 * argv[1]: how many arguments for each function. Prints a line for each difference, at most 20, then "checked N".
 */
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 u128;
typedef __int128 s128;
typedef long double f128;

static uint64_t state = 0x9e3779b97f4a7c15;
static unsigned long differences, checks;

static uint64_t number(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1d;
}

/* Few ones or few zeros, at both ends as often as in the middle. */
static u128 pattern(void)
{
	u128 value = 0;

	switch (number() % 6) {
	case 0:
		return (u128)number() << 64 | number();
	case 1:
		return (u128)1 << number() % 128;
	case 2:
		return ~(u128)0 >> number() % 128;
	case 3:
		return ~(u128)0 << number() % 128;
	case 4:
		for (int i = number() % 4; i >= 0; i--)
			value ^= (u128)1 << number() % 128;
		return value;
	default:
		return ((u128)number() << 64 | number()) >> number() % 128;
	}
}

/* Bits of a number with @fraction bits of fraction and @exp bits of exponent. */
static u128 bits(int fraction, int exp, u128 near)
{
	uint64_t most = ((uint64_t)1 << exp) - 1, exponent;
	int top = number() % 12;

	switch (top) {
	case 0:
		exponent = 0;
		break;
	case 1:
		exponent = most;
		break;
	case 2:
		exponent = most - 1 - number() % 4;
		break;
	case 3:
		exponent = 1 + number() % 4;
		break;
	case 4:
	case 5:
	case 6:
	case 7:
		exponent = ((uint64_t)(near >> fraction) + number() % (2 * fraction + 6) -
			    fraction - 3) &
			   most;
		break;
	case 8:
		exponent = most / 2 + number() % 140 - 6;
		exponent &= most;
		break;
	default:
		exponent = number() & most;
	}
	u128 low = pattern() & (((u128)1 << fraction) - 1);

	if (number() % 8 == 0)
		low = near & (((u128)1 << fraction) - 1);
	if (number() % 8 == 0)
		low = 0;
	return low | (u128)exponent << fraction | (u128)(number() & 1) << (fraction + exp);
}

#define FLAGS (FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT)

/* libgcc takes some conversions for inexact or too small that are not. */
static int lax;

static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

static void show(const char *name, int mode, u128 a, u128 b, u128 ours, u128 theirs, int flags,
		 int gccs)
{
	if (differences++ >= 20)
		return;
	printf("%s mode %x a %016llx%016llx b %016llx%016llx ours %016llx%016llx/%x gcc "
	       "%016llx%016llx/%x\n",
	       name, mode >> 22, (long long)(a >> 64), (long long)a, (long long)(b >> 64),
	       (long long)b, (long long)(ours >> 64), (long long)ours, flags,
	       (long long)(theirs >> 64), (long long)theirs, gccs);
}

#define AS(type, value)                                                              \
	({                                                                           \
		__typeof__(value) value_ = (value);                                  \
		type as_;                                                            \
		memset(&as_, 0, sizeof(as_));                                        \
		memcpy(&as_, &value_,                                                \
		       sizeof(as_) < sizeof(value_) ? sizeof(as_) : sizeof(value_)); \
		as_;                                                                 \
	})

/* Both functions, and what they leave in FPSR. @same: for the two results. */
#define COMPARE(name, mode, call, gcc_call, a, b, same)                \
	do {                                                           \
		feclearexcept(FE_ALL_EXCEPT);                          \
		__typeof__(call) ours_ = call;                         \
		int flags_ = fetestexcept(FLAGS);                      \
		feclearexcept(FE_ALL_EXCEPT);                          \
		__typeof__(call) theirs_ = gcc_call;                   \
		int gccs_ = fetestexcept(FLAGS);                       \
		u128 x_ = AS(u128, ours_), y_ = AS(u128, theirs_);     \
		checks++;                                              \
		if (!(same) || ((flags_ ^ gccs_) & ~lax))              \
			show(name, mode, a, b, x_, y_, flags_, gccs_); \
	} while (0)

#define SAME (x_ == y_)
/* Of __eqtf2() and __netf2() it counts whether it is 0, of the others its sign. */
#define SIGN(name, x)                                                  \
	(name[2] == 'e' || name[2] == 'n' || name[2] == 'u' ? (x) != 0 \
							    : ((int)(x) > 0) - ((int)(x) < 0))

#define BINARY(result, name, type) \
	result name(type, type);   \
	result gcc_##name(type, type);
#define UNARY(result, name, type) \
	result name(type);        \
	result gcc_##name(type);

#define ALL_F128(X) X(__addtf3) X(__subtf3) X(__multf3) X(__divtf3)
#define ALL_COMPARISONS(X) \
	X(__eqtf2) X(__netf2) X(__lttf2) X(__letf2) X(__gttf2) X(__getf2) X(__unordtf2)
#define ALL_DIVISIONS(X, Y) X(__udivti3) X(__umodti3) Y(__divti3) Y(__modti3)
#define ALL_SHIFTS(X)	    X(u128, __ashlti3) X(u128, __lshrti3) X(s128, __ashrti3)
#define ALL_FROM_F128(X)          \
	X(int32_t, __fixtfsi)     \
	X(int64_t, __fixtfdi)     \
	X(s128, __fixtfti)        \
	X(uint32_t, __fixunstfsi) \
	X(uint64_t, __fixunstfdi) \
	X(u128, __fixunstfti)     \
	X(_Float16, __trunctfhf2) X(float, __trunctfsf2) X(double, __trunctfdf2)
#define ALL_TO_F128(X)          \
	X(int32_t, __floatsitf) \
	X(int64_t, __floatditf) \
	X(s128, __floattitf)    \
	X(uint32_t, __floatunsitf) X(uint64_t, __floatunditf) X(u128, __floatuntitf)
#define ALL_TO_SMALL(X)                  \
	X(_Float16, s128, __floattihf)   \
	X(float, s128, __floattisf)      \
	X(double, s128, __floattidf)     \
	X(_Float16, u128, __floatuntihf) \
	X(float, u128, __floatuntisf) X(double, u128, __floatuntidf)

#define D(name) BINARY(f128, name, f128)
ALL_F128(D)
#undef D
#define D(name) BINARY(int, name, f128)
ALL_COMPARISONS(D)
#undef D
#define D(name) BINARY(u128, name, u128)
#define E(name) BINARY(s128, name, s128)
ALL_DIVISIONS(D, E)
#undef D
#undef E
#define D(type, name) type name(type, int), gcc_##name(type, int);
ALL_SHIFTS(D)
#undef D
#define D(type, name) UNARY(type, name, f128)
ALL_FROM_F128(D)
#undef D
#define D(type, name) UNARY(f128, name, type)
ALL_TO_F128(D)
D(_Float16, __extendhftf2)
D(float, __extendsftf2)
D(double, __extenddftf2)
#undef D
#define D(to, type, name) UNARY(to, name, type)
ALL_TO_SMALL(D)
#undef D
UNARY(s128, __fixhfti, _Float16)
UNARY(s128, __fixsfti, float)
UNARY(s128, __fixdfti, double)
UNARY(u128, __fixunshfti, _Float16)
UNARY(u128, __fixunssfti, float)
UNARY(u128, __fixunsdfti, double)
float __powisf2(float, int), gcc___powisf2(float, int);
double __powidf2(double, int), gcc___powidf2(double, int);
f128 __powitf2(f128, int), gcc___powitf2(f128, int);

/* Products are libgcc's bit for bit. Quotients are calculated in another order: near each other, and special together. */
#define COMPLEX(type, letters, epsilon)                                                            \
	type _Complex __mul##letters##3(type, type, type, type),                                   \
		gcc___mul##letters##3(type, type, type, type);                                     \
	type _Complex __div##letters##3(type, type, type, type),                                   \
		gcc___div##letters##3(type, type, type, type);                                     \
	static void complex_##letters(type a, type b, type c, type d)                              \
	{                                                                                          \
		type _Complex ours = __mul##letters##3(a, b, c, d),                                \
			      theirs = gcc___mul##letters##3(a, b, c, d);                          \
		type size, x, y;                                                                   \
                                                                                                   \
		checks += 2;                                                                       \
		if (!alike(__real__ ours, __real__ theirs, 0) ||                                   \
		    !alike(__imag__ ours, __imag__ theirs, 0))                                     \
			show("mul" #letters, 0, AS(u128, a), AS(u128, c), AS(u128, __real__ ours), \
			     AS(u128, __real__ theirs), 0, 0);                                     \
		ours = __div##letters##3(a, b, c, d);                                              \
		theirs = gcc___div##letters##3(a, b, c, d);                                        \
		x = __builtin_fabsl(__real__ theirs);                                              \
		y = __builtin_fabsl(__imag__ theirs);                                              \
		size = x > y ? x : y;                                                              \
		if (!alike(__real__ ours, __real__ theirs, (f128)size * epsilon) ||                \
		    !alike(__imag__ ours, __imag__ theirs, (f128)size * epsilon))                  \
			show("div" #letters, 0, AS(u128, a), AS(u128, c), AS(u128, __real__ ours), \
			     AS(u128, __real__ theirs), 0, 0);                                     \
	}

static int alike(f128 x, f128 y, f128 distance)
{
	if (x != x || y != y)
		return x != x && y != y;
	if (x == y)
		return 1;
	return (x > y ? x - y : y - x) <= distance;
}

COMPLEX(float, sc, 0x1p-20L)
COMPLEX(double, dc, 0x1p-48L)
COMPLEX(long double, tc, 0x1p-108L)

/* One of 12 is special, the others are of a size whose products and quotients are ordinary numbers. */
static f128 some(void)
{
	static const f128 special[] = {0, -0.0L, INFINITY, -INFINITY, NAN, 1};
	f128 value = (f128)(int64_t)number();

	return number() % 12 ? value * 0x1p-50L : special[number() % 6];
}

static void complex_numbers(void)
{
	f128 a = some(), b = some(), c = some(), d = some();

	complex_sc(a, b, c, d);
	complex_dc(a, b, c, d);
	complex_tc(a, b, c, d);
}

static void one_round(void)
{
	u128 a = bits(112, 15, pattern()), b = bits(112, 15, a), i = pattern(), j = pattern();

	for (int k = 0; k < 4; k++) {
		int mode = modes[k];

		fesetround(mode);
#define T(name)                                                                                    \
	COMPARE(#name, mode, name(AS(f128, a), AS(f128, b)), gcc_##name(AS(f128, a), AS(f128, b)), \
		a, b, SAME);
		ALL_F128(T)
#undef T
#define T(name)                                                                                    \
	COMPARE(#name, mode, name(AS(f128, a), AS(f128, b)), gcc_##name(AS(f128, a), AS(f128, b)), \
		a, b, SIGN(#name, ours_) == SIGN(#name, theirs_));
		ALL_COMPARISONS(T)
#undef T
#define T(type, name) COMPARE(#name, mode, name(AS(f128, b)), gcc_##name(AS(f128, b)), b, 0, SAME);
		ALL_FROM_F128(T)
#undef T
#define T(type, name) COMPARE(#name, mode, name((type)i), gcc_##name((type)i), i, 0, SAME);
		ALL_TO_F128(T)
#undef T
#define T(to, type, name) COMPARE(#name, mode, name((type)i), gcc_##name((type)i), i, 0, SAME);
		ALL_TO_SMALL(T)
#undef T
		uint16_t half = bits(10, 5, i);
		uint32_t single = bits(23, 8, i);
		uint64_t wide = bits(52, 11, i);
#define T(name, type, value) \
	COMPARE(#name, mode, name(AS(type, value)), gcc_##name(AS(type, value)), value, 0, SAME);
		T(__extendhftf2, _Float16, half)
		T(__extendsftf2, float, single)
		T(__extenddftf2, double, wide)
		/* Only what fits has a value that C knows. */
		f128 size = AS(double, wide);

		lax = FE_INEXACT | FE_UNDERFLOW;

		if (size < 0x1p127L && size > -0x1p127L) {
			T(__fixdfti, double, wide)
		}
		if (size < 0x1p128L && size > -1)
			T(__fixunsdfti, double, wide)
		size = AS(float, single);
		if (size < 0x1p127L && size > -0x1p127L)
			T(__fixsfti, float, single)
		if (size < 0x1p128L && size > -1)
			T(__fixunssfti, float, single)
		size = AS(_Float16, half);
		if (size < 0x1p127L && size > -0x1p127L)
			T(__fixhfti, _Float16, half)
		if (size < 0x1p128L && size > -1)
			T(__fixunshfti, _Float16, half)
#undef T
		lax = 0;
		int power = (int)(number() % 41) - 20;

		COMPARE("powisf", mode, __powisf2(AS(float, single), power),
			gcc___powisf2(AS(float, single), power), single, power, SAME);
		COMPARE("powidf", mode, __powidf2(AS(double, wide), power),
			gcc___powidf2(AS(double, wide), power), wide, power, SAME);
		COMPARE("powitf", mode, __powitf2(AS(f128, a), power),
			gcc___powitf2(AS(f128, a), power), a, power, SAME);
	}
	fesetround(FE_TONEAREST);
	complex_numbers();
	if (j) {
#define T(name) COMPARE(#name, 0, name(i, j), gcc_##name(i, j), i, j, SAME);
#define U(name)                                   \
	if ((s128)j != -1 || i != (u128)1 << 127) \
		COMPARE(#name, 0, name((s128)i, (s128)j), gcc_##name((s128)i, (s128)j), i, j, SAME);
		ALL_DIVISIONS(T, U)
#undef T
	}
	int by = (int)(number() % 128);

#define T(type, name) COMPARE(#name, 0, name((type)i, by), gcc_##name((type)i, by), i, by, SAME);
	ALL_SHIFTS(T)
#undef T
}

int main(int argc, char **argv)
{
	for (long rounds = atol(argv[1]); rounds; rounds--)
		one_round();
	printf("checked %lu, different %lu\n", checks, differences);
	return differences != 0;
}
