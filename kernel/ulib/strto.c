// SPDX-License-Identifier: MIT
/* strto.c - text to integers: the strtol() family, atoi() and the <inttypes.h> forms. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'Z')
		return c - 'A' + 10;
	return INT_MAX;
}

/*
 * The magnitude of the number in @text, at most @limit_pos or (behind a minus) @limit_neg; beyond
 * it the limit and errno ERANGE, as each caller's type wants.
 */
static unsigned long long parse(const char *text, char **end, int base,
				unsigned long long limit_pos, unsigned long long limit_neg,
				bool *negative)
{
	const char *p = text;
	unsigned long long value = 0, limit;
	bool overflow = false, any = false;

	*negative = false;
	if (base < 0 || base == 1 || base > 36) {
		if (end)
			*end = (char *)text;
		errno = EINVAL;
		return 0;
	}
	while (isspace((unsigned char)*p))
		p++;
	if (*p == '+' || *p == '-')
		*negative = *p++ == '-';
	/* "0x" is a prefix only where a hexadecimal digit follows; else the number is the 0. */
	if ((base == 0 || base == 16) && p[0] == '0' && (p[1] | 0x20) == 'x' &&
	    digit_value(p[2]) < 16) {
		p += 2;
		base = 16;
	} else if (base == 0) {
		base = *p == '0' ? 8 : 10;
	}
	limit = *negative ? limit_neg : limit_pos;
	for (int digit; (digit = digit_value(*p)) < base; p++) {
		any = true;
		if (value > (limit - (unsigned int)digit) / (unsigned int)base)
			overflow = true;
		else
			value = value * (unsigned int)base + (unsigned int)digit;
	}
	if (end)
		*end = (char *)(any ? p : text);
	if (overflow) {
		errno = ERANGE;
		return limit;
	}
	return value;
}

long long strtoll(const char *text, char **end, int base)
{
	bool negative;
	unsigned long long value =
		parse(text, end, base, LLONG_MAX, (unsigned long long)LLONG_MAX + 1, &negative);

	return (long long)(negative ? -value : value);
}

long strtol(const char *text, char **end, int base)
{
	bool negative;
	unsigned long long value =
		parse(text, end, base, LONG_MAX, (unsigned long long)LONG_MAX + 1, &negative);

	return (long)(negative ? -value : value);
}

unsigned long long strtoull(const char *text, char **end, int base)
{
	bool negative;
	int saved = errno;
	unsigned long long value;

	errno = 0;
	value = parse(text, end, base, ULLONG_MAX, ULLONG_MAX, &negative);
	/* Too large stays ULLONG_MAX; a minus negates in the unsigned type, as C says. */
	if (errno == ERANGE)
		return value;
	if (!errno)
		errno = saved;
	return negative ? -value : value;
}

unsigned long strtoul(const char *text, char **end, int base)
{
	return (unsigned long)strtoull(text, end, base);
}

_Static_assert(sizeof(long) == sizeof(long long), "strtoul() uses the range of unsigned long long");

intmax_t strtoimax(const char *text, char **end, int base)
{
	return strtol(text, end, base);
}

uintmax_t strtoumax(const char *text, char **end, int base)
{
	return strtoul(text, end, base);
}

int atoi(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

long atol(const char *text)
{
	return strtol(text, NULL, 10);
}

long long atoll(const char *text)
{
	return strtoll(text, NULL, 10);
}

intmax_t imaxabs(intmax_t n)
{
	return n < 0 ? -n : n;
}

imaxdiv_t imaxdiv(intmax_t a, intmax_t b)
{
	return (imaxdiv_t){.quot = a / b, .rem = a % b};
}
