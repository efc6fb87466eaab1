/* SPDX-License-Identifier: MIT */
/*
 * kasan_port_inline.h - the hot part of the KASAN port, inlined into the runtime. The rest is in
 * kernel/lib/kasan_port.c.
 */
#ifndef KERNEL_KASAN_PORT_INLINE_H
#define KERNEL_KASAN_PORT_INLINE_H

#include <kernel/task.h>
#include <asm/current.h>
#include <asm/irqflags.h>
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

#endif
