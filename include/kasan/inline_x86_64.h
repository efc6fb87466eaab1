/* SPDX-License-Identifier: MIT */
/*
 * inline_x86_64.h - the three hot functions of the port for x86-64 kernels that keep the number of the CPU at a fixed
 * distance from GS: name it with -DKASAN_PORT_INLINE_H='<kasan/inline_x86_64.h>'.
 *
 * GS must be the kernel's whenever code of the kernel runs: set it before the first instrumented function, and in entries
 * from user mode before anything else (swapgs). The runtime pushes, so compile it with -mno-red-zone, as all of a kernel.
 */
#ifndef KASAN_INLINE_X86_64_H
#define KASAN_INLINE_X86_64_H

/* KASAN_X86_64_CPU_AT - distance of that number, 32 bits, from GS's base. */
#ifndef KASAN_X86_64_CPU_AT
#define KASAN_X86_64_CPU_AT 0
#endif

/* RFLAGS.IF: bit 9, Intel SDM volume 1, chapter 3. */
#define KASAN_X86_64_IF 0x200UL

static inline unsigned long kasan_port_irq_save(void)
{
	unsigned long flags;

	__asm__ volatile("pushfq\n\tpopq %0\n\tcli" : "=r"(flags) : : "memory");
	return flags;
}

/* Setting the bit is faster than popfq, which sets all of them. */
static inline void kasan_port_irq_restore(unsigned long flags)
{
	if (flags & KASAN_X86_64_IF)
		__asm__ volatile("sti" : : : "memory");
}

static inline unsigned int kasan_port_cpu(void)
{
#if CONFIG_KASAN_NR_CPUS == 1
	return 0;
#else
	unsigned long cpu;

	/* Writing 32 bits of a register clears the others. */
	__asm__ volatile("movl %%gs:%c1, %k0" : "=r"(cpu) : "i"(KASAN_X86_64_CPU_AT));
	return (unsigned int)cpu;
#endif
}

#endif /* KASAN_INLINE_X86_64_H */
