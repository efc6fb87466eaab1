/* SPDX-License-Identifier: MIT */
/*
 * values.c - numbers of the checked program as text: integers of up to 128 bits, floating-point numbers of any format.
 *
 * The runtime has neither floating-point registers nor the compiler's helper functions for division, so all arithmetic
 * is on digits of 16 bits, which every processor divides with what the runtime uses anyway.
 */
#include "data.h"

#ifdef CONFIG_KASAN_UBSAN

#define DIGITS \
	8U /* of 16 bits, the least significant one first, as in the memory of all our processors */
#define POINTER_BITS (8U * (unsigned int)sizeof(uintptr_t))

struct number {
	uint16_t digit[DIGITS];
	bool negative;
};

/* --- Arithmetic --- */

/* Return: the remainder. */
static unsigned int divide(struct number *number, unsigned int by)
{
	unsigned int i, rest = 0;

	for (i = DIGITS; i--;) {
		rest = rest << 16 | number->digit[i];
		number->digit[i] = (uint16_t)(rest / by);
		rest %= by;
	}
	return rest;
}

static void multiply(struct number *number, unsigned int by)
{
	unsigned int i, carry = 0;

	for (i = 0; i < DIGITS; i++) {
		carry += number->digit[i] * by;
		number->digit[i] = (uint16_t)carry;
		carry >>= 16;
	}
}

static bool bit(const struct number *number, unsigned int at)
{
	return number->digit[at / 16] >> at % 16 & 1;
}

static bool is_zero(const struct number *number)
{
	unsigned int i, all = 0;

	for (i = 0; i < DIGITS; i++)
		all |= number->digit[i];
	return !all;
}

/* Only the lowest @bits remain. */
static void cut(struct number *number, unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < DIGITS; i++) {
		if (16 * i >= bits)
			number->digit[i] = 0;
		else if (16 * (i + 1) > bits)
			number->digit[i] &= (uint16_t)((1U << (bits - 16 * i)) - 1);
	}
}

static void negate(struct number *number)
{
	unsigned int i, carry = 1;

	for (i = 0; i < DIGITS; i++) {
		carry += (uint16_t)~number->digit[i];
		number->digit[i] = (uint16_t)carry;
		carry >>= 16;
	}
}

/* --- Reading values --- */

/* Copies @bits of @value. Return: false if that cannot be. */
static bool fetch(struct number *number, unsigned int bits, uintptr_t value)
{
	const void *from = bits > POINTER_BITS ? (const void *)value : &value;
	const size_t bytes = (bits + 7) / 8;

	kasan_clear(number);
	if (!bytes || bytes > sizeof(number->digit) || !kasan_port_readable(from, bytes))
		return false;
	__memcpy(number->digit, from, bytes);
	cut(number, bits);
	return true;
}

unsigned int ubsan_bits(const struct ubsan_type *type)
{
	const char *end = type->name;
	uint32_t bits;

	if (type->kind != UBSAN_BITINT)
		return 1U << (type->info >> 1 & 15);
	/* Behind the name, not aligned. */
	while (*end)
		end++;
	__memcpy(&bits, end + 1, sizeof(bits));
	return bits;
}

/* Return: false if it is not an integer, or cannot be read. */
static bool fetch_integer(struct number *number, const struct ubsan_type *type, uintptr_t value)
{
	unsigned int bits;

	if (type->kind != UBSAN_INTEGER && type->kind != UBSAN_BITINT)
		return false;
	bits = ubsan_bits(type);
	if (!fetch(number, bits, value))
		return false;
	number->negative = (type->info & 1) && bit(number, bits - 1);
	if (number->negative) {
		negate(number);
		cut(number, bits);
	}
	return true;
}

bool ubsan_is_negative(const struct ubsan_type *type, uintptr_t value)
{
	struct number number;

	return fetch_integer(&number, type, value) && number.negative;
}

int ubsan_small(const struct ubsan_type *type, uintptr_t value)
{
	struct number number;
	int small;

	if (!fetch_integer(&number, type, value))
		return UBSAN_LARGE;
	small = number.digit[0];
	number.digit[0] = 0;
	if (!is_zero(&number))
		return UBSAN_LARGE;
	return number.negative ? -small : small;
}

/* --- Text --- */

static void add_integer(struct kasan_line *line, struct number *number)
{
	char text[40];
	size_t at = sizeof(text) - 1;

	text[at] = '\0';
	do
		text[--at] = (char)('0' + divide(number, 10));
	while (!is_zero(number));
	kasan_line_add(line, "%s%s", number->negative ? "-" : "", text + at);
}

/* Six significant digits are shown, as %g does. The number is kept as a mantissa of MANTISSA bits, whose highest one is
 * set, times a power of two. So a step of the conversion loses less than 1 in 2^123, and the longest, of a quad number
 * with its exponent of 16384, has 5000 steps. There are four bits more, for a multiplication by ten. */
#define MANTISSA 124U
#define LEAST	 100000U
#define MOST	 999999U

/* Make the highest bit of the mantissa one. Return: the exponent then. */
static int normalise(struct number *number, int exponent)
{
	for (; !bit(number, MANTISSA - 1); exponent--)
		multiply(number, 2);
	return exponent;
}

/* The whole part of a number below 2^20, and its first bit after the point. */
static unsigned int whole(const struct number *number, int exponent, unsigned int *half)
{
	unsigned int first = (unsigned int)-exponent, at, sum = 0;

	for (at = MANTISSA; at-- > first;)
		sum = sum << 1 | bit(number, at);
	*half = bit(number, first - 1);
	return sum;
}

