/* SPDX-License-Identifier: MIT */
/*
 * user.h - what the architecture does for user mode: page tables of the lower half, entering EL0, and
 * what a change of tasks has to change with it.
 */
#ifndef ASM_USER_H
#define ASM_USER_H

#include <kernel/task.h>
#include <kernel/types.h>
#include <asm/ptrace.h>

struct mm_struct;
struct page;

/* --- Page tables (user_pgtable.c). The caller holds the address space's lock, but for activate. ---- */

/** user_pgtable_init() - give @mm an empty top table and a number. Return: 0, -ENOMEM, -EAGAIN. */
int user_pgtable_init(struct mm_struct *mm);

/** user_pgtable_destroy() - nobody uses @mm any more: free its tables and every page in them. */
void user_pgtable_destroy(struct mm_struct *mm);

/** user_map_page() - map @page at @va, where nothing is mapped. @prot: PROT_*, not PROT_NONE.
 *  Return: 0 or -ENOMEM. */
int user_map_page(struct mm_struct *mm, unsigned long va, struct page *page, unsigned int prot);

/** user_unmap_page() - Return: the page that was mapped at @va, NULL if none was. The TLBs may still
 *  know it until user_flush_tlb(). */
struct page *user_unmap_page(struct mm_struct *mm, unsigned long va);

/** user_lookup_page() - Return: the page mapped at @va, NULL if there is none. */
struct page *user_lookup_page(struct mm_struct *mm, unsigned long va);

/** user_flush_tlb() - forget [@start, @end) of @mm on all CPUs. */
void user_flush_tlb(struct mm_struct *mm, unsigned long start, unsigned long end);

/** user_sync_icache() - instructions were written to @page through the linear map: they can be
 *  executed, on all CPUs. */
void user_sync_icache(struct page *page);

/** user_activate_mm() - this CPU translates user addresses by @mm from now on; NULL: they all fault. */
void user_activate_mm(struct mm_struct *mm);

/* --- Entry and exit (user.S, user_traps.c) -------------------------------------------------------- */

/** user_init_cpu() - set this CPU up for user mode, PAN included if it has that. Once on each. */
void user_init_cpu(void);

/** cpu_has_pan() - Return: true if the CPUs refuse accesses of the kernel to user memory but for those
 *  of <kernel/uaccess.h>. */
bool cpu_has_pan(void);

/** user_init_regs() - fill a frame for the start of a program. */
void user_init_regs(struct pt_regs *regs, unsigned long pc, unsigned long sp);

/** enter_user_mode() - continue the running task at EL0. @regs: task_pt_regs(current), filled. All
 *  frames on the kernel stack are gone then: none may have left poison behind. */
_Noreturn void enter_user_mode(struct pt_regs *regs);

/** task_pt_regs() - where on @task's kernel stack the registers of user mode are while it is in the
 *  kernel. The 16 bytes above hold the task, for the entry. */
static inline struct pt_regs *task_pt_regs(const struct task *task)
{
	return (struct pt_regs *)((char *)task->stack + task->stack_size - 16) - 1;
}

void __user_switch(struct task *prev, struct task *next);

/** user_switch() - the scheduler is about to change from @prev to @next, interrupts off: change the
 *  address space, too. Kernel threads have none. */
static inline void user_switch(struct task *prev, struct task *next)
{
	if (unlikely(prev->mm || next->mm))
		__user_switch(prev, next);
}

#endif
