// SPDX-License-Identifier: MIT
/*
 * format.c - the printf family's engine: integers, characters, strings and pointers.
 *
 * Instrumented like the program itself: every character goes into the caller's buffer by a checked
 * store, so an overflow is reported at the byte where it starts.
 */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "ulib.h"

enum length {
	LEN_INT,
	LEN_CHAR,
	LEN_SHORT,
	LEN_LONG,
	LEN_LLONG,
	LEN_MAX,
	LEN_SIZE,
	LEN_PTRDIFF,
	LEN_LDOUBLE,
};

struct spec {
	bool left, plus, space, alt, zero;
	int width;
	int precision; /* -1: none given */
	bool width_arg, precision_arg;
	enum length length;
	char conversion;
};

/* Digits of a 64-bit number in octal, the longest form. */
#define MAX_DIGITS 22

static void put(struct ulib_sink *sink, char c)
{
	sink->put(sink, c);
	sink->count++;
}

static void pad(struct ulib_sink *sink, char c, int n)
{
	while (n-- > 0)
		put(sink, c);
}

/* A number in the format text; one that does not fit is as good as INT_MAX. */
static const char *parse_number(const char *p, int *value)
{
	int n = 0;

	for (; *p >= '0' && *p <= '9'; p++)
		n = n > (INT_MAX - 9) / 10 ? INT_MAX : n * 10 + (*p - '0');
	*value = n;
	return p;
}

static const char *parse_length(const char *p, enum length *length)
{
	*length = LEN_INT;
	switch (*p) {
	case 'h':
		*length = p[1] == 'h' ? LEN_CHAR : LEN_SHORT;
		return p + (p[1] == 'h' ? 2 : 1);
	case 'l':
		*length = p[1] == 'l' ? LEN_LLONG : LEN_LONG;
		return p + (p[1] == 'l' ? 2 : 1);
	case 'j':
		*length = LEN_MAX;
		return p + 1;
	case 'z':
		*length = LEN_SIZE;
		return p + 1;
	case 't':
		*length = LEN_PTRDIFF;
		return p + 1;
	case 'L':
		*length = LEN_LDOUBLE;
		return p + 1;
	default:
		return p;
	}
}

/* @p stands behind the '%'. Return: behind the conversion, or at the text's end. */
static const char *parse_spec(const char *p, struct spec *spec)
{
	memset(spec, 0, sizeof(*spec));
	spec->precision = -1;
	for (;; p++) {
		if (*p == '-')
			spec->left = true;
		else if (*p == '+')
			spec->plus = true;
		else if (*p == ' ')
			spec->space = true;
		else if (*p == '#')
			spec->alt = true;
		else if (*p == '0')
			spec->zero = true;
		else
			break;
	}
	if (*p == '*') {
		spec->width_arg = true;
		p++;
	} else {
		p = parse_number(p, &spec->width);
	}
	if (*p == '.') {
		p++;
		if (*p == '*') {
			spec->precision_arg = true;
			p++;
		} else {
			p = parse_number(p, &spec->precision);
		}
	}
	p = parse_length(p, &spec->length);
	spec->conversion = *p;
	return *p ? p + 1 : p;
}

/*
 * Refused formats are found before the first character is put, so that no half of a line is printed.
 */
static bool refused(const char *name, const char *fmt)
{
	struct spec spec;

	for (; *fmt; fmt++) {
		if (*fmt != '%')
			continue;
		fmt = parse_spec(fmt + 1, &spec);
		if (!spec.conversion)
			return false;
		if (strchr("fFeEgGaA", spec.conversion)) {
			fprintf(stderr, "%s: %%%c: this library does not print floating point\n",
				name, spec.conversion);
			errno = ENOTSUP;
			return true;
		}
		if (spec.length == LEN_LONG && strchr("cs", spec.conversion)) {
			fprintf(stderr, "%s: %%l%c: there are no wide characters\n", name,
				spec.conversion);
			errno = ENOTSUP;
			return true;
		}
		if (!strchr("diouxXcspn%", spec.conversion)) {
			fprintf(stderr, "%s: %%%c: unknown conversion\n", name, spec.conversion);
			errno = EINVAL;
			return true;
		}
		fmt--;
	}
	return false;
}

