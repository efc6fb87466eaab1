/* SPDX-License-Identifier: MIT */
/*
 * uart.h - what the driver of the console supplies: polled output, usable from the first line of C until the end.
 *
 * Which driver that is, an architecture chooses in kernel/drivers/sources.cmake. None of these functions takes a lock;
 * they may be called in any context.
 */
#ifndef DRIVERS_UART_H
#define DRIVERS_UART_H

#include <kernel/types.h>

/** uart_write() - send @n bytes as they are. Waits for room. */
void uart_write(const char *s, size_t n);

/** uart_flush() - wait, but not for ever, until all was sent. */
void uart_flush(void);

#endif
