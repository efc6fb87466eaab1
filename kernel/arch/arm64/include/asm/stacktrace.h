/* SPDX-License-Identifier: MIT */
/* stacktrace.h - which stack is this, and who called whom on it. */
#ifndef ASM_STACKTRACE_H
#define ASM_STACKTRACE_H

#include <kernel/types.h>
#include <asm/ptrace.h>

/**
 * arch_stack_bounds() - the stack that holds @sp: the current task's, the boot stack or this CPU's
 * overflow stack
 * @start, @end: filled: lowest address, first address above it.
 *
 * Return: false if @sp is on none of them.
 */
bool arch_stack_bounds(uintptr_t sp, uintptr_t *start, uintptr_t *end);

/** arch_current_stack() - the same for the stack that the caller runs on. */
bool arch_current_stack(uintptr_t *start, uintptr_t *end);

/**
 * stack_trace_save() - collect code addresses, innermost first
 * @pcs: filled with at most @max.
 * @regs: start in this interrupted context (its pc is the first entry); NULL: start at the caller.
 *
 * Follows frame records inside the bounds of the stacks above only, ascending, so it ends on any
 * garbage.
 * Return: entries.
 */
size_t stack_trace_save(uintptr_t *pcs, size_t max, const struct pt_regs *regs);

/** dump_stack() - print "CPU: n PID: n Comm: ..." and the caller's trace. */
void dump_stack(void);

/** show_trace() - print "Call trace:" and the frames of @regs, or of the caller if NULL. */
void show_trace(const struct pt_regs *regs);

#endif
