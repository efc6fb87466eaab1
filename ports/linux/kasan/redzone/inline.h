/* SPDX-License-Identifier: MIT */
/*
 * inline.h - the hot functions of the port in line (KASAN_PORT_INLINE_H). port.c has them as functions for kernels
 * under Xen, which cannot switch interrupts off by themselves.
 *
 * The runtime is compiled without Linux's headers, so redzone_offsets.h has what it needs of struct task_struct.
 */
#ifndef KASAN_LINUX_INLINE_H
#define KASAN_LINUX_INLINE_H

#include <redzone_offsets.h>

#ifdef CONFIG_ARM64

/* Linux keeps the running task in SP_EL0. */
static inline uintptr_t redzone_current(void)
{
	uintptr_t task;

	__asm__("mrs %0, sp_el0" : "=r"(task));
	return task;
}

/* Also NMIs that are interrupts of a higher priority: nothing interrupts the runtime while it holds a lock. */
static inline unsigned long kasan_port_irq_save(void)
{
	unsigned long flags;

	__asm__ volatile("mrs %0, daif\n\tmsr daifset, #3" : "=r"(flags) : : "memory");
	return flags;
}

static inline void kasan_port_irq_restore(unsigned long flags)
{
	__asm__ volatile("msr daif, %0" : : "r"(flags) : "memory");
}

static inline unsigned int kasan_port_cpu(void)
{
	return *(const volatile uint32_t *)(redzone_current() + REDZONE_TASK_CPU);
}

#elif defined(CONFIG_RISCV)

/* Linux keeps the running task in tp. */
static inline uintptr_t redzone_current(void)
{
	uintptr_t task;

	__asm__("mv %0, tp" : "=r"(task));
	return task;
}

/* sstatus.SIE */
static inline unsigned long kasan_port_irq_save(void)
{
	unsigned long flags;

	__asm__ volatile("csrrci %0, sstatus, 2" : "=r"(flags) : : "memory");
	return flags & 2;
}

static inline void kasan_port_irq_restore(unsigned long flags)
{
	__asm__ volatile("csrs sstatus, %0" : : "r"(flags) : "memory");
}

static inline unsigned int kasan_port_cpu(void)
{
	return *(const volatile uint32_t *)(redzone_current() + REDZONE_TASK_CPU);
}

#else /* x86_64 */

/* Linux's variables of each CPU that have the running task and the CPU's number. Here only their places count. */
#ifdef REDZONE_CPU_TASK
extern const char pcpu_hot[];
#define REDZONE_CPU_TASK_PLACE	 (pcpu_hot + REDZONE_CPU_TASK)
#define REDZONE_CPU_NUMBER_PLACE (pcpu_hot + REDZONE_CPU_NUMBER)
#else /* Linux 7 */
extern const char current_task[], cpu_number[];
#define REDZONE_CPU_TASK_PLACE	 current_task
#define REDZONE_CPU_NUMBER_PLACE cpu_number
#endif

static inline uintptr_t redzone_current(void)
{
	uintptr_t task;

	__asm__("movq %%gs:%1, %0" : "=r"(task) : "m"(*(const uintptr_t *)REDZONE_CPU_TASK_PLACE));
	return task;
}

static inline unsigned long kasan_port_irq_save(void)
{
	unsigned long flags;

	__asm__ volatile("pushfq\n\tpopq %0\n\tcli" : "=rm"(flags) : : "memory");
	return flags;
}

static inline void kasan_port_irq_restore(unsigned long flags)
{
	if (flags & 0x200) /* IF */
		__asm__ volatile("sti" : : : "memory");
}

static inline unsigned int kasan_port_cpu(void)
{
	uint32_t cpu;

	__asm__ volatile("movl %%gs:%1, %0"
			 : "=r"(cpu)
			 : "m"(*(const uint32_t *)REDZONE_CPU_NUMBER_PLACE));
	return cpu;
}

#endif

#define KASAN_PORT_HAS_TASK_ID
static inline uint32_t kasan_port_task_id(void)
{
	return *(const uint32_t *)(redzone_current() + REDZONE_TASK_PID);
}

#define KASAN_PORT_HAS_TASK_STACK
static inline bool kasan_port_task_stack(uintptr_t sp, uintptr_t *start, uintptr_t *end)
{
	*start = *(const uintptr_t *)(redzone_current() + REDZONE_TASK_STACK);
	*end = *start + REDZONE_STACK_SIZE;
	/* Interrupts run on a stack of their own. */
	return sp - *start < REDZONE_STACK_SIZE;
}

/* With CONFIG_DYNAMIC_SCS a kernel finds out at boot whether it has shadow stacks, and may have none. */
#if defined(CONFIG_ARM64) && defined(CONFIG_SHADOW_CALL_STACK) && !defined(CONFIG_DYNAMIC_SCS) && \
	!defined(REDZONE_FRAMES)
#define KASAN_PORT_HAS_SHADOW_STACK
static inline uintptr_t kasan_port_scs_top(void)
{
	uintptr_t top;

	__asm__("mov %0, x18" : "=r"(top));
	return top;
}

static inline uintptr_t kasan_port_scs_base(uintptr_t top)
{
	const uintptr_t base = *(const uintptr_t *)(redzone_current() + REDZONE_TASK_SCS);

	/* The first task's is not aligned. Those of interrupts are. */
	return top - base < REDZONE_SCS_SIZE ? base : top & ~(REDZONE_SCS_SIZE - 1);
}
#endif

#endif
