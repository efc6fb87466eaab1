/* SPDX-License-Identifier: MIT */
/*
 * inline_riscv.h - the three hot functions of the port for RISC-V: name it with
 * -DKASAN_PORT_INLINE_H='<kasan/inline_riscv.h>'.
 *
 * Kernels in supervisor mode: tp holds the number of the hart.
 *
 * Firmware in machine mode defines KASAN_RISCV_HART_AT: mscratch points to an area of each hart, and the word so many
 * bytes from its start is the number of the hart, counted from 0. mhartid is not such a number: the hart ids of a
 * machine need not be dense, and CONFIG_KASAN_NR_CPUS would have to be larger than all of them. While mscratch is 0,
 * which it must be before the first hart has its area, the number is 0.
 */
#ifndef KASAN_INLINE_RISCV_H
#define KASAN_INLINE_RISCV_H

/* Interrupt enable of the mode, by the privileged architecture: sstatus.SIE is bit 1, mstatus.MIE bit 3. */
#ifdef KASAN_RISCV_HART_AT
#define KASAN_RISCV_STATUS "mstatus"
#define KASAN_RISCV_IE	   8
#else
#define KASAN_RISCV_STATUS "sstatus"
#define KASAN_RISCV_IE	   2
#endif

static inline unsigned long kasan_port_irq_save(void)
{
	unsigned long flags;

	__asm__ volatile("csrrci %0, " KASAN_RISCV_STATUS ", %1"
			 : "=r"(flags)
			 : "i"(KASAN_RISCV_IE)
			 : "memory");
	return flags & KASAN_RISCV_IE;
}

static inline void kasan_port_irq_restore(unsigned long flags)
{
	__asm__ volatile("csrs " KASAN_RISCV_STATUS ", %0" : : "r"(flags) : "memory");
}

static inline unsigned int kasan_port_cpu(void)
{
	unsigned long hart;

#ifdef KASAN_RISCV_HART_AT
	__asm__ volatile("csrr %0, mscratch" : "=r"(hart));
	if (hart)
		hart = *(const volatile unsigned long *)(hart + (KASAN_RISCV_HART_AT));
#else
	__asm__ volatile("mv %0, tp" : "=r"(hart));
#endif
	return (unsigned int)hart;
}

#endif /* KASAN_INLINE_RISCV_H */
