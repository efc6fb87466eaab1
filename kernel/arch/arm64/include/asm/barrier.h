/* SPDX-License-Identifier: MIT */
/* barrier.h - memory barriers, ordered accesses, and waiting. */
#ifndef ASM_BARRIER_H
#define ASM_BARRIER_H

#include <kernel/types.h>

#define isb()	 __asm__ __volatile__("isb" ::: "memory")
#define dsb(opt) __asm__ __volatile__("dsb " #opt ::: "memory")
#define dmb(opt) __asm__ __volatile__("dmb " #opt ::: "memory")

#define mb()  dsb(sy)
#define rmb() dsb(ld)
#define wmb() dsb(st)

#define smp_mb()  dmb(ish)
#define smp_rmb() dmb(ishld)
#define smp_wmb() dmb(ishst)

#define smp_load_acquire(p)	__atomic_load_n((p), __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

#define wfi() __asm__ __volatile__("dsb sy\n\twfi" ::: "memory")

/** arch_cpu_idle() - wait for an interrupt. A pending one ends the wait even while interrupts are masked. */
#define arch_cpu_idle() wfi()

static inline void cpu_relax(void)
{
	__asm__ __volatile__("yield" ::: "memory");
}

#endif
