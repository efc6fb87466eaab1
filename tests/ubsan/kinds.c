/* SPDX-License-Identifier: MIT */
/*
 * kinds.c - one function for each kind of undefined behaviour that UBSan finds, each with one report.
 *
 * The suite ubsan compiles it with each compiler and in each form of UBSan, and compares the reports with golden ones.
 * Without arguments all cases run, except those after which no program can go on. Each prints its name before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The compilers must not know a value, or they leave the operation out. */
#define HIDE(type, value)                                           \
	({                                                          \
		type hidden_ = (value);                             \
		__asm__ volatile("" : : "r"(&hidden_) : "memory"); \
		hidden_;                                            \
	})
#define INT(value)	HIDE(int, value)
#define POINTER(value)	HIDE(char *, (char *)(value))
#define USE(expression) ((void)HIDE(__typeof__(expression), expression))
#define CASE(name)	static __attribute__((noinline)) void name(void)

struct pair {
	int a, b;
};

static char memory[64] __attribute__((aligned(16)));

/* --- Integers --- */

CASE(add) { USE(INT(2147483647) + INT(1)); }
CASE(sub) { USE(INT(-2147483647) - INT(2)); }
CASE(mul) { USE(HIDE(long, 0x4000000000000000) * HIDE(long, 2)); }
CASE(negate) { USE(-INT(-2147483647 - 1)); }
CASE(divide_by_zero) { USE(INT(5) / INT(0)); }
CASE(rest_of_zero) { USE(HIDE(unsigned char, 7) % INT(0)); }
CASE(divide_too_far) { USE(INT(-2147483647 - 1) / INT(-1)); }
CASE(shift_too_far) { USE(INT(1) << INT(40)); }
CASE(shift_backward) { USE(HIDE(unsigned long, 1) >> HIDE(signed char, -3)); }
CASE(shift_negative) { USE(INT(-7) << INT(2)); }
CASE(shift_out) { USE(INT(5) << INT(30)); }
CASE(add_wide) { USE(HIDE(__int128, (__int128)(~(unsigned __int128)0 >> 1)) + HIDE(__int128, 1)); }
CASE(sub_wide) { USE(HIDE(__int128, -(__int128)(~(unsigned __int128)0 >> 1)) - HIDE(__int128, 2)); }

CASE(bool_value)
{
	memory[0] = 3;
	USE(*(_Bool *)POINTER(memory));
}

CASE(no_trailing_zeros) { USE(__builtin_ctz(HIDE(unsigned int, 0))); }
CASE(no_leading_zeros) { USE(__builtin_clzll(HIDE(unsigned long long, 0))); }

/* --- Floating point --- */

CASE(double_to_int) { USE((int)HIDE(double, 1e10)); }
CASE(float_to_char) { USE((unsigned char)HIDE(float, -1.5f)); }
CASE(small_to_char) { USE((signed char)HIDE(double, 128.0009765625)); }
CASE(rounded_to_char) { USE((unsigned char)HIDE(double, 999999.96)); }
CASE(long_double_to_int) { USE((int)HIDE(long double, -1e4000L)); }
CASE(nan_to_int) { USE((int)HIDE(double, __builtin_nan(""))); }
CASE(infinite_to_long) { USE((long)HIDE(float, -__builtin_inff())); }
CASE(huge_to_int) { USE((int)HIDE(double, 1.7976931348623157e308)); }

/* --- Arrays and pointers --- */

CASE(index_behind)
{
	int array[4] = {0};

	USE(&array);
	USE(array[INT(9) - 4] + 0);
}

CASE(index_before)
{
	static struct {
		long before;
		long array[2][3];
	} both;

	USE(both.array[1][HIDE(long, -1)]);
}

CASE(length_of_zero)
{
	char array[INT(0)];

	USE(&array);
}

CASE(length_below_zero)
{
	/* The array is not made: its length is undefined, so the stack would be. */
	USE(sizeof(char[HIDE(short, -4)]));
}

/* Nothing is loaded from there. */
CASE(member_of_null) { USE(&((struct pair *)POINTER(0))->b); }

CASE(load_misaligned) { USE(*(int *)POINTER(memory + 1)); }
CASE(store_misaligned) { *(long *)POINTER(memory + 12) = 1; }
CASE(member_misaligned) { USE(((struct pair *)POINTER(memory + 2))->b); }

/* The compiler must know the object, and nothing but the access. */
static char small[4] __attribute__((aligned(16)));
CASE(too_small) { USE(*(long *)small); }

static __attribute__((noinline)) char *moved(char *pointer, unsigned long by)
{
	pointer += by;
	return pointer;
}
CASE(offset_wraps) { USE(moved(POINTER(~15UL), HIDE(unsigned long, 32))); }
CASE(offset_to_null) { USE(moved(POINTER(16), HIDE(unsigned long, ~15UL))); }
CASE(offset_from_null) { USE(moved(POINTER(0), HIDE(unsigned long, 8))); }

/* --- Declarations --- */

