// SPDX-License-Identifier: MIT
/*
 * formatter.c - fuzzes kernel/lib/vsprintf.c. An input is a byte with the buffer's size, four numbers of eight bytes, and a
 * format up to its NUL; the rest is the string for %s. The buffer is an object of exactly the size that is told.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <kernel/kernel.h>
#include <kernel/string.h>

#define NUMBERS 4

/* Fill @args for @format: a string for each %s, @numbers for the others. Return: false if it takes more than four. */
static bool choose(const char *format, const char *string, const u64 *numbers, u64 *args)
{
	unsigned int n = 0;

	while ((format = strchr(format, '%'))) {
		format++;
		/* Flags, width, precision, length, then the letter. The formatter takes a % in between as its letter. */
		while (*format && strchr("-+ #0123456789.*hlztj", *format)) {
			if (*format == '*' && n == NUMBERS)
				return false;
			if (*format == '*') {
				args[n] = numbers[n];
				n++;
			}
			format++;
		}
		if (!*format)
			break;
		if (*format != '%') {
			if (n == NUMBERS)
				return false;
			args[n] = *format == 's' ? (u64)(uintptr_t)string : numbers[n];
			n++;
		}
		format++;
	}
	return true;
}

/* A format has letters and lengths in an order that only the formatter knows: any order but its own is text. */
static bool is_plain(const char *format)
{
	for (; (format = strchr(format, '%')); format++) {
		format += 1 + strspn(format + 1, "-+ #0");
		format += *format == '*' ? 1 : strspn(format, "0123456789");
		if (*format == '.')
			format += format[1] == '*' ? 2 : 1 + strspn(format + 1, "0123456789");
		if (*format == 'h' || *format == 'l')
			format += format[1] == *format ? 2 : 1;
		else
			format += strspn(format, "ztj") != 0;
		if (!*format || !strchr("diuxXocsp%", *format))
			return false;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *format, *string, *out;
	u64 numbers[NUMBERS], args[NUMBERS] = {0};
	size_t room, length;
	int whole, n;

	if (size < 1 + sizeof(numbers))
		return 0;
	room = data[0];
	memcpy(numbers, data + 1, sizeof(numbers));
	data += 1 + sizeof(numbers);
	size -= 1 + sizeof(numbers);
	length = strnlen((const char *)data, size);
	format = malloc(length + 1);
	string = malloc(size - length + 1);
	out = malloc(room);
	if (format && string && (out || !room)) {
		memcpy(format, data, length);
		format[length] = '\0';
		memcpy(string, data + length, size - length);
		string[size - length] = '\0';
		/* A string begins behind the format's NUL. */
		if (is_plain(format) && choose(format, string + (size > length), numbers, args)) {
			n = snprintf(out, room, format, args[0], args[1], args[2], args[3]);
			whole = snprintf(NULL, 0, format, args[0], args[1], args[2], args[3]);
			BUG_ON(n != whole || n < 0);
			BUG_ON(room && out[min((size_t)n, room - 1)]);
		}
	}
	free(out);
	free(string);
	free(format);
	return 0;
}
