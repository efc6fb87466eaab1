/* SPDX-License-Identifier: MIT */
/* stacktrace.h - which stack this is, and the calls on it. Any context. */
#ifndef KERNEL_STACKTRACE_H
#define KERNEL_STACKTRACE_H

#include <kernel/types.h>

struct pt_regs;

/** current_stack() - find the stack that the caller runs on: the task's, the boot stack, or a stack for
 *  faults. @start, @end: filled with its lowest address and the first address above it.
 *  Return: false if the stack is not known. */
bool current_stack(uintptr_t *start, uintptr_t *end);

/**
 * stack_trace_save() - collect code addresses, innermost first
 * @pcs: filled with at most @max addresses.
 * @regs: start in this interrupted context, with its pc as first entry; NULL: start at the caller.
 *
 * The walk follows frame records only inside of known stacks and at ascending addresses, so garbage ends
 * it. Return: number of entries.
 */
size_t stack_trace_save(uintptr_t *pcs, size_t max, const struct pt_regs *regs);

/** show_trace() - print "Call trace:" and the frames of @regs, or of the caller if NULL. */
void show_trace(const struct pt_regs *regs);

/** dump_stack() - print "CPU: n PID: n Comm: ..." and the caller's trace. */
void dump_stack(void);

#endif
