/* SPDX-License-Identifier: MIT */
/* user_pgtable.h - looking into the page tables of an address space. */
#ifndef RISCV64_USER_PGTABLE_H
#define RISCV64_USER_PGTABLE_H

#include <kernel/types.h>

struct mm_struct;

/** user_pgtable_entry() - Return: the entry of a page that is mapped at @va, below TASK_SIZE; 0 if none is. Takes no lock:
 *  the tables of an address space that runs stay. */
u64 user_pgtable_entry(struct mm_struct *mm, unsigned long va);

#endif
