/* SPDX-License-Identifier: MIT */
/* traps.h - causes of exceptions, in scause. */
#ifndef RISCV64_TRAPS_H
#define RISCV64_TRAPS_H

#include <kernel/types.h>

#define CAUSE_INSN_MISALIGNED  0
#define CAUSE_INSN_ACCESS      1
#define CAUSE_ILLEGAL	       2
#define CAUSE_BREAKPOINT       3
#define CAUSE_LOAD_MISALIGNED  4
#define CAUSE_LOAD_ACCESS      5
#define CAUSE_STORE_MISALIGNED 6
#define CAUSE_STORE_ACCESS     7
#define CAUSE_USER_ECALL       8
#define CAUSE_INSN_PAGE	       12
#define CAUSE_LOAD_PAGE	       13
#define CAUSE_STORE_PAGE       15

/* The highest bit: an interrupt. */
static inline bool cause_is_interrupt(unsigned long cause)
{
	return (long)cause < 0;
}

/* Does @insn, which the CPU has refused, use floating-point registers? Those of a thread that must not use them trap. */
bool insn_is_float(u32 insn);

/* Is @insn one that accesses a control and status register? */
static inline bool insn_is_csr(u32 insn)
{
	return (insn & 0x7f) == 0x73 && (insn >> 12 & 3);
}

#endif
