/* SPDX-License-Identifier: MIT */
/* fence.h - what other CPUs hold of page tables and code. Each of these returns when it is gone. Any context. */
#ifndef RISCV64_FENCE_H
#define RISCV64_FENCE_H

/** fence_share() - @cpu is about to start: it may hold something from now on. */
void fence_share(unsigned int cpu);

/** fence_others() - remove [@start, @start + @size) from the TLBs of all CPUs but this one. @asid: of this address space only;
 *  -1: of all. */
void fence_others(unsigned long start, unsigned long size, long asid);

/** fence_i_others() - all CPUs but this one execute what was written as code before. */
void fence_i_others(void);

#endif
