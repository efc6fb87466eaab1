/* SPDX-License-Identifier: MIT */
/*
 * format.c - a bounded printf for lines of text, without a C library and without allocating memory.
 *
 * The system's printf cannot be used: it may be instrumented, take locks, or be broken itself. Beyond the usual
 * conversions, %p prints an address as 16 hex digits (8 on 32-bit systems) without 0x. %pS prints a code address as
 * name+0xoffset/0xsize, and %pB a return address, which is looked up one byte earlier because a call may be the last
 * instruction of its function. An address without a name prints as 0x and its digits.
 */
#include "format.h"

#define LINE_MAX    (sizeof(((struct kasan_line *)NULL)->text) - 1)
#define SYMBOL_MAX  128
#define ADDR_DIGITS ((unsigned int)sizeof(uintptr_t) * 2)

struct spec {
	bool zero;
	unsigned int width;
	unsigned int precision; /* of strings: most characters */
};

static void put(struct kasan_line *line, char c)
{
	/* A task's name that a bug has overwritten must not end the line or control a terminal. */
	if (line->length < LINE_MAX)
		line->text[line->length++] = c >= ' ' && c <= '~' ? c : '?';
}

static void put_string(struct kasan_line *line, const char *s, const struct spec *spec)
{
	size_t length = 0, i;

	while (length < spec->precision && s[length])
		length++;
	for (i = length; i < spec->width; i++)
		put(line, ' ');
	for (i = 0; i < length; i++)
		put(line, s[i]);
}

static void put_number(struct kasan_line *line, uintptr_t value, unsigned int base, bool negative,
		       const struct spec *spec)
{
	char digits[24];
	unsigned int count = 0, i;

	do {
		digits[count++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	if (negative && spec->zero)
		put(line, '-');
	for (i = count + negative; i < spec->width; i++)
		put(line, spec->zero ? '0' : ' ');
	if (negative && !spec->zero)
		put(line, '-');
	while (count)
		put(line, digits[--count]);
}

static const struct spec plain = {.precision = SYMBOL_MAX};

static void put_hex(struct kasan_line *line, const char *before, uintptr_t value)
{
	put_string(line, before, &plain);
	put_number(line, value, 16, false, &plain);
}

static void put_symbol(struct kasan_line *line, uintptr_t pc, bool is_return)
{
	const uintptr_t inside = pc - (is_return && pc ? 1 : 0);
	struct kasan_symbol symbol;
	char name[SYMBOL_MAX];

	kasan_clear(&symbol);
	name[0] = '\0';
	if (!kasan_port_symbol(inside, name, sizeof(name), &symbol) || !name[0]) {
		put_hex(line, "0x", pc);
		return;
	}
	name[sizeof(name) - 1] = '\0';
	put_string(line, name, &plain);
	put_hex(line, "+0x", pc - symbol.start);
	put_hex(line, "/0x", symbol.size);
	if (symbol.module) {
		put_string(line, " [", &plain);
		put_string(line, symbol.module, &plain);
		put(line, ']');
	}
}

/* Handles %p, %pS and %pB. @fmt: after the p. Return: where the format continues. */
static const char *put_pointer(struct kasan_line *line, const char *fmt, const void *pointer)
{
	static const struct spec address = {.zero = true, .width = ADDR_DIGITS};

	if (*fmt == 'S' || *fmt == 'B') {
		put_symbol(line, (uintptr_t)pointer, *fmt == 'B');
		return fmt + 1;
	}
	put_number(line, (uintptr_t)pointer, 16, false, &address);
	return fmt;
}

static const char *parse_number(const char *fmt, unsigned int *number)
{
	*number = 0;
	while (*fmt >= '0' && *fmt <= '9')
		*number = *number * 10 + (unsigned int)(*fmt++ - '0');
	return fmt;
}

/* Handles one conversion. @fmt: after the %. */
static const char *convert(struct kasan_line *line, const char *fmt, va_list *args)
{
	bool is_long = false;
	const char *string;
	struct spec spec;
	intptr_t number;

	kasan_clear(&spec);
	spec.precision = LINE_MAX;
	if (*fmt == '0') {
		spec.zero = true;
		fmt++;
	}
	fmt = parse_number(fmt, &spec.width);
	if (*fmt == '.' && fmt[1] == '*') {
		spec.precision = va_arg(*args, unsigned int);
		fmt += 2;
	} else if (*fmt == '.') {
		fmt = parse_number(fmt + 1, &spec.precision);
	}
	if (*fmt == 'l' || *fmt == 'z') {
		/* Where long is no larger than int, one va_arg() is enough. */
		is_long = sizeof(long) != sizeof(int);
		fmt++;
	}

	switch (*fmt) {
	case 'c':
		put(line, (char)va_arg(*args, int));
		break;
	case 's':
		string = va_arg(*args, const char *);
		put_string(line, string ? string : "(null)", &spec);
		break;
	case 'd':
		number = is_long ? va_arg(*args, long) : va_arg(*args, int);
		put_number(line, number < 0 ? -(uintptr_t)number : (uintptr_t)number, 10,
			   number < 0, &spec);
		break;
	case 'u':
	case 'x':
		put_number(line,
			   is_long ? va_arg(*args, unsigned long) : va_arg(*args, unsigned int),
			   *fmt == 'u' ? 10 : 16, false, &spec);
		break;
	case 'p':
		return put_pointer(line, fmt + 1, va_arg(*args, const void *));
	case '\0':
		return fmt;
	default:
		/* Print an unknown conversion as it stands, without consuming its argument. Of %% one sign is
		 * printed. */
		if (*fmt != '%')
			put(line, '%');
		put(line, *fmt);
		break;
	}
	return fmt + 1;
}

void kasan_line_add_list(struct kasan_line *line, const char *fmt, va_list *args)
{
	while (*fmt) {
		if (*fmt == '%')
			fmt = convert(line, fmt + 1, args);
		else
			put(line, *fmt++);
	}
}

void kasan_line_add(struct kasan_line *line, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	kasan_line_add_list(line, fmt, &args);
	va_end(args);
}
