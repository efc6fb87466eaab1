/* SPDX-License-Identifier: MIT */
/*
 * user.S - enters and leaves user mode.
 *
 * While a program runs at EL0, SP_EL1 points 16 bytes below the top of its task's kernel stack. The word there is
 * the task, because SP_EL0, which holds `current` in the kernel, is then the program's stack pointer. The entry
 * builds the register frame, task_pt_regs(), below that word.
 */
#include <asm/ptrace.h>
#ifdef CONFIG_KSTACK_ERASE
#include <ext/stackleak.h>
#endif
#include "entry_frame.S"

	.text

/*
 * The frame record in the frame is zero: a walk along frame pointers must not continue with a program's x29.
 */
	.macro	handle_user name, function, irq=0
	.globl	\name
	.type	\name, %function
\name:
	save_regs
	mrs	x21, sp_el0
	stp	x30, x21, [sp, #S_LR]
	stp	xzr, xzr, [sp, #S_FRAME]
	ldr	x22, [sp, #PT_REGS_SIZE]
	msr	sp_el0, x22
#ifdef CONFIG_SHADOW_CALL_STACK
	/* x18 was the program's. In the kernel the task starts with an empty shadow call stack. */
	ldr	x18, [x22, #TASK_SCS_BASE]
	.if	\irq
	scs_enter_cpu scs_irq_base
	.endif
#endif
	mov	x0, sp
	bl	\function
#ifdef CONFIG_SHADOW_CALL_STACK
	.if	\irq
	scs_leave_cpu
	.endif
#endif
	.if	\irq
	bl	irq_exit_softirq
	.endif
	b	return_to_user
	.size	\name, . - \name
	.endm

	handle_user	el0_sync, el0_sync_handler
	handle_user	el0_irq, el0_irq_handler, irq=1
	handle_user	el0_fiq, el0_fiq_handler
	handle_user	el0_error, el0_error_handler

/* enter_user_mode(regs): regs is task_pt_regs(current); everything on the stack is dropped. */
	.globl	enter_user_mode
	.type	enter_user_mode, %function
enter_user_mode:
	msr	daifset, #0xf
	mov	sp, x0
	mrs	x1, sp_el0
	str	x1, [sp, #PT_REGS_SIZE]
#ifdef CONFIG_SHADOW_CALL_STACK
	ldr	x18, [x1, #TASK_SCS_BASE]
#endif
	stp	xzr, xzr, [sp, #S_FRAME]
	add	x29, sp, #S_FRAME
	b	return_to_user
	.size	enter_user_mode, . - enter_user_mode

/*
 * Programs can read TPIDRRO_EL0, which the kernel's entries use as a scratch register: clear it.
 */
	.type	return_to_user, %function
return_to_user:
	msr	daifset, #0xf
	mov	x0, sp
	bl	exit_to_user_mode
	msr	daifset, #0xf
#ifdef CONFIG_KSTACK_ERASE
	/* From here on nothing may be stored on the stack. */
	adrp	x9, stackleak_mode
	ldr	w9, [x9, :lo12:stackleak_mode]
	cbnz	w9, 2f
1:
#endif
#ifdef CONFIG_IRQSOFF
	bl	irqsoff_end
#endif
	ldr	x21, [sp, #S_SP]
	msr	sp_el0, x21
	msr	tpidrro_el0, xzr
	restore_regs_and_return
#ifdef CONFIG_KSTACK_ERASE
2:	cmp	w9, #STACK_ERASING_GENERIC
	b.eq	3f
	bl	stackleak_erase_on_task_stack
	b	1b
3:	bl	stackleak_erase
	b	1b
#endif
	.size	return_to_user, . - return_to_user
