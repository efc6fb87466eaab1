/* SPDX-License-Identifier: MIT */
/* kernel.h - formatting, number parsing, and what nearly every file needs. */
#ifndef KERNEL_KERNEL_H
#define KERNEL_KERNEL_H

#include <kernel/bug.h>
#include <kernel/errno.h>
#include <kernel/printk.h>
#include <kernel/types.h>

/**
 * vsnprintf() - format into a buffer
 * @buf: result, NUL-terminated if @size > 0; may be NULL if @size is 0.
 *
 * %d %i %u %x %X %o %c %s %p %%, flags - 0 + space #, width and precision (also *), lengths hh h l
 * ll z t j. %p prints 16 hexadecimal digits; %pS a symbol with offset and size, %ps its name, %pB the same
 * as %pS for a return address. A NULL string prints "(null)". The kernel has no floating point; an unknown
 * conversion is copied unchanged.
 *
 * The function is instrumented: a @size larger than the buffer is reported.
 *
 * Return: length of the whole result, without the NUL.
 */
int vsnprintf(char *buf, size_t size, const char *fmt, va_list args) __printf(3, 0);
int snprintf(char *buf, size_t size, const char *fmt, ...) __printf(3, 4);

/** scnprintf(), vscnprintf() - Return: characters written into @buf, without the NUL. */
int scnprintf(char *buf, size_t size, const char *fmt, ...) __printf(3, 4);
int vscnprintf(char *buf, size_t size, const char *fmt, va_list args) __printf(3, 0);

/** sprintf(), vsprintf() - without a bound, for buffers known to be large enough. */
int sprintf(char *buf, const char *fmt, ...) __printf(2, 3);
int vsprintf(char *buf, const char *fmt, va_list args) __printf(2, 0);

/** kasprintf(), kvasprintf() - format into kmalloc() memory. Return: the string, NULL if there is no memory. */
char *kasprintf(gfp_t gfp, const char *fmt, ...) __printf(2, 3);
char *kvasprintf(gfp_t gfp, const char *fmt, va_list args) __printf(2, 0);

/**
 * kstrtoull() and others - parse all of @s as one number
 * @s: optional '+' (and '-' for signed types), digits, at most one '\n' at the end.
 * @base: 2..36, or 0: chosen by the prefix 0x or 0.
 *
 * Return: 0; -EINVAL: not a number; -ERANGE: does not fit. *@res changes only on success.
 */
int kstrtoull(const char *s, unsigned int base, unsigned long long *res);
int kstrtoll(const char *s, unsigned int base, long long *res);
int kstrtoul(const char *s, unsigned int base, unsigned long *res);
int kstrtol(const char *s, unsigned int base, long *res);
int kstrtouint(const char *s, unsigned int base, unsigned int *res);
int kstrtoint(const char *s, unsigned int base, int *res);
int kstrtou64(const char *s, unsigned int base, u64 *res);
int kstrtou32(const char *s, unsigned int base, u32 *res);

/** kstrtobool() - y, yes, 1, on, true, t and their opposites, any case; only the first letters
 *  count as in "on", "off". Return: 0 or -EINVAL. */
int kstrtobool(const char *s, bool *res);

/** simple_strtoull(), simple_strtol() - parse as far as possible; wraps on overflow. @endp: set to the first
 *  character not used, may be NULL. */
unsigned long long simple_strtoull(const char *s, char **endp, unsigned int base);
unsigned long simple_strtoul(const char *s, char **endp, unsigned int base);
long simple_strtol(const char *s, char **endp, unsigned int base);

/** memparse() - parse a number with an optional suffix K, M, G or T (powers of 1024). @retp: set to the
 *  first character not used, may be NULL. */
unsigned long long memparse(const char *s, char **retp);

#define __stringify_1(x) #x
#define __stringify(x)	 __stringify_1(x)

#define clamp(v, lo, hi) min(max(v, lo), hi)
#define swap(a, b)                       \
	do {                             \
		__typeof__(a) __t = (a); \
		(a) = (b);               \
		(b) = __t;               \
	} while (0)

#endif
