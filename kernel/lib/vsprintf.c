/* SPDX-License-Identifier: MIT */
/*
 * vsprintf.c - the formatter behind printk() and snprintf().
 *
 * Instrumented: it reads the strings and writes the buffers of its callers byte by byte. So if a
 * buffer is smaller than the caller says, the report is about the first byte after it. It allocates
 * no memory.
 */
#include <kernel/ctype.h>
#include <kernel/kallsyms.h>
#include <kernel/kernel.h>
#include <kernel/slab.h>
#include <kernel/string.h>

/* The buffer for the result. @len counts all characters, including those that do not fit. */
struct output {
	char *buf;
	size_t size;
	size_t len;
};

enum length {
	LEN_CHAR,
	LEN_SHORT,
	LEN_INT,
	LEN_LONG,
	LEN_LLONG,
};

/**
 * struct spec - one conversion
 * @precision: -1 if none was given.
 */
struct spec {
	bool left, plus, space, alt, zero;
	int width;
	int precision;
	enum length length;
	char conversion;
};

static inline void put(struct output *out, char c)
{
	if (out->len < out->size)
		out->buf[out->len] = c;
	out->len++;
}

/* Characters past the buffer's end are only counted: a width may be any number. */
static void pad(struct output *out, char c, long n)
{
	for (; n > 0 && out->len < out->size; n--)
		put(out, c);
	if (n > 0)
		out->len += (size_t)n;
}

/* Print @n characters in a field of spec->width. */
static void put_field(struct output *out, const struct spec *spec, const char *s, int n)
{
	if (!spec->left)
		pad(out, ' ', (long)spec->width - n);
	for (int i = 0; i < n; i++)
		put(out, s[i]);
	if (spec->left)
		pad(out, ' ', (long)spec->width - n);
}

static void put_string(struct output *out, const struct spec *spec, const char *s)
{
	size_t max = spec->precision < 0 ? INT_MAX : (size_t)spec->precision;

	if (!s)
		s = "(null)";
	/* A string with a precision need not have a NUL: read no byte beyond the precision. */
	put_field(out, spec, s, (int)strnlen(s, max));
}

static void put_number(struct output *out, const struct spec *spec, u64 value, bool negative)
{
	const char *digits = spec->conversion == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	unsigned int base = 10;
	char text[24]; /* 22 octal digits of 2^64 - 1 */
	int n = 0;
	long zeros, total;
	char prefix[2];
	int prefix_len = 0;

	if (spec->conversion == 'o')
		base = 8;
	else if (spec->conversion == 'x' || spec->conversion == 'X')
		base = 16;
	else if (spec->conversion != 'u' && (negative || spec->plus || spec->space))
		prefix[prefix_len++] = negative ? '-' : spec->plus ? '+' : ' ';
	if (spec->alt && base == 16 && value) {
		prefix[prefix_len++] = '0';
		prefix[prefix_len++] = spec->conversion;
	}

	/* With precision 0 the value 0 has no digits. */
	for (u64 v = value; v || (n == 0 && spec->precision != 0); v /= base)
		text[n++] = digits[v % base];

	zeros = max(spec->precision - n, 0);
	if (spec->alt && base == 8 && zeros == 0 && (n == 0 || text[n - 1] != '0'))
		zeros = 1;
	total = prefix_len + zeros + n;
	/* The 0 flag is ignored if there is a precision or the flag '-'. */
	if (spec->zero && !spec->left && spec->precision < 0 && spec->width > total) {
		zeros += spec->width - total;
		total = spec->width;
	}

	if (!spec->left)
		pad(out, ' ', spec->width - total);
	for (int i = 0; i < prefix_len; i++)
		put(out, prefix[i]);
	pad(out, '0', zeros);
	while (n)
		put(out, text[--n]);
	if (spec->left)
		pad(out, ' ', spec->width - total);
}

/* Not inlined: only a symbol needs this much stack. */
static noinline void put_symbol(struct output *out, const struct spec *spec, unsigned long address,
				char kind)
{
	char name[KSYM_SYMBOL_LEN];
	int n;

	if (kind == 's')
		n = sprint_symbol_no_offset(name, address);
	else if (kind == 'B')
		n = sprint_backtrace(name, address);
	else
		n = sprint_symbol(name, address);
	put_field(out, spec, name, n);
}

/* Handle %p; @fmt points after the p. Return: how many characters at @fmt belong to the conversion. */
static size_t put_pointer(struct output *out, struct spec *spec, const void *p, const char *fmt)
{
	if (*fmt == 'S' || *fmt == 's' || *fmt == 'B') {
		put_symbol(out, spec, (unsigned long)p, *fmt);
		return 1;
	}
	spec->conversion = 'x';
	spec->precision = 2 * (int)sizeof(p);
	spec->alt = false;
	put_number(out, spec, (uintptr_t)p, false);
	return *fmt == 'x' ? 1 : 0;
}

/* Parse decimal digits at *@s. Return: their value, INT_MAX at most. */
static int parse_digits(const char **s)
{
	int n = 0;

	for (; isdigit(**s); (*s)++) {
		int digit = **s - '0';

		n = n > (INT_MAX - digit) / 10 ? INT_MAX : n * 10 + digit;
	}
	return n;
}

/* Parse a conversion; @s points after the '%'. Return: the position after the conversion character,
 * or the end of the text. */
