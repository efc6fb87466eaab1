/* SPDX-License-Identifier: MIT */
/*
 * console.h - the one way to the serial line: whole lines, one CPU at a time.
 *
 * All of this is uninstrumented, takes no lock but the console's own, and may be called in any
 * context.
 */
#ifndef KERNEL_CONSOLE_H
#define KERNEL_CONSOLE_H

#include <kernel/types.h>

/**
 * console_lock() - keep other CPUs off the console
 *
 * Disables interrupts. Nests on one CPU: a fault or report inside a print goes through. Several
 * lines that belong together are printed under it.
 *
 * Return: interrupt state, for console_unlock().
 */
unsigned long console_lock(void);
void console_unlock(unsigned long flags);

/** console_bust() - the system is going down: take the console from whoever has it, after a grace
 *  of some milliseconds. The caller keeps interrupts off and prints on; never undone. */
void console_bust(void);

/** console_write() - write @n bytes as they are, no prefix, no line ending added. A line that a
 *  caller leaves open is closed before anybody else's line begins. */
void console_write(const char *text, size_t n);

/** console_write_line() - write the timestamp prefix, @text and '\n'. */
void console_write_line(const char *text);

/** console_write_lines() - the same for each line of the @n bytes at @text; a last '\n' is
 *  optional. */
void console_write_lines(const char *text, size_t n);

#endif
