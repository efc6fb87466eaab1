/* SPDX-License-Identifier: MIT */
/*
 * arch.h - what differs between architectures: the stack of interrupts, and where the shadow lies if that is known only at
 * run time.
 */
#ifndef MM_KASAN_ARCH_H
#define MM_KASAN_ARCH_H

#include <linux/kasan.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#ifdef CONFIG_ARCH_DEFER_KASAN
#error "Redzone does not run in Linux 7 for an architecture that switches KASAN on late"
#endif

/* --- Shadow --- */

/* kasan_arch_is_ready() - does the machine have shadow, and is it mapped? Where that is not certain, Linux says it. */
#ifndef kasan_arch_is_ready
static inline bool kasan_arch_is_ready(void)
{
	return true;
}
#endif

/* kasan_arch_shadow() - the lowest and the last address with shadow. Return: false: there is none, or not yet. */
#if defined(CONFIG_RISCV)
static inline bool kasan_arch_shadow(unsigned long *low, unsigned long *high)
{
	*low = -(1UL << (VA_BITS - 1));
	*high = ULONG_MAX;
	return true;
}
#elif defined(CONFIG_PPC_BOOK3S_64)
/* All addresses below the shadow have shadow, once Linux has switched the radix MMU on. With a hash MMU none has. */
static inline bool kasan_arch_shadow(unsigned long *low, unsigned long *high)
{
	*low = KASAN_KERN_START;
	*high = ((KASAN_SHADOW_END - KASAN_SHADOW_OFFSET) << KASAN_SHADOW_SCALE_SHIFT) - 1;
	return kasan_arch_is_ready();
}
#endif

/* --- Stacks --- */

/* kasan_arch_irq_stack() - find the interrupt stack of this CPU. Return: false if @sp is not on it. */
#if defined(CONFIG_ARM64)
#include <asm/stacktrace.h>
static inline bool kasan_arch_irq_stack(unsigned long sp, unsigned long *low, unsigned long *high)
{
	const struct stack_info info = stackinfo_get_irq();

	*low = info.low;
	*high = info.high;
	return info.low && sp - info.low < info.high - info.low;
}
#elif defined(CONFIG_X86_64)
#include <asm/stacktrace.h>
static inline bool kasan_arch_irq_stack(unsigned long sp, unsigned long *low, unsigned long *high)
{
	struct stack_info info = {};
	unsigned long seen = 0;

	if (get_stack_info((unsigned long *)sp, current, &info, &seen) ||
	    info.type == STACK_TYPE_UNKNOWN)
		return false;
	*low = (unsigned long)info.begin;
	*high = (unsigned long)info.end;
	return true;
}
#elif defined(CONFIG_ARM)
DECLARE_PER_CPU(u8 *, irq_stack_ptr);
static inline bool kasan_arch_irq_stack(unsigned long sp, unsigned long *low, unsigned long *high)
{
	*high = (unsigned long)raw_cpu_read(irq_stack_ptr);
	*low = *high - THREAD_SIZE;
	return *high && sp - *low < THREAD_SIZE;
}
#elif defined(CONFIG_RISCV) && defined(CONFIG_IRQ_STACKS)
#include <asm/irq_stack.h>
static inline bool kasan_arch_irq_stack(unsigned long sp, unsigned long *low, unsigned long *high)
{
	*low = (unsigned long)raw_cpu_read(irq_stack_ptr);
	*high = *low + IRQ_STACK_SIZE;
	return *low && sp - *low < IRQ_STACK_SIZE;
}
#elif defined(CONFIG_S390)
#include <asm/stacktrace.h>
static inline bool kasan_arch_irq_stack(unsigned long sp, unsigned long *low, unsigned long *high)
{
	struct stack_info info = {};
	unsigned long seen = 0;

	if (get_stack_info(sp, current, &info, &seen))
		return false;
	*low = info.begin;
	*high = info.end;
	return true;
}
#elif defined(CONFIG_LOONGARCH)
#include <asm/irq.h>
static inline bool kasan_arch_irq_stack(unsigned long sp, unsigned long *low, unsigned long *high)
{
	*low = per_cpu(irq_stack, raw_smp_processor_id());
	*high = *low + IRQ_STACK_SIZE;
	return *low && sp - *low < IRQ_STACK_SIZE;
}
#elif defined(CONFIG_PPC64)
#include <asm/irq.h>
static inline bool kasan_arch_irq_stack(unsigned long sp, unsigned long *low, unsigned long *high)
{
	const unsigned int cpu = raw_smp_processor_id();

	*low = (unsigned long)hardirq_ctx[cpu];
	if (sp - *low >= THREAD_SIZE)
		*low = (unsigned long)softirq_ctx[cpu];
	*high = *low + THREAD_SIZE;
	return *low && sp - *low < THREAD_SIZE;
}
#else
static inline bool kasan_arch_irq_stack(unsigned long sp, unsigned long *low, unsigned long *high)
{
	return false;
}
#endif

#endif
