/* SPDX-License-Identifier: MIT */
/* pl011.h - the ARM PrimeCell UART as the console; see <drivers/uart.h>. */
#ifndef DRIVERS_PL011_H
#define DRIVERS_PL011_H

#include <kernel/types.h>

/* The registers are at FIX_UART_VADDR from the first C function on. Until setup_arch() has read the device
 * tree, the physical address behind it is a guess. */

/** pl011_probe() - Return: physical address of the UART that /chosen/stdout-path names, or else of the first
 *  pl011 in the tree; 0 if there is none. */
phys_addr_t pl011_probe(void);

#endif
