/* SPDX-License-Identifier: MIT */
/*
 * pl011.c - the ARM PrimeCell UART, polled.
 *
 * Uninstrumented and without locks, so that it works in a crash when nothing else does. The console
 * makes sure that lines are written whole.
 */
#include <asm/io.h>
#include <asm/memory.h>
#include <drivers/fdt.h>
#include <drivers/pl011.h>
#include <drivers/uart.h>

#define UARTDR	  0x00
#define UARTFR	  0x18
#define UARTLCR_H 0x2c
#define UARTCR	  0x30

#define FR_BUSY BIT(3)
#define FR_TXFF BIT(5)

#define LCR_H_FIFO  BIT(4)
#define LCR_H_8BITS (BIT(5) | BIT(6))

#define CR_UARTEN BIT(0)
#define CR_TXE	  BIT(8)
#define CR_RXE	  BIT(9)

/* A UART that is missing, or has no clock, must not stop the machine. */
#define MAX_POLLS 1000000

static bool enabled;

static char *reg(unsigned long offset)
{
	return (char *)FIX_UART_VADDR + offset;
}

/* Firmware has set the speed, but may not have enabled the UART. */
static void enable(void)
{
	if (!(readl_relaxed(reg(UARTCR)) & CR_UARTEN)) {
		writel_relaxed(LCR_H_FIFO | LCR_H_8BITS, reg(UARTLCR_H));
		writel_relaxed(CR_UARTEN | CR_TXE | CR_RXE, reg(UARTCR));
	}
	enabled = true;
}

void uart_write(const char *s, size_t n)
{
	if (!enabled)
		enable();
	for (size_t i = 0; i < n; i++) {
		for (int polls = 0; polls < MAX_POLLS; polls++) {
			if (!(readl_relaxed(reg(UARTFR)) & FR_TXFF))
				break;
		}
		writel_relaxed((u8)s[i], reg(UARTDR));
	}
}

void uart_flush(void)
{
	for (int polls = 0; polls < MAX_POLLS; polls++) {
		if (!(readl_relaxed(reg(UARTFR)) & FR_BUSY))
			return;
	}
}

phys_addr_t pl011_probe(void)
{
	const char *path = fdt_string(fdt_path("/chosen"), "stdout-path");
	phys_addr_t base;
	int node = -1;
	u64 size;

	if (path)
		node = fdt_path(path);
	/* If the tree names another kind of console, use any pl011. */
	if (node < 0 || !fdt_is_compatible(node, "arm,pl011"))
		node = fdt_compatible(-1, "arm,pl011");
	if (node < 0 || !fdt_reg(node, 0, &base, &size))
		return 0;
	return base;
}