static void add_decimal(struct kasan_line *line, struct number *number, int exponent)
{
	unsigned int sum, half = 0, places = 5, i;
	char text[8], *digit = text;
	int ten = 5;

	exponent = normalise(number, exponent);
	for (;;) {
		/* The number lies in [2^(MANTISSA - 1 + exponent), twice that). */
		const int power = (int)MANTISSA - 1 + exponent;

		sum = power < 16 ? 0 : power > 19 ? MOST + 1 : whole(number, exponent, &half);
		if (sum >= LEAST && sum <= MOST)
			break;
		if (sum > MOST) {
			divide(number, 10);
			ten++;
		} else {
			multiply(number, 10);
			/* It may have a bit too many. */
			while (number->digit[DIGITS - 1] >> (MANTISSA % 16)) {
				divide(number, 2);
				exponent++;
			}
			ten--;
		}
		exponent = normalise(number, exponent);
	}
	sum += half;
	if (sum > MOST) {
		sum /= 10;
		ten++;
	}
	for (i = 6; i--; sum /= 10)
		text[i] = (char)('0' + sum % 10);
	text[6] = '\0';
	for (; places && text[places] == '0'; places--)
		text[places] = '\0';
	kasan_line_add(line, "%s", number->negative ? "-" : "");
	if (ten >= 0 && ten < 6) {
		for (i = 0; i <= (unsigned int)ten; i++)
			kasan_line_add(line, "%c", *digit ? *digit++ : '0');
		kasan_line_add(line, *digit ? ".%s" : "%s", digit);
	} else if (ten < 0 && ten >= -4) {
		kasan_line_add(line, "0.%s%s", &"000"[4 + ten], text);
	} else {
		kasan_line_add(line, text[1] ? "%c.%se%c%02u" : "%c%se%c%02u", *text, text + 1,
			       ten < 0 ? '-' : '+', (unsigned int)(ten < 0 ? -ten : ten));
	}
}

/* @bits: of the format: IEEE 754's half, single, double and quad, and the 80 bits of x86, which store the first bit of
 * the mantissa. */
static void add_float(struct kasan_line *line, struct number *number, unsigned int bits)
{
	const unsigned int power = bits == 16 ? 5 : bits == 32 ? 8 : bits == 64 ? 11 : 15;
	const unsigned int fraction = bits - 1 - power, stored = bits == 80;
	const int most = (1 << power) - 1, bias = most / 2;
	int exponent = 0;
	unsigned int i;

	for (i = 0; i < power; i++)
		exponent |= bit(number, fraction + i) << i;
	number->negative = bit(number, bits - 1);
	cut(number, fraction - stored);
	if (exponent == most) {
		kasan_line_add(line, "%s",
			       !is_zero(number)	  ? "nan"
			       : number->negative ? "-inf"
						  : "inf");
		return;
	}
	if (exponent)
		number->digit[(fraction - stored) / 16] |=
			(uint16_t)(1U << (fraction - stored) % 16);
	else
		exponent = 1;
	if (is_zero(number))
		kasan_line_add(line, number->negative ? "-0" : "0");
	else
		add_decimal(line, number, exponent - bias - (int)(fraction - stored));
}

/* On x86_64 compilers say that a long double has 128 bits, because it is stored in so many. */
static unsigned int bits_of_float(const struct ubsan_type *type)
{
#ifdef __x86_64__
	/* The other type of so many bits is '__float128', or '_Float128'. */
	if (type->info > 64 && type->name[0] && type->name[1] != '_')
		return 80;
#endif
	return type->info;
}

static void add_value(struct kasan_line *line, const struct ubsan_type *type, uintptr_t value)
{
	struct number number;

	if (fetch_integer(&number, type, value))
		add_integer(line, &number);
	else if (type->kind == UBSAN_FLOAT && fetch(&number, bits_of_float(type), value))
		add_float(line, &number, bits_of_float(type));
	else
		kasan_line_add(line, "(a value that cannot be shown)");
}

static void add_type(struct kasan_line *line, const struct ubsan_type *type)
{
	char name[64];
	const bool is_whole = kasan_copy_string(name, type->name, sizeof(name)) < sizeof(name) - 1;

	/* If the end is cut off, so is its quote. */
	kasan_line_add(line, is_whole ? "%s" : "%s...'", name);
}

void ubsan_add_sentence(struct kasan_line *line, const struct kasan_undefined *bug)
{
	const char *text = bug->sentence;

	for (; *text; text++) {
		const char what = text[0] == '$' ? text[1] : '\0', how = what ? text[2] : '\0';
		const struct ubsan_type *type =
			how == 'A' || how == 'B' ? bug->types[how - 'A'] : NULL;
		const uintptr_t value = what >= '1' && what <= '3' ? bug->values[what - '1'] : 0;

		if (!what) {
			kasan_line_add(line, "%c", *text);
			continue;
		}
		text += 2;
		if (what == 't')
			add_type(line, type);
		else if (what == 'b')
			kasan_line_add(line, "%u", ubsan_bits(type));
		else if (type)
			add_value(line, type, value);
		else if (how == 'u')
			kasan_line_add(line, "%lu", (unsigned long)value);
		else
			kasan_line_add(line, how == 'p' ? "%p" : "%pS", (const void *)value);
	}
}

#endif /* CONFIG_KASAN_UBSAN */