static const char *parse_spec(const char *s, struct spec *spec, va_list *args)
{
	*spec = (struct spec){.precision = -1, .length = LEN_INT};

	for (;; s++) {
		if (*s == '-')
			spec->left = true;
		else if (*s == '+')
			spec->plus = true;
		else if (*s == ' ')
			spec->space = true;
		else if (*s == '#')
			spec->alt = true;
		else if (*s == '0')
			spec->zero = true;
		else
			break;
	}

	if (*s == '*') {
		s++;
		spec->width = va_arg(*args, int);
		if (spec->width < 0) {
			spec->left = true;
			spec->width = spec->width == INT_MIN ? INT_MAX : -spec->width;
		}
	} else {
		spec->width = parse_digits(&s);
	}

	if (*s == '.') {
		s++;
		if (*s == '*') {
			s++;
			spec->precision = max(va_arg(*args, int), -1);
		} else {
			spec->precision = parse_digits(&s);
		}
	}

	switch (*s) {
	case 'h':
		spec->length = *++s == 'h' ? (s++, LEN_CHAR) : LEN_SHORT;
		break;
	case 'l':
		spec->length = *++s == 'l' ? (s++, LEN_LLONG) : LEN_LONG;
		break;
	case 'z':
	case 't':
		s++;
		spec->length = LEN_LONG;
		break;
	case 'j':
		s++;
		spec->length = LEN_LLONG;
		break;
	}

	spec->conversion = *s;
	return *s ? s + 1 : s;
}

static s64 signed_arg(enum length length, va_list *args)
{
	switch (length) {
	case LEN_CHAR:
		return (signed char)va_arg(*args, int);
	case LEN_SHORT:
		return (short)va_arg(*args, int);
	case LEN_LONG:
		return va_arg(*args, long);
	case LEN_LLONG:
		return va_arg(*args, long long);
	default:
		return va_arg(*args, int);
	}
}

static u64 unsigned_arg(enum length length, va_list *args)
{
	switch (length) {
	case LEN_CHAR:
		return (unsigned char)va_arg(*args, int);
	case LEN_SHORT:
		return (unsigned short)va_arg(*args, int);
	case LEN_LONG:
		return va_arg(*args, unsigned long);
	case LEN_LLONG:
		return va_arg(*args, unsigned long long);
	default:
		return va_arg(*args, unsigned int);
	}
}

static int format(char *buf, size_t size, const char *fmt, va_list *args)
{
	struct output out = {.buf = buf, .size = size};
	struct spec spec;
	const char *start;
	char c;
	s64 value;

	while (*fmt) {
		if (*fmt != '%') {
			put(&out, *fmt++);
			continue;
		}
		start = fmt;
		fmt = parse_spec(fmt + 1, &spec, args);
		switch (spec.conversion) {
		case 'd':
		case 'i':
			value = signed_arg(spec.length, args);
			put_number(&out, &spec, value < 0 ? -(u64)value : (u64)value, value < 0);
			break;
		case 'u':
		case 'x':
		case 'X':
		case 'o':
			put_number(&out, &spec, unsigned_arg(spec.length, args), false);
			break;
		case 'c':
			c = (char)va_arg(*args, int);
			put_field(&out, &spec, &c, 1);
			break;
		case 's':
			put_string(&out, &spec, va_arg(*args, const char *));
			break;
		case 'p':
			fmt += put_pointer(&out, &spec, va_arg(*args, void *), fmt);
			break;
		case '%':
			put(&out, '%');
			break;
		default:
			/* Unknown conversion: print it unchanged, so that the mistake is seen. */
			while (start < fmt)
				put(&out, *start++);
		}
	}

	if (size)
		buf[min(out.len, size - 1)] = '\0';
	return out.len > INT_MAX ? INT_MAX : (int)out.len;
}

int vsnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	va_list copy;
	int n;

	/* As a parameter, args may have become a pointer. A copy has the right type, so its address
	 * can be passed. */
	va_copy(copy, args);
	n = format(buf, size, fmt, &copy);
	va_end(copy);
	return n;
}

int snprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(buf, size, fmt, args);
	va_end(args);
	return n;
}

int vscnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	int n = vsnprintf(buf, size, fmt, args);

	if (!size)
		return 0;
	return (size_t)n < size ? n : (int)(size - 1);
}

int scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vscnprintf(buf, size, fmt, args);
	va_end(args);
	return n;
}

int vsprintf(char *buf, const char *fmt, va_list args)
{
	return vsnprintf(buf, INT_MAX, fmt, args);
}

int sprintf(char *buf, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsprintf(buf, fmt, args);
	va_end(args);
	return n;
}

char *kvasprintf(gfp_t gfp, const char *fmt, va_list args)
{
	va_list copy;
	char *buf;
	int n;

	va_copy(copy, args);
	n = vsnprintf(NULL, 0, fmt, copy);
	va_end(copy);
	buf = kmalloc((size_t)n + 1, gfp);
	if (buf)
		vsnprintf(buf, (size_t)n + 1, fmt, args);
	return buf;
}

char *kasprintf(gfp_t gfp, const char *fmt, ...)
{
	va_list args;
	char *buf;

	va_start(args, fmt);
	buf = kvasprintf(gfp, fmt, args);
	va_end(args);
	return buf;
}
