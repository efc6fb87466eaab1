/* SPDX-License-Identifier: MIT */
/*
 * console.h - the only way to the console: whole lines, one CPU at a time.
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

/** console_write() - write @n bytes of a program, unchanged, without prefix or line ending. A line that is left open is
 *  closed before a line of the kernel begins. The host sees them within a tick. */
void console_write(const char *text, size_t n);

/** console_flush() - let the host see at once what was written. */
void console_flush(void);

/** console_tick() - called in each tick: send what console_write() has kept. Interrupts off. */
void console_tick(void);

/** console_write_line() - write the timestamp prefix, @text and '\n'. */
void console_write_line(const char *text);

/** console_write_lines() - the same for each line of the @n bytes at @text; a last '\n' is
 *  optional. */
void console_write_lines(const char *text, size_t n);

#endif
