/* SPDX-License-Identifier: MIT */
/* lifecycle.c - decides whether a bug may be reported now: kasan_init(), nesting switches, single shot. */
#include "captured.h"

#include "../alloc/quarantine.h"
#include "../tags/tags.h"
#include "../track/ring.h"

static unsigned int shot; /* the one report of single-shot mode is gone */

/* The depth of kasan_disable_current() on each CPU where there is no task: in interrupts, and on systems without
 * tasks. */
static unsigned int disabled[CONFIG_KASAN_NR_CPUS];

/* Interrupts are off, so the context does not change before the depth is used. */
static unsigned int *depth_here(void)
{
	unsigned int *depth = kasan_port_task_depth();

	return depth ? depth : &disabled[kasan_port_cpu()];
}

#if defined(CONFIG_KASAN_GENERIC) && CONFIG_KASAN_SLAB
static void init_quarantine(size_t memory)
{
	const size_t refused = kasan_quarantine_init(memory);

	if (refused)
		kasan_notice("kasan: kasan.quarantine_size=%zu: expected %s, which is %zu; "
			     "keeping the default, %zu",
			     refused, kasan_option_values("kasan.quarantine_size"), memory / 2,
			     memory >> CONFIG_KASAN_QUARANTINE_SHIFT);
}
#endif

void kasan_init(size_t memory)
{
	(void)memory;
#if defined(CONFIG_KASAN_TAGS)
	kasan_ring_init();
#elif CONFIG_KASAN_SLAB
	init_quarantine(memory);
#endif
	kasan_set_reporting(kasan_on() ? KASAN_LIVE : KASAN_SILENT);
	kasan_known_update();
}

/* Bad accesses that the CPU notes are reported some time later. */
#ifdef CONFIG_KASAN_HW_TAGS
#define report_noted kasan_report_async_faults
#define drop_noted() ((void)kasan_tags_take_async_fault())
#else
#define report_noted(ip, fp) ((void)(ip), (void)(fp))
#define drop_noted()	     ((void)0)
#endif

kasan_noinline void kasan_disable_current(void)
{
	unsigned long flags;
	unsigned int *depth;

	/* The caller does not want to hide the faults that the CPU noted before, so report them now. */
	report_noted(KASAN_CALLER_IP(), KASAN_CALLER_FP());
	flags = kasan_port_irq_save();
	depth = depth_here();
	__atomic_store_n(depth, *depth + 1, __ATOMIC_RELAXED);
	kasan_port_irq_restore(flags);
}

void kasan_enable_current(void)
{
	const unsigned long flags = kasan_port_irq_save();
	unsigned int *depth = depth_here();

	/* Those noted since are hidden: drop them now, or a later context would be blamed for them. */
	if (*depth == 1)
		drop_noted();
	/* Without depths of tasks the caller may have moved to another CPU, which it must not silence for ever. */
	if (*depth)
		__atomic_store_n(depth, *depth - 1, __ATOMIC_RELAXED);
	kasan_port_irq_restore(flags);
}

bool kasan_may_report(void)
{
	return kasan_live() && !*depth_here();
}

bool kasan_take_shot(bool is_write)
{
	/* The user asked for a panic at bad writes, which an earlier bad read must not prevent. */
	if (is_write && kasan_opt_fault == KASAN_PANIC_ON_WRITE)
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
