// SPDX-License-Identifier: MIT
/*
 * scan.c - sscanf(): %d %i %u %o %x %X %p %c %s %[ %n %%, with widths, '*' and the lengths hh h l
 * ll j z t.
 *
 * Floating-point conversions end the scan with errno ENOTSUP: see <stdio.h>.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scan {
	const char *text; /* what is left to read */
	const char *start;
	int assigned;
};

enum scan_length {
	SCAN_INT,
	SCAN_CHAR,
	SCAN_SHORT,
	SCAN_LONG, /* all 64-bit types are alike here */
};

static const char *parse_length(const char *fmt, enum scan_length *length)
{
	*length = SCAN_INT;
	if (fmt[0] == 'h') {
		*length = fmt[1] == 'h' ? SCAN_CHAR : SCAN_SHORT;
		return fmt + (fmt[1] == 'h' ? 2 : 1);
	}
	if (fmt[0] == 'l' || fmt[0] == 'j' || fmt[0] == 'z' || fmt[0] == 't') {
		*length = SCAN_LONG;
		return fmt + (fmt[0] == 'l' && fmt[1] == 'l' ? 2 : 1);
	}
	return fmt;
}

static void store_integer(void *out, enum scan_length length, unsigned long long value)
{
	switch (length) {
	case SCAN_CHAR:
		*(unsigned char *)out = (unsigned char)value;
		break;
	case SCAN_SHORT:
		*(unsigned short *)out = (unsigned short)value;
		break;
	case SCAN_LONG:
		*(unsigned long *)out = (unsigned long)value;
		break;
	default:
		*(unsigned int *)out = (unsigned int)value;
		break;
	}
}

/* At most @width characters that can belong to a number of @base, copied so that the width ends it.
 */
static bool scan_integer(struct scan *scan, int base, bool is_signed, size_t width,
			 unsigned long long *value)
{
	char number[72];
	char *end;
	size_t n;

	while (isspace((unsigned char)*scan->text))
		scan->text++;
	if (!width || width > sizeof(number) - 1)
		width = sizeof(number) - 1;
	for (n = 0; n < width && scan->text[n]; n++)
		number[n] = scan->text[n];
	number[n] = '\0';
	*value = is_signed ? (unsigned long long)strtoll(number, &end, base)
			   : strtoull(number, &end, base);
	scan->text += end - number;
	return end != number;
}

/* The set of %[...]; @fmt stands behind the '['. Return: behind the ']'. */
static const char *parse_set(const char *fmt, bool *set)
{
	bool invert = *fmt == '^';
	int i;

	fmt += invert;
	memset(set, 0, (UCHAR_MAX + 1) * sizeof(*set));
	do { /* a ']' in first place is a member */
		unsigned char from = (unsigned char)*fmt, to = from;

		if (!from)
			return fmt;
		if (fmt[1] == '-' && fmt[2] && fmt[2] != ']') {
			to = (unsigned char)fmt[2];
			fmt += 2;
		}
		fmt++;
		for (i = from; i <= to; i++)
			set[i] = true;
	} while (*fmt && *fmt != ']');
	for (i = 0; invert && i <= UCHAR_MAX; i++)
		set[i] = !set[i];
	return *fmt ? fmt + 1 : fmt;
}

/* Characters while @set (NULL: any) has them. @out NULL: skipped. */
static size_t scan_chars(struct scan *scan, const bool *set, size_t width, char *out)
{
	size_t n = 0;

	while (n < width && *scan->text && (!set || set[(unsigned char)*scan->text])) {
		if (out)
			out[n] = *scan->text;
		scan->text++;
		n++;
	}
	return n;
}

static bool scan_string(struct scan *scan, char conversion, const bool *set, size_t width,
			char *out)
{
	size_t n;

	if (conversion == 'c') {
		if (!width)
			width = 1;
		return scan_chars(scan, NULL, width, out) == width;
	}
	if (conversion == 's')
		while (isspace((unsigned char)*scan->text))
			scan->text++;
	n = scan_chars(scan, set, width ? width : SIZE_MAX, out);
	if (n && out)
		out[n] = '\0';
	return n > 0;
}

static int integer_base(char conversion)
{
	switch (conversion) {
	case 'd':
	case 'u':
		return 10;
	case 'o':
		return 8;
	case 'i':
		return 0;
	default:
		return 16; /* x X p */
	}
}

/* One conversion. Return: false where the scan ends. */
static bool convert(struct scan *scan, char conversion, const bool *set, enum scan_length length,
		    size_t width, bool skip, void *out)
{
	unsigned long long value;

	switch (conversion) {
	case 'd':
	case 'i':
	case 'u':
	case 'o':
	case 'x':
	case 'X':
	case 'p':
		if (conversion == 'p')
			length = SCAN_LONG;
		if (!scan_integer(scan, integer_base(conversion),
				  conversion == 'd' || conversion == 'i', width, &value))
			return false;
		if (!skip)
			store_integer(out, length, value);
		break;
	case 'c':
	case 's':
	case '[':
		if (!scan_string(scan, conversion, set, width, skip ? NULL : out))
			return false;
		break;
	case 'n':
		if (!skip)
			store_integer(out, length, (unsigned long long)(scan->text - scan->start));
		return true;
	default:
		errno = strchr("fFeEgGaA", conversion) ? ENOTSUP : EINVAL;
		return false;
	}
	if (!skip)
		scan->assigned++;
	return true;
}

/* "end of input before the first conversion" is EOF; a mismatch is the count so far. */
static bool at_end(const struct scan *scan, char conversion)
{
	const char *p = scan->text;

	if (conversion != 'c' && conversion != '[')
		while (isspace((unsigned char)*p))
			p++;
	return !*p;
}

int vsscanf(const char *text, const char *fmt, va_list args)
{
	struct scan scan = {.text = text, .start = text};
	bool set[UCHAR_MAX + 1];
	int i;

	for (i = 0; i <= UCHAR_MAX; i++)
		set[i] = !isspace(i);
	while (*fmt) {
		bool skip = false, own_set = false, literal;
		enum scan_length length;
		size_t width = 0;
		void *out = NULL;
		char conversion;

		if (isspace((unsigned char)*fmt)) {
			while (isspace((unsigned char)*scan.text))
				scan.text++;
			fmt++;
			continue;
		}
		literal = *fmt != '%';
		if (*fmt == '%' && fmt[1] == '%') {
			while (isspace((unsigned char)*scan.text))
				scan.text++;
			literal = true;
			fmt++;
		}
		if (literal) {
			if (*scan.text != *fmt)
				return !*scan.text && !scan.assigned ? EOF : scan.assigned;
			scan.text++;
			fmt++;
			continue;
		}
		fmt++;
		if (*fmt == '*') {
			skip = true;
			fmt++;
		}
		while (isdigit((unsigned char)*fmt))
			width = width * 10 + (size_t)(*fmt++ - '0');
		fmt = parse_length(fmt, &length);
		conversion = *fmt;
		if (!conversion)
			break;
		fmt++;
		if (conversion == '[') {
			fmt = parse_set(fmt, set);
			own_set = true;
		}
		if (conversion != 'n' && at_end(&scan, conversion))
			return scan.assigned ? scan.assigned : EOF;
		if (!skip)
			out = va_arg(args, void *);
		if (!convert(&scan, conversion, set, length, width, skip, out))
			return scan.assigned;
		for (i = 0; own_set && i <= UCHAR_MAX; i++)
			set[i] = !isspace(i);
	}
	return scan.assigned;
}

int sscanf(const char *text, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsscanf(text, fmt, args);
	va_end(args);
	return n;
}
