/* SPDX-License-Identifier: MIT */
/* sbi.h - calls of the firmware: the RISC-V Supervisor Binary Interface, version 0.2 and later. */
#ifndef RISCV64_SBI_H
#define RISCV64_SBI_H

#include <kernel/types.h>

/** struct sbi_result - what the firmware gives back. @error: 0, or one of SBI's negative numbers. */
struct sbi_result {
	long error, value;
};

/** sbi_call() - call @function of @extension with its arguments @x0 to @x4. */
struct sbi_result sbi_call(unsigned long extension, unsigned long function, unsigned long x0,
			   unsigned long x1, unsigned long x2, unsigned long x3, unsigned long x4);

/** sbi_has() - Return: true if the firmware has extension @extension. */
bool sbi_has(unsigned long extension);
#define SBI_EXT_HSM   0x48534d
#define SBI_EXT_IPI   0x735049
#define SBI_EXT_RESET 0x53525354
#define SBI_EXT_FENCE 0x52464e43
#define SBI_EXT_TIMER 0x54494d45
#define SBI_EXT_DBCN  0x4442434e

/** sbi_set_timer() - interrupt this CPU when its counter is @when; drops a timer interrupt that is pending. */
void sbi_set_timer(u64 when);
/** sbi_send_ipi() - software interrupt for the hart @hart. */
void sbi_send_ipi(unsigned long hart);
/* The next two are for the harts @base + n for which bit n of @mask is set. The firmware waits for all of them together. */

/** sbi_fence_i() - they execute what was written as code before. */
void sbi_fence_i(unsigned long mask, unsigned long base);
/** sbi_fence_vma() - remove [@start, @start + @size) from their TLBs. @asid: of this address space only, without translations
 *  that are in all; -1: of all. */
void sbi_fence_vma(unsigned long mask, unsigned long base, unsigned long start, unsigned long size,
		   long asid);
/** sbi_start_hart() - let @hart, which is off, start at the physical address @entry with @argument in a1. Return: 0 or a
 *  negative errno. */
int sbi_start_hart(unsigned long hart, phys_addr_t entry, unsigned long argument);

#endif
