/* SPDX-License-Identifier: MIT */
/*
 * port_inline.h - the hot part of the KASAN port, inlined into the runtime. port.c has the rest.
 */
#ifndef KERNEL_KASAN_PORT_INLINE_H
#define KERNEL_KASAN_PORT_INLINE_H

#include <kernel/irqflags.h>
#include <kernel/task.h>
#include <asm/current.h>
#include <asm/percpu.h>

static inline unsigned long kasan_port_irq_save(void)
{
	return arch_local_irq_save();
}

static inline void kasan_port_irq_restore(unsigned long flags)
{
	arch_local_irq_restore(flags);
}

static inline unsigned int kasan_port_cpu(void)
{
	return smp_processor_id();
}

#define KASAN_PORT_HAS_TASK_ID
static inline uint32_t kasan_port_task_id(void)
{
	return (uint32_t)current->pid;
}

#define KASAN_PORT_HAS_TASK_STACK
static inline bool kasan_port_task_stack(uintptr_t sp, uintptr_t *start, uintptr_t *end)
{
	const struct task *task = current;
	const uintptr_t top = (uintptr_t)task->trace_top, span = task->trace_span;

	*start = top - span;
	*end = top + TASK_FRAME_BYTES;
	/* False on a boot stack or an overflow stack (@sp is not on the task's stack, or an idle task has
	 * none), and in interrupts, where traces end before the stack does. */
	return top - sp <= span;
}

#ifdef CONFIG_SHADOW_CALL_STACK
#include <asm/scs.h>

#define KASAN_PORT_HAS_SHADOW_STACK
static inline uintptr_t kasan_port_scs_top(void)
{
	const uintptr_t top = scs_pointer();

	/* Every context has one: the runtime need not ask. */
	if (!top)
		__builtin_unreachable();
	return top;
}

static inline uintptr_t kasan_port_scs_base(uintptr_t top)
{
	return scs_base_of(top);
}
#endif

#endif
