/* SPDX-License-Identifier: MIT */
/* inline_riscv.h - the three hot functions of the port for kernels in RISC-V's supervisor mode whose tp holds the
 * number of the hart: name it with -DKASAN_PORT_INLINE_H='<kasan/inline_riscv.h>'. */
#ifndef KASAN_INLINE_RISCV_H
#define KASAN_INLINE_RISCV_H

/* sstatus.SIE: bit 1, by the privileged architecture. */
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
	unsigned long hart;

	__asm__ volatile("mv %0, tp" : "=r"(hart));
	return (unsigned int)hart;
}

#endif /* KASAN_INLINE_RISCV_H */