__attribute__((nonnull(2), noinline)) static void wants_object(int number, const char *object)
{
	USE(number);
	USE(object);
}
CASE(null_argument) { wants_object(1, POINTER(0)); }

__attribute__((returns_nonnull, noinline)) static char *gives_object(char *object)
{
	return object;
}
CASE(null_return) { USE(gives_object(POINTER(0))); }

CASE(not_reached)
{
	if (INT(1))
		__builtin_unreachable();
}

#ifdef WITH_CXX
/* no_return.cpp: only C++ asks for a return statement. */
int gives_number(int number);
CASE(no_return) { USE(gives_number(INT(0))); }
#endif

#ifdef __clang__

CASE(assumed_aligned) { USE(__builtin_assume_aligned(POINTER(memory + 8), 64)); }

static __attribute__((noinline)) void takes_long(long number)
{
	USE(number);
}
CASE(other_function) { ((void (*)(int *))HIDE(void *, (void *)takes_long))((int *)memory); }

static __attribute__((noinline)) void wants_not_null(char *_Nonnull object)
{
	__asm__ volatile("" : : "r"(object));
}
CASE(nullable_argument) { wants_not_null(POINTER(0)); }

static __attribute__((noinline)) char *_Nonnull gives_not_null(char *object)
{
	return object;
}
CASE(nullable_return)
{
	char *object = gives_not_null(POINTER(0));

	__asm__ volatile("" : : "r"(object));
}

/* Defined in C, and checked by -fsanitize=integer. */
CASE(unsigned_add) { USE(HIDE(unsigned int, 4294967295) + HIDE(unsigned int, 2)); }
CASE(unsigned_sub) { USE(HIDE(unsigned long, 1) - HIDE(unsigned long, 2)); }
CASE(unsigned_mul) { USE(HIDE(unsigned int, 65536) * HIDE(unsigned int, 65536)); }
CASE(unsigned_negate) { USE(-HIDE(unsigned int, 1)); }
CASE(unsigned_shift) { USE(HIDE(unsigned int, 3) << HIDE(unsigned int, 31)); }
CASE(truncate)
{
	unsigned char byte = INT(256 + 7);

	USE(byte);
}
CASE(change_sign)
{
	unsigned int number = INT(-1);

	USE(number);
}
CASE(bit_precise)
{
	USE(HIDE(signed _BitInt(37), 68719476735) + HIDE(signed _BitInt(37), 1));
}
CASE(false_assumption)
{
	__builtin_assume(INT(0) != 0);
}

#endif

/* @ends: no program goes on after it. */
static const struct kind {
	const char *name;
	void (*run)(void);
	int ends;
} kinds[] = {
#define KIND(name)	{#name, name, 0}
	KIND(add),
	KIND(sub),
	KIND(mul),
	KIND(negate),
	KIND(divide_by_zero),
	KIND(rest_of_zero),
	KIND(divide_too_far),
	KIND(shift_too_far),
	KIND(shift_backward),
	KIND(shift_negative),
	KIND(shift_out),
	KIND(add_wide),
	KIND(sub_wide),
	KIND(bool_value),
	KIND(no_trailing_zeros),
	KIND(no_leading_zeros),
	KIND(double_to_int),
	KIND(float_to_char),
	KIND(small_to_char),
	KIND(rounded_to_char),
	KIND(long_double_to_int),
	KIND(nan_to_int),
	KIND(infinite_to_long),
	KIND(huge_to_int),
	KIND(index_behind),
	KIND(index_before),
	KIND(length_of_zero),
	KIND(length_below_zero),
	KIND(member_of_null),
	KIND(load_misaligned),
	KIND(store_misaligned),
	KIND(member_misaligned),
	KIND(too_small),
	KIND(offset_wraps),
	KIND(offset_to_null),
	KIND(offset_from_null),
	KIND(null_argument),
	KIND(null_return),
#ifdef __clang__
	KIND(assumed_aligned),
	KIND(other_function),
	KIND(nullable_argument),
	KIND(nullable_return),
	KIND(unsigned_add),
	KIND(unsigned_sub),
	KIND(unsigned_mul),
	KIND(unsigned_negate),
	KIND(unsigned_shift),
	KIND(truncate),
	KIND(change_sign),
	KIND(bit_precise),
	KIND(false_assumption),
#endif
	{"not_reached", not_reached, 1},
#ifdef WITH_CXX
	{"no_return", no_return, 1},
#endif
};

#ifdef HOSTED
/* port.c: run the case by itself, because some end their process. */
void run_alone(void (*run)(void));
#endif

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct kind *kind = &kinds[i];

		if (argc > 1 && strcmp(argv[1], kind->name) != 0)
			continue;
#ifdef HOSTED
		printf("case %s\n", kind->name);
		fflush(stdout);
		run_alone(kind->run);
#else
		if (argc < 2 && kind->ends)
			continue;
		printf("case %s\n", kind->name);
		kind->run();
#endif
	}
	return 0;
}
