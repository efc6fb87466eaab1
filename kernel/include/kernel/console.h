/* SPDX-License-Identifier: MIT */
/*
 * console.h - the only way to the serial line: whole lines, one CPU at a time.
 *
 * None of these functions is instrumented or takes another lock than the console's. Any context.
 */
#ifndef KERNEL_CONSOLE_H
#define KERNEL_CONSOLE_H

#include <kernel/types.h>

/**
 * console_lock() - keep other CPUs off the console
 *
 * Disables interrupts. Nests on one CPU, so a fault or report inside a print is printed. Hold it to print
 * several lines that belong together.
 *
 * Return: interrupt state, for console_unlock().
 */
unsigned long console_lock(void);
void console_unlock(unsigned long flags);

/** console_bust() - the system goes down: take the console from its holder, after a grace period of some
 *  milliseconds. The caller keeps interrupts off and continues to print; this is never undone. */
void console_bust(void);

/** console_write() - write @n bytes unchanged, without prefix or line ending. A line that a caller leaves
 *  open is closed before another caller's line begins. */
void console_write(const char *text, size_t n);

/** console_write_line() - write the timestamp prefix, @text and '\n'. */
void console_write_line(const char *text);

/** console_write_lines() - the same for each line of the @n bytes at @text; a last '\n' is
 *  optional. */
void console_write_lines(const char *text, size_t n);

#endif