static void put_integer(struct ulib_sink *sink, const struct spec *spec, uintmax_t value,
			const char *prefix, unsigned int base)
{
	const char *digits = spec->conversion == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	int prefix_len = (int)strlen(prefix), len = 0, zeros, padding;
	char text[MAX_DIGITS];

	for (; value; value /= base)
		text[len++] = digits[value % base];
	/* The precision is the smallest number of digits; without one, 0 has one digit. */
	zeros = (spec->precision < 0 ? 1 : spec->precision) - len;
	if (spec->alt && base == 8 && zeros <= 0 && (len == 0 || text[len - 1] != '0'))
		zeros = 1;
	if (zeros < 0)
		zeros = 0;
	padding = spec->width - prefix_len - len - zeros;
	if (spec->zero && !spec->left && spec->precision < 0 && padding > 0) {
		zeros += padding;
		padding = 0;
	}
	if (!spec->left)
		pad(sink, ' ', padding);
	while (*prefix)
		put(sink, *prefix++);
	pad(sink, '0', zeros);
	while (len > 0)
		put(sink, text[--len]);
	if (spec->left)
		pad(sink, ' ', padding);
}

static void put_string(struct ulib_sink *sink, const struct spec *spec, const char *s)
{
	size_t len, i;

	if (!s)
		s = "(null)";
	/* With a precision the string needs no NUL, so nothing behind it may be read. */
	len = spec->precision < 0 ? strlen(s) : strnlen(s, (size_t)spec->precision);
	if (!spec->left && (size_t)spec->width > len)
		pad(sink, ' ', spec->width - (int)len);
	for (i = 0; i < len; i++)
		put(sink, s[i]);
	if (spec->left && (size_t)spec->width > len)
		pad(sink, ' ', spec->width - (int)len);
}

static void put_char(struct ulib_sink *sink, const struct spec *spec, char c)
{
	if (!spec->left)
		pad(sink, ' ', spec->width - 1);
	put(sink, c);
	if (spec->left)
		pad(sink, ' ', spec->width - 1);
}

/* A va_list handed on by value may or may not change for the caller; inside a struct it does. */
struct arguments {
	va_list list;
};

static intmax_t next_signed(struct arguments *args, enum length length)
{
	switch (length) {
	case LEN_CHAR:
		return (signed char)va_arg(args->list, int);
	case LEN_SHORT:
		return (short)va_arg(args->list, int);
	case LEN_LONG:
		return va_arg(args->list, long);
	case LEN_LLONG:
		return va_arg(args->list, long long);
	case LEN_MAX:
		return va_arg(args->list, intmax_t);
	case LEN_SIZE:
	case LEN_PTRDIFF:
		return va_arg(args->list, ptrdiff_t);
	default:
		return va_arg(args->list, int);
	}
}

static uintmax_t next_unsigned(struct arguments *args, enum length length)
{
	switch (length) {
	case LEN_CHAR:
		return (unsigned char)va_arg(args->list, unsigned int);
	case LEN_SHORT:
		return (unsigned short)va_arg(args->list, unsigned int);
	case LEN_LONG:
		return va_arg(args->list, unsigned long);
	case LEN_LLONG:
		return va_arg(args->list, unsigned long long);
	case LEN_MAX:
		return va_arg(args->list, uintmax_t);
	case LEN_SIZE:
	case LEN_PTRDIFF:
		return va_arg(args->list, size_t);
	default:
		return va_arg(args->list, unsigned int);
	}
}

/* %n: the caller's object has the length's own type. */
static void store_count(struct arguments *args, enum length length, size_t count)
{
	switch (length) {
	case LEN_CHAR:
		*va_arg(args->list, signed char *) = (signed char)count;
		break;
	case LEN_SHORT:
		*va_arg(args->list, short *) = (short)count;
		break;
	case LEN_LONG:
		*va_arg(args->list, long *) = (long)count;
		break;
	case LEN_LLONG:
		*va_arg(args->list, long long *) = (long long)count;
		break;
	case LEN_MAX:
		*va_arg(args->list, intmax_t *) = (intmax_t)count;
		break;
	case LEN_SIZE:
	case LEN_PTRDIFF:
		*va_arg(args->list, size_t *) = count;
		break;
	default:
		*va_arg(args->list, int *) = (int)count;
		break;
	}
}

