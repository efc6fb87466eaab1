/* SPDX-License-Identifier: MIT */
/* pl011.h - the console UART: polled output, usable from the first line of C until the end. */
#ifndef DRIVERS_PL011_H
#define DRIVERS_PL011_H

#include <kernel/types.h>

/* Registers are at FIX_UART_VADDR from the first C function on: at a guessed physical address
 * until setup_arch() has read the device tree. */

/** pl011_probe() - Return: physical address of the UART that /chosen/stdout-path names, else of
 *  the first pl011 in the tree; 0 if there is none. */
phys_addr_t pl011_probe(void);

/** uart_write() - send @n bytes as they are. Waits for room; takes no lock; any context. */
void uart_write(const char *s, size_t n);

/** uart_flush() - wait, but not for ever, until all was sent. */
void uart_flush(void);

/** uart_getc() - Return: a received byte, -1 if there is none. */
int uart_getc(void);

#endif
