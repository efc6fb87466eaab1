/* SPDX-License-Identifier: MIT */
/*
 * shadow_stack.h - SCS=1: traces of allocations and frees are copied from the shadow call stack. The compiler keeps it in
 * a register, and start.S makes that point to shadow_stack.
 */
#ifndef SHADOW_STACK_H
#define SHADOW_STACK_H

#include <stdint.h>

/* In port.c. For speed they could be inline functions here. */
unsigned long kasan_port_irq_save(void);
void kasan_port_irq_restore(unsigned long flags);
unsigned int kasan_port_cpu(void);

/* start.S */
extern const uintptr_t shadow_stack[];

#define KASAN_PORT_HAS_SHADOW_STACK
static inline uintptr_t kasan_port_scs_top(void)
{
	uintptr_t top;

#ifdef __aarch64__
	__asm__ volatile("mov %0, x18" : "=r"(top));
#else
	__asm__ volatile("mv %0, gp" : "=r"(top));
#endif
	return top;
}

static inline uintptr_t kasan_port_scs_base(uintptr_t top)
{
	(void)top;
	return (uintptr_t)shadow_stack;
}

#endif /* SHADOW_STACK_H */
