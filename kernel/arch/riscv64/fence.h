/* SPDX-License-Identifier: MIT */
/* fence.h - what CPUs hold of page tables and code. Each of these returns when it is gone. Any context. */
#ifndef RISCV64_FENCE_H
#define RISCV64_FENCE_H

/** fence_share() - @cpu is about to start: it may hold something from now on. */
void fence_share(unsigned int cpu);

/** fence_all() - remove [@start, @start + @size) from the TLBs of all CPUs. @asid: of this address space only; -1: of all. */
void fence_all(unsigned long start, unsigned long size, long asid);

/** fence_i_all() - all CPUs execute what was written as code before. */
void fence_i_all(void);

#endif
