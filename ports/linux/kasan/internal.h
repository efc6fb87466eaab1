/* SPDX-License-Identifier: MIT */
/* internal.h - what the files of the port share. After redzone.h. */
#ifndef MM_KASAN_INTERNAL_H
#define MM_KASAN_INTERNAL_H

#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/version.h>

/* Linux 7 has another interface than 6.12 in a few places. */
#define KASAN_LINUX_7 (LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0))

/* Above 0: this CPU may hold locks that the page allocator takes. */
DECLARE_PER_CPU(unsigned int, kasan_no_pages);

/** kasan_begin_without_pages() - the runtime may not allocate pages until kasan_end_without_pages() gets what this
 * returns. Interrupts are off meanwhile. */
static inline unsigned long kasan_begin_without_pages(void)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	raw_cpu_inc(kasan_no_pages);
	return flags;
}

static inline void kasan_end_without_pages(unsigned long flags)
{
	raw_cpu_dec(kasan_no_pages);
	raw_local_irq_restore(flags);
}

/** kasan_delay_depot() - let Linux give its stack depot a table later, unless something else wants it now. Call it when the
 * command line is known, before mm_core_init(), as often as you like. */
void kasan_delay_depot(void);

/** kasan_redirect_strings() - let the string functions that strings.c has do the work of Linux's. Once, before other CPUs
 * run. */
#ifdef CONFIG_ARM64
void kasan_redirect_strings(void);
#else
static inline void kasan_redirect_strings(void)
{
}
#endif

/** kasan_test_reported() - a report is complete: a test that runs has failed, unless it is KASAN's own. */
void kasan_test_reported(void);

#endif
