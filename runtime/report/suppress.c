/* SPDX-License-Identifier: MIT */
/*
 * suppress.c - may a report be printed now? Life cycle, nesting switches, single shot, the count.
 */
#include "report.h"

static unsigned int started; /* kasan_init() was called */
unsigned int kasan_active;
static unsigned int shot; /* the one report of single-shot mode is gone */

/* kasan_disable_current(): one depth per CPU. */
static unsigned int disabled[CONFIG_KASAN_NR_CPUS];

void kasan_init(size_t memory)
{
	kasan_quarantine_init(memory);
	__atomic_store_n(&started, 1, __ATOMIC_RELEASE);
	kasan_update_active();
}

void kasan_update_active(void)
{
	__atomic_store_n(&kasan_active,
			 __atomic_load_n(&started, __ATOMIC_ACQUIRE) && !kasan_opt_off,
			 __ATOMIC_RELEASE);
}

bool kasan_enabled(void)
{
	return kasan_running();
}

void kasan_disable_current(void)
{
	const unsigned long flags = kasan_port_irq_save();
	unsigned int *depth = &disabled[kasan_port_cpu()];

	__atomic_store_n(depth, *depth + 1, __ATOMIC_RELAXED);
	kasan_port_irq_restore(flags);
}

void kasan_enable_current(void)
{
	const unsigned long flags = kasan_port_irq_save();
	unsigned int *depth = &disabled[kasan_port_cpu()];

	/* A caller that moved to another CPU in between must not silence that one for ever. */
	if (*depth)
		__atomic_store_n(depth, *depth - 1, __ATOMIC_RELAXED);
	kasan_port_irq_restore(flags);
}

bool kasan_may_report(void)
{
	return kasan_enabled() && !disabled[kasan_port_cpu()];
}

bool kasan_take_shot(bool is_write)
{
	/* Who asked for a panic at bad writes gets it also where a bad read came first. */
	if (is_write && kasan_opt_fault == KASAN_FAULT_PANIC_ON_WRITE)
		return true;
	return __atomic_load_n(&kasan_opt_multi_shot, __ATOMIC_RELAXED) ||
	       !__atomic_exchange_n(&shot, 1, __ATOMIC_RELAXED);
}

bool kasan_save_multi_shot(void)
{
	return __atomic_exchange_n(&kasan_opt_multi_shot, 1, __ATOMIC_RELAXED) != 0;
}

void kasan_restore_multi_shot(bool saved)
{
	__atomic_store_n(&kasan_opt_multi_shot, saved, __ATOMIC_RELAXED);
}
