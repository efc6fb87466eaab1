/* SPDX-License-Identifier: MIT */
/*
 * uart.h - the contract of the console's driver: polled output, from the first line of C until the end.
 *
 * kernel/drivers/sources.cmake lists the driver. These functions take no locks and may be called in any context.
 */
#ifndef DRIVERS_UART_H
#define DRIVERS_UART_H

#include <kernel/types.h>

/** uart_write() - send @n bytes unchanged. Waits for room. */
void uart_write(const char *s, size_t n);

/** uart_flush() - wait, with a limit, until all bytes are sent. */
void uart_flush(void);

#endif
