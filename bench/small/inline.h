/* SPDX-License-Identifier: MIT */
/*
 * inline.h - the port's functions of hot paths, inline: one CPU, PRIMASK as interrupt state, one task.
 */
#ifndef SMALL_INLINE_H
#define SMALL_INLINE_H

#include <stdbool.h>
#include <stdint.h>

#define KASAN_PORT_HAS_TASK_ID
#define KASAN_PORT_HAS_TASK_STACK

extern char __stack_start[], __stack_end[];

static inline unsigned long kasan_port_irq_save(void)
{
	unsigned long flags;

	__asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(flags) : : "memory");
	return flags;
}

static inline void kasan_port_irq_restore(unsigned long flags)
{
	__asm__ volatile("msr primask, %0" : : "r"(flags) : "memory");
}

static inline unsigned int kasan_port_cpu(void)
{
	return 0;
}

static inline uint32_t kasan_port_task_id(void)
{
	return 1;
}

static inline bool kasan_port_task_stack(uintptr_t sp, uintptr_t *start, uintptr_t *end)
{
	*start = (uintptr_t)__stack_start;
	*end = (uintptr_t)__stack_end;
	return sp - *start < *end - *start;
}

#endif /* SMALL_INLINE_H */
