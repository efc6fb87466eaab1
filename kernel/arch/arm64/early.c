/* SPDX-License-Identifier: MIT */
/*
 * early.c - the first C function: final page tables, early shadow, early console.
 *
 * Uninstrumented, and calls nothing that is instrumented: until it has finished there is no shadow
 * to check.
 */
#include <asm/irqflags.h>
#include <asm/kasan.h>
#include <asm/pgtable.h>
#include <asm/setup.h>
#include <asm/timer.h>
#include <drivers/pl011.h>
#include "arch.h"

/* Not in .bss: head.S writes it just after clearing that, and it must not depend on the order. */
u64 kimage_voffset __section(".data") = 0;
phys_addr_t memstart_addr;
bool early_init_done;
phys_addr_t boot_fdt_phys;

static void map_or_die(unsigned long va, phys_addr_t pa, size_t size, pgprot_t prot,
		       const char *what)
{
	if (map_kernel_range(va, pa, size, prot))
		early_panic("no page tables for %s\n", what);
}

static void map_segment(const char *start, const char *end, pgprot_t prot, const char *what)
{
	unsigned long va = (unsigned long)start & PAGE_MASK;

	map_or_die(va, __pa_symbol(va), PAGE_ALIGN((unsigned long)end) - va, prot, what);
}

/* head.S mapped the UART in its own tables at the same address: messages work from the start. */
void early_init(phys_addr_t fdt)
{
	map_or_die(FIX_UART_VADDR, PL011_DEFAULT_PHYS, PAGE_SIZE, PAGE_DEVICE, "the UART");
	map_segment(_text, _etext, PAGE_KERNEL_EXEC | PROT_BLOCKS_OK, "kernel text");
	map_segment(__rodata_start, __rodata_end, PAGE_KERNEL_RO | PROT_BLOCKS_OK, "kernel rodata");
	map_segment(__data_start, _end, PAGE_KERNEL | PROT_BLOCKS_OK, "kernel data");
	if (fdt)
		map_or_die(FIX_FDT_VADDR, fdt & PAGE_MASK, FIX_FDT_SIZE, PAGE_KERNEL_RO,
			   "the device tree");
	kasan_early_init();
	pgtable_activate();
	early_clock_init();
	boot_fdt_phys = fdt;
	early_init_done = true;
}

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

	va_start(args, fmt);
	early_vprintk(fmt, args);
	va_end(args);
}

void early_panic(const char *fmt, ...)
{
	va_list args;

	early_puts("\nKernel panic - not syncing: ");
	va_start(args, fmt);
	early_vprintk(fmt, args);
	va_end(args);
	machine_exit(3);
}
