// SPDX-License-Identifier: MIT
/*
 * early_printk.c - messages directly to the UART, for when printk() does not work yet or no longer
 * works.
 *
 * Uninstrumented, and it calls no instrumented code, because there may be no shadow yet.
 */
#include <kernel/host.h>
#include <kernel/kasan_port.h>
#include <kernel/printk.h>
#include <drivers/uart.h>

static void early_putc(char c)
{
	uart_write(&c, 1);
}

static void early_puts(const char *s)
{
	while (*s)
		early_putc(*s++);
}

static void early_number(u64 value, unsigned int base, unsigned int width)
{
	char digits[24];
	unsigned int n = 0;

	do {
		unsigned int digit = (unsigned int)(value % base);

		digits[n++] = (char)(digit < 10 ? '0' + digit : 'a' + digit - 10);
		value /= base;
	} while (value || n < width);
	while (n)
		early_putc(digits[--n]);
}

static void early_vprintk(const char *fmt, va_list args)
{
	for (; *fmt; fmt++) {
		bool is_long = false;

		if (*fmt != '%') {
			early_putc(*fmt);
			continue;
		}
		fmt++;
		if (*fmt == 'l') {
			is_long = true;
			fmt++;
		}
		switch (*fmt) {
		case 's':
			early_puts(va_arg(args, const char *));
			break;
		case 'c':
			early_putc((char)va_arg(args, int));
			break;
		case 'd': {
			long value = is_long ? va_arg(args, long) : va_arg(args, int);

			if (value < 0)
				early_putc('-');
			early_number(value < 0 ? -(u64)value : (u64)value, 10, 1);
			break;
		}
		case 'u':
			early_number(is_long ? va_arg(args, u64) : va_arg(args, u32), 10, 1);
			break;
		case 'x':
			early_number(is_long ? va_arg(args, u64) : va_arg(args, u32), 16, 1);
			break;
		case 'p':
			early_number((u64)va_arg(args, void *), 16, 16);
			break;
		case '\0':
			return;
		default:
			early_putc(*fmt);
		}
	}
}

void early_printk(const char *fmt, ...)
{
	va_list args;

	host_mark_uart();
	va_start(args, fmt);
	early_vprintk(fmt, args);
	va_end(args);
}

void early_panic(const char *fmt, ...)
{
	va_list args;

	host_mark_uart();
	early_puts("\nKernel panic - not syncing: ");
	va_start(args, fmt);
	early_vprintk(fmt, args);
	va_end(args);
	machine_exit(EXIT_STATUS_CRASH);
}
