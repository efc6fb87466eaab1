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

/* wfi() wakes for a pending interrupt even while interrupts are masked. */
#define wfi() __asm__ __volatile__("dsb sy\n\twfi" ::: "memory")
#define wfe() __asm__ __volatile__("wfe" ::: "memory")
#define sev() __asm__ __volatile__("dsb ishst\n\tsev" ::: "memory")

static inline void cpu_relax(void)
{
	__asm__ __volatile__("yield" ::: "memory");
}

#endif
