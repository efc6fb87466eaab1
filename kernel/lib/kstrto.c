/* SPDX-License-Identifier: MIT */
/* kstrto.c - converts text to numbers, see <kernel/kernel.h>. */
#include <kernel/ctype.h>
#include <kernel/kernel.h>
#include <kernel/string.h>

/* Return: the value of the digit @c; 36 or more if it is not a digit. */
static unsigned int digit_value(char c)
{
	if (isdigit((u8)c))
		return (unsigned int)(c - '0');
	if (isalpha((u8)c))
		return (unsigned int)(tolower((u8)c) - 'a') + 10;
	return 36;
}

/* Skip a 0x if a hexadecimal digit follows it, and choose the base if it is 0. */
static const char *parse_base(const char *s, unsigned int *base)
{
	bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X') && isxdigit((u8)s[2]);

	if (*base == 0)
		*base = hex ? 16 : s[0] == '0' ? 8 : 10;
	return hex && *base == 16 ? s + 2 : s;
}

/* Parse digits. Return: the first character that is not a digit, which is @s if there are no digits. */
static const char *parse_number(const char *s, unsigned int base, u64 *value, bool *overflow)
{
	u64 v = 0;

	*overflow = false;
	for (unsigned int digit; (digit = digit_value(*s)) < base; s++) {
		u64 product;

		if (__builtin_mul_overflow(v, (u64)base, &product))
			*overflow = true;
		v *= base;
		if (__builtin_add_overflow(v, (u64)digit, &v))
			*overflow = true;
	}
	*value = v;
	return s;
}

int kstrtoull(const char *s, unsigned int base, unsigned long long *res)
{
	const char *digits, *end;
	bool overflow;
	u64 value;

	if (*s == '+')
		s++;
	digits = parse_base(s, &base);
	end = parse_number(digits, base, &value, &overflow);
	if (end == digits)
		return -EINVAL;
	if (*end == '\n')
		end++;
	if (*end)
		return -EINVAL;
	if (overflow)
		return -ERANGE;
	*res = value;
	return 0;
}

int kstrtoll(const char *s, unsigned int base, long long *res)
{
	unsigned long long value;
	int err;

	if (*s != '-') {
		err = kstrtoull(s, base, &value);
		if (!err && value > LLONG_MAX)
			err = -ERANGE;
		if (!err)
			*res = (long long)value;
		return err;
	}
	/* A second sign is an error. */
	if (s[1] == '+')
		return -EINVAL;
	err = kstrtoull(s + 1, base, &value);
	if (!err && value > (unsigned long long)LLONG_MAX + 1)
		err = -ERANGE;
	if (!err)
		*res = (long long)(0 - value);
	return err;
}

int kstrtoul(const char *s, unsigned int base, unsigned long *res)
{
	unsigned long long value;
	int err = kstrtoull(s, base, &value);

	if (!err)
		*res = (unsigned long)value;
	return err;
}

int kstrtol(const char *s, unsigned int base, long *res)
{
	long long value;
	int err = kstrtoll(s, base, &value);

	if (!err)
		*res = (long)value;
	return err;
}

int kstrtou64(const char *s, unsigned int base, u64 *res)
{
	unsigned long long value;
	int err = kstrtoull(s, base, &value);

	if (!err)
		*res = value;
	return err;
}

int kstrtouint(const char *s, unsigned int base, unsigned int *res)
{
	unsigned long long value;
	int err = kstrtoull(s, base, &value);

	if (!err && value > UINT_MAX)
		err = -ERANGE;
	if (!err)
		*res = (unsigned int)value;
	return err;
}

int kstrtou32(const char *s, unsigned int base, u32 *res)
{
	return kstrtouint(s, base, res);
}

int kstrtoint(const char *s, unsigned int base, int *res)
{
	long long value;
	int err = kstrtoll(s, base, &value);

	if (!err && (value > INT_MAX || value < INT_MIN))
		err = -ERANGE;
	if (!err)
		*res = (int)value;
	return err;
}

int kstrtobool(const char *s, bool *res)
{
	if (!s)
		return -EINVAL;
	switch (tolower((u8)s[0])) {
	case 'y':
	case 't':
	case '1':
		*res = true;
		return 0;
	case 'n':
	case 'f':
	case '0':
		*res = false;
		return 0;
	case 'o':
		if (tolower((u8)s[1]) == 'n') {
			*res = true;
			return 0;
		}
		if (tolower((u8)s[1]) == 'f') {
			*res = false;
			return 0;
		}
	}
	return -EINVAL;
}

unsigned long long simple_strtoull(const char *s, char **endp, unsigned int base)
{
	const char *digits = parse_base(s, &base), *end;
	bool overflow;
	u64 value;

	end = parse_number(digits, base, &value, &overflow);
	if (endp)
		*endp = (char *)end;
	return value;
}

unsigned long simple_strtoul(const char *s, char **endp, unsigned int base)
{
	return (unsigned long)simple_strtoull(s, endp, base);
}

long simple_strtol(const char *s, char **endp, unsigned int base)
{
	if (*s == '-')
		return (long)(0 - simple_strtoul(s + 1, endp, base));
	return (long)simple_strtoul(s, endp, base);
}

unsigned long long memparse(const char *s, char **retp)
{
	char *end;
	unsigned long long value = simple_strtoull(s, &end, 0);
	const char *suffix = *end && end != s ? strchr("kmgt", tolower((u8)*end)) : NULL;

	if (suffix) {
		static const unsigned int shift[] = {10, 20, 30, 40};
		static const char names[] = "kmgt";

		for (unsigned int i = 0; i < ARRAY_SIZE(shift); i++) {
			if (names[i] == *suffix)
				value <<= shift[i];
		}
		end++;
	}
	if (retp)
		*retp = end;
	return value;
}
