/* SPDX-License-Identifier: MIT */
/*
 * irq_entry.h - what an architecture's exception entry calls, in the order that interrupts and the way to user mode need.
 *
 * Interrupts are off, on entry and on return.
 */
#ifndef KERNEL_IRQ_ENTRY_H
#define KERNEL_IRQ_ENTRY_H

#include <kernel/types.h>

struct pt_regs;

/** kernel_irq() - handle the interrupts that are pending; the code of @regs was interrupted, in the kernel. Calls
 *  arch_handle_irq(). Return: for kernel_irq_end(), which must follow, on the stacks of the interrupted task. */
const void *kernel_irq(const struct pt_regs *regs);
void kernel_irq_end(const void *outer);

/** user_irq() - the same for interrupted user mode. irq_exit_softirq() follows on the stacks of the task, and then
 *  exit_to_user_mode(). */
void user_irq(void);

/**
 * exit_to_user_mode() - do what is left before the task returns to user mode
 *
 * It handles everything that was requested before its last look. A later request comes with an interrupt, which ends here
 * again.
 */
void exit_to_user_mode(void);

#endif
