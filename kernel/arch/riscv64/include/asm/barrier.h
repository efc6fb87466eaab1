/* SPDX-License-Identifier: MIT */
/* barrier.h - memory barriers, ordered accesses, and waiting. */
#ifndef ASM_BARRIER_H
#define ASM_BARRIER_H

#include <kernel/types.h>

#define fence(before, after) __asm__ __volatile__("fence " #before ", " #after ::: "memory")

#define mb()  fence(iorw, iorw)
#define rmb() fence(ir, ir)
#define wmb() fence(ow, ow)

#define smp_mb()  fence(rw, rw)
#define smp_rmb() fence(r, r)
#define smp_wmb() fence(w, w)

#define smp_load_acquire(p)	__atomic_load_n((p), __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

#define wfi() __asm__ __volatile__("fence iorw, iorw\n\twfi" ::: "memory")

/** arch_cpu_idle() - wait for an interrupt. A pending one ends the wait even while interrupts are masked. Interrupts off. */
void arch_cpu_idle(void);

static inline void cpu_relax(void)
{
	/* PAUSE, which is a fence that orders nothing on a CPU without it. */
	__asm__ __volatile__(".4byte 0x0100000f" ::: "memory");
}

#endif
