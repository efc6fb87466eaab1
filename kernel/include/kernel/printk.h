/* SPDX-License-Identifier: MIT */
/*
 * printk.h - kernel messages.
 *
 * A message is one or more whole lines; a '\n' at its end is optional. Each line gets the prefix
 * "[SSSSS.UUUUUU] ", and lines of other CPUs do not come in between. Any context; it allocates nothing.
 * Formats: see vsnprintf() in <kernel/kernel.h>.
 */
#ifndef KERNEL_PRINTK_H
#define KERNEL_PRINTK_H

#include <kernel/types.h>

/* Longest message; a longer one is cut. */
#define PRINTK_MAX 1024

#define KERN_SOH     "\001"
#define KERN_EMERG   KERN_SOH "0"
#define KERN_ALERT   KERN_SOH "1"
#define KERN_CRIT    KERN_SOH "2"
#define KERN_ERR     KERN_SOH "3"
#define KERN_WARNING KERN_SOH "4"
#define KERN_NOTICE  KERN_SOH "5"
#define KERN_INFO    KERN_SOH "6"
#define KERN_DEBUG   KERN_SOH "7"
#define KERN_DEFAULT ""

/** printk() - print a message. A message is dropped if its level is not below the boot parameter loglevel=;
 *  a message without KERN_* is never dropped. Return: characters of the formatted message. */
int printk(const char *fmt, ...) __printf(1, 2);
int vprintk(const char *fmt, va_list args) __printf(1, 0);

/** early_printk() - print straight to the UART, without locks or prefix: before printk() works, and when it
 *  has failed. Formats: %s %c %d %u %x %lx %lu %p. */
void early_printk(const char *fmt, ...) __printf(1, 2);

/** early_panic() - print a message with early_printk(), then leave the machine with EXIT_STATUS_CRASH. */
_Noreturn void early_panic(const char *fmt, ...) __printf(1, 2);

/* A file may define its own before it includes this header. */
#ifndef pr_fmt
#define pr_fmt(fmt) fmt
#endif

#define pr_emerg(fmt, ...)  printk(KERN_EMERG pr_fmt(fmt), ##__VA_ARGS__)
#define pr_alert(fmt, ...)  printk(KERN_ALERT pr_fmt(fmt), ##__VA_ARGS__)
#define pr_crit(fmt, ...)   printk(KERN_CRIT pr_fmt(fmt), ##__VA_ARGS__)
#define pr_err(fmt, ...)    printk(KERN_ERR pr_fmt(fmt), ##__VA_ARGS__)
#define pr_warn(fmt, ...)   printk(KERN_WARNING pr_fmt(fmt), ##__VA_ARGS__)
#define pr_notice(fmt, ...) printk(KERN_NOTICE pr_fmt(fmt), ##__VA_ARGS__)
#define pr_info(fmt, ...)   printk(KERN_INFO pr_fmt(fmt), ##__VA_ARGS__)
#define pr_debug(fmt, ...)  printk(KERN_DEBUG pr_fmt(fmt), ##__VA_ARGS__)

#endif
