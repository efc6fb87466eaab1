/* SPDX-License-Identifier: MIT */
/* kasan.h - hardware tags: what hot paths need of the CPU. */
#ifndef ASM_KASAN_H
#define ASM_KASAN_H

#include <kasan/kasan.h>
#include <kernel/types.h>

struct pt_regs;

/* Does not change after early boot. */
extern bool mte_may_be_async;

/**
 * arch_check_async_faults() - report bad accesses that the CPU has noted, in the modes async and asymm
 *
 * Called where a thread or an interrupt leaves the CPU: context switch, end of an interrupt, return to user mode.
 */
static __always_inline void arch_check_async_faults(void)
{
	if (unlikely(mte_may_be_async))
		kasan_check_async_faults();
}

/**
 * arch_check_async_faults_in() - the same after a callback @func, which others may wait for
 *
 * Without it the report would come after a waiter has continued, perhaps on another CPU, and would blame
 * the thread that calls many callbacks, not the one callback.
 */
static __always_inline void arch_check_async_faults_in(const void *func)
{
	if (unlikely(mte_may_be_async))
		kasan_check_async_faults_at((unsigned long)func,
					    (unsigned long)__builtin_frame_address(0));
}

/**
 * arch_leave_mem_function() - handle a fault in memcpy() or another function of mem.S: report its whole range
 *
 * Return: true if there was a report; @regs then continues after the call, as if the function had returned.
 */
bool arch_leave_mem_function(struct pt_regs *regs, bool is_write);

#endif
