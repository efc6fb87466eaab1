/* SPDX-License-Identifier: MIT */
/* printk.c - formats messages, filters them by level, and sends their lines to the console. */
#include <kernel/console.h>
#include <kernel/kernel.h>
#include <kernel/param.h>
#include <kernel/printk.h>

static unsigned int loglevel = 8;
range_param("loglevel", loglevel, 0, 8, "a number", "print only messages more urgent than this");

/* Level of a message without KERN_*: more urgent than all others, so loglevel= never hides it. */
#define LEVEL_NONE (-1)

int vprintk(const char *fmt, va_list args)
{
	/* The buffer is on the stack, because any context may print, even inside another printk(). */
	char buf[PRINTK_MAX];
	int len = vscnprintf(buf, sizeof(buf), fmt, args);
	int level = LEVEL_NONE;
	const char *text = buf;

	if (len >= 2 && buf[0] == KERN_SOH[0] && buf[1] >= '0' && buf[1] <= '7') {
		level = buf[1] - '0';
		text += 2;
		len -= 2;
	}
	/* Emergencies are never hidden: the message of a panic must be seen. */
	if (level < (int)max(loglevel, 1U))
		console_write_lines(text, (size_t)len);
	return len;
}

int printk(const char *fmt, ...)
{
	va_list args;
	int len;

	va_start(args, fmt);
	len = vprintk(fmt, args);
	va_end(args);
	return len;
}