static void put_signed(struct ulib_sink *sink, const struct spec *spec, intmax_t value)
{
	const char *sign = spec->plus ? "+" : spec->space ? " " : "";

	if (value < 0)
		put_integer(sink, spec, -(uintmax_t)value, "-", 10);
	else
		put_integer(sink, spec, (uintmax_t)value, sign, 10);
}

static void put_unsigned(struct ulib_sink *sink, const struct spec *spec, uintmax_t value)
{
	unsigned int base = spec->conversion == 'o' ? 8 : spec->conversion == 'u' ? 10 : 16;
	const char *prefix = "";

	if (spec->alt && base == 16 && value)
		prefix = spec->conversion == 'X' ? "0X" : "0x";
	put_integer(sink, spec, value, prefix, base);
}

static void put_conversion(struct ulib_sink *sink, struct spec *spec, struct arguments *args)
{
	switch (spec->conversion) {
	case 'd':
	case 'i':
		put_signed(sink, spec, next_signed(args, spec->length));
		break;
	case 'o':
	case 'u':
	case 'x':
	case 'X':
		put_unsigned(sink, spec, next_unsigned(args, spec->length));
		break;
	case 'p':
		put_integer(sink, spec, (uintptr_t)va_arg(args->list, void *), "0x", 16);
		break;
	case 'c':
		put_char(sink, spec, (char)va_arg(args->list, int));
		break;
	case 's':
		put_string(sink, spec, va_arg(args->list, const char *));
		break;
	case 'n':
		store_count(args, spec->length, sink->count);
		break;
	default:
		put(sink, '%');
		break;
	}
}

int ulib_format(struct ulib_sink *sink, const char *name, const char *fmt, va_list list)
{
	struct arguments args;
	struct spec spec;

	sink->count = 0;
	if (refused(name, fmt))
		return -1;
	va_copy(args.list, list);
	while (*fmt) {
		if (*fmt != '%') {
			put(sink, *fmt++);
			continue;
		}
		fmt = parse_spec(fmt + 1, &spec);
		if (!spec.conversion)
			break;
		if (spec.width_arg) {
			int width = va_arg(args.list, int);

			/* A negative width argument is the flag '-' and a width. */
			spec.left |= width < 0;
			spec.width = width < 0 ? (width == INT_MIN ? INT_MAX : -width) : width;
		}
		if (spec.precision_arg) {
			int precision = va_arg(args.list, int);

			spec.precision = precision < 0 ? -1 : precision;
		}
		put_conversion(sink, &spec, &args);
	}
	va_end(args.list);
	if (sink->count > INT_MAX) {
		errno = EOVERFLOW;
		return -1;
	}
	return (int)sink->count;
}

/* --- Formatting into memory ------------------------------------------------------------------- */

struct buffer_sink {
	struct ulib_sink sink;
	char *buf;
	size_t size;
};

static void put_buffer(struct ulib_sink *sink, char c)
{
	struct buffer_sink *out = (struct buffer_sink *)sink;

	if (sink->count + 1 < out->size)
		out->buf[sink->count] = c;
}

int vsnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	struct buffer_sink out = {.sink.put = put_buffer, .buf = buf, .size = size};
	int len = ulib_format(&out.sink, "snprintf", fmt, args);

	if (size && len >= 0)
		buf[(size_t)len < size ? (size_t)len : size - 1] = '\0';
	else if (size)
		buf[0] = '\0';
	return len;
}

int snprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(buf, size, fmt, args);
	va_end(args);
	return len;
}

int vsprintf(char *buf, const char *fmt, va_list args)
{
	return vsnprintf(buf, (size_t)INT_MAX + 1, fmt, args);
}

int sprintf(char *buf, const char *fmt, ...)
{
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsprintf(buf, fmt, args);
	va_end(args);
	return len;
}
