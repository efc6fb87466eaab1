/* SPDX-License-Identifier: MIT */
/*
 * entry.S - the exception vectors, and the switch between threads.
 *
 * Exceptions of the kernel run on the stack of the interrupted thread. Before the entry writes there, it asks the
 * MMU whether both ends of the frame are mapped: a thread may have run out of stack, or there may be no memory at that place
 * yet. The handler for both runs on a stack of the CPU.
 * Exceptions of a user program find the kernel stack empty, and continue in user.S.
 */
#include <asm/memory.h>
#include <asm/ptrace.h>
#include "entry_frame.S"

/*
 * The handlers push on the shadow call stack, which may be full, or x18 may be garbage: that must not
 * fault again and again either. x0 is in TPIDRRO_EL0.
 */
	.macro	check_scs
#ifdef CONFIG_SHADOW_CALL_STACK
	tbz	x18, #63, bad_scs_entry	/* user memory may be mapped there */
	tst	x18, #7
	b.ne	bad_scs_entry
	at	s1e1w, x18
	isb
	mrs	x0, par_el1
	tbnz	x0, #0, bad_scs_entry
#endif
	.endm

/* The interrupted pc becomes an entry like that of a call. x22 is the pc, see save_regs. */
	.macro	push_pc
#ifdef CONFIG_SHADOW_CALL_STACK
	str	x22, [x18], #8
#endif
	.endm

/*
 * One vector: 128 bytes. TPIDRRO_EL0 holds x0 until the stack is known to be usable. A misaligned stack pointer
 * would fault in the first store like an unmapped one, so both branch to overflow_entry.
 */
	.macro	ventry handler
	.balign	128
	sub	sp, sp, #PT_REGS_SIZE
	msr	tpidrro_el0, x0
	mov	x0, sp
	tst	x0, #15
	b.ne	overflow_entry
	at	s1e1w, x0
	isb
	mrs	x0, par_el1
	tbnz	x0, #0, overflow_entry
	add	x0, sp, #PT_REGS_SIZE - 16
	at	s1e1w, x0
	isb
	mrs	x0, par_el1
	tbnz	x0, #0, overflow_entry
	check_scs
	mrs	x0, tpidrro_el0
	b	\handler
	.endm

/*
 * From user mode: the stack pointer has not changed since the last return to user mode, see user.S. All kinds of
 * exception build the same frame.
 */
	.macro	ventry_user handler
	.balign	128
	sub	sp, sp, #PT_REGS_SIZE
	b	\handler
	.endm

/* A vector that no code of this kernel can cause. */
	.macro	ventry_bad
	.balign	128
	sub	sp, sp, #PT_REGS_SIZE
	msr	tpidrro_el0, x0
	mov	x0, sp
	tst	x0, #15
	b.ne	overflow_entry
	at	s1e1w, x0
	isb
	mrs	x0, par_el1
	tbnz	x0, #0, overflow_entry
	mrs	x0, tpidrro_el0
	str	x30, [sp, #S_LR]
	bl	bad_entry		/* lr tells which vector */
	.endm

	.text
	.balign	2048
	.globl	vectors
vectors:
	ventry_bad			/* EL1 on SP_EL0: not used, SP_EL0 holds `current` */
	ventry_bad
	ventry_bad
	ventry_bad
	ventry	el1_sync		/* EL1 */
	ventry	el1_irq
	ventry	el1_fiq
	ventry	el1_error
	ventry_user	el0_sync	/* EL0, 64-bit */
	ventry_user	el0_irq
	ventry_user	el0_fiq
	ventry_user	el0_error
	ventry_bad			/* EL0, 32-bit */
	ventry_bad
	ventry_bad
	ventry_bad

	.macro	handle name, function
	.type	\name, %function
\name:
	save_regs
	add	x21, sp, #PT_REGS_SIZE
	stp	x30, x21, [sp, #S_LR]
	push_pc
	mov	x0, sp
	bl	\function
	b	return_from_exception
	.size	\name, . - \name
	.endm

	/* Code at a return address from here to exception_entries_end was entered by an exception: the next frame is
	 * the interrupted instruction. */
	.globl	exception_entries
exception_entries:
	handle	el1_sync, el1_sync_handler
#ifndef CONFIG_SHADOW_CALL_STACK
	handle	el1_irq, el1_irq_handler
#endif
	handle	el1_fiq, el1_fiq_handler
	handle	el1_error, el1_error_handler

#ifdef CONFIG_SHADOW_CALL_STACK
/*
 * The handlers of an interrupt run on the CPU's own shadow call stack. The task may be preempted only when it is
 * back on its own.
 */
	.type	el1_irq, %function
el1_irq:
	save_regs
	add	x21, sp, #PT_REGS_SIZE
	stp	x30, x21, [sp, #S_LR]
	push_pc
	scs_enter_cpu scs_irq_base
	mov	x0, sp
	bl	el1_irq_handler
	scs_leave_cpu
	bl	el1_irq_exit
	b	return_from_exception
	.size	el1_irq, . - el1_irq

/*
 * x18 cannot be pushed to. Continue on this CPU's shadow call stack for faults; the ordinary stack is usable.
 * x0 is in TPIDRRO_EL0.
 */
	.type	bad_scs_entry, %function
bad_scs_entry:
	mrs	x0, tpidrro_el0
	save_regs
	add	x21, sp, #PT_REGS_SIZE
	stp	x30, x21, [sp, #S_LR]
	scs_load_percpu scs_fault_base, x21
	mov	x0, sp
	bl	scs_fault_handler
	brk	#0x800
	.size	bad_scs_entry, . - bad_scs_entry
#endif

	.type	return_from_exception, %function
return_from_exception:
	msr	daifset, #0xf
#ifdef CONFIG_SHADOW_CALL_STACK
	restore_regs_and_return scs=1
#else
	restore_regs_and_return
#endif
	.size	return_from_exception, . - return_from_exception

	.type	bad_entry, %function
bad_entry:
	save_regs
	add	x21, sp, #PT_REGS_SIZE
	str	x21, [sp, #S_SP]
#ifdef CONFIG_SHADOW_CALL_STACK
	scs_load_percpu scs_fault_base, x21
#endif
	adrp	x1, vectors
	add	x1, x1, :lo12:vectors
	sub	x1, x30, x1
	lsr	x1, x1, #7
	mov	x0, sp
	bl	bad_mode_handler
	brk	#0x800
	.size	bad_entry, . - bad_entry

/*
 * There is no usable stack below the stack pointer. Change to this CPU's overflow stack. x0 is in
 * TPIDRRO_EL0, and x1 is kept in the task's context, which is not used while it runs.
 *
 * The handler may map memory there. Then it returns NULL, and the interrupted code goes on: what caused the exception causes
 * it again. Or it returns a frame on a stack of the thread, where the exception is handled.
 */
	.type	overflow_entry, %function
overflow_entry:
	mrs	x0, sp_el0
	str	x1, [x0]
	mrs	x0, tpidr_el1
	lsl	x0, x0, #OVERFLOW_STACK_SHIFT
	adrp	x1, overflow_stack + OVERFLOW_STACK_SIZE
	add	x1, x1, :lo12:overflow_stack + OVERFLOW_STACK_SIZE
	add	x0, x0, x1
	mov	x1, sp
	mov	sp, x0
	sub	sp, sp, #PT_REGS_SIZE
	add	x1, x1, #PT_REGS_SIZE	/* the interrupted stack pointer */
	stp	x30, x1, [sp, #S_LR]
	mrs	x1, sp_el0
	ldr	x1, [x1]
	mrs	x0, tpidrro_el0
	save_regs
#ifdef CONFIG_SHADOW_CALL_STACK
	scs_load_percpu scs_fault_base, x21
#endif
	mov	x0, sp
	bl	overflow_handler
	msr	daifset, #0xf
	cbnz	x0, continue_on_stack
	ldp	x22, x23, [sp, #S_PC]
	msr	elr_el1, x22
	msr	spsr_el1, x23
	ldp	x2, x3, [sp, #16 * 1]
	ldp	x4, x5, [sp, #16 * 2]
	ldp	x6, x7, [sp, #16 * 3]
	ldp	x8, x9, [sp, #16 * 4]
	ldp	x10, x11, [sp, #16 * 5]
	ldp	x12, x13, [sp, #16 * 6]
	ldp	x14, x15, [sp, #16 * 7]
	ldp	x16, x17, [sp, #16 * 8]
	ldp	x18, x19, [sp, #16 * 9]
	ldp	x20, x21, [sp, #16 * 10]
	ldp	x22, x23, [sp, #16 * 11]
	ldp	x24, x25, [sp, #16 * 12]
	ldp	x26, x27, [sp, #16 * 13]
	ldp	x28, x29, [sp, #16 * 14]
	ldp	x0, x1, [sp]
	msr	tpidrro_el0, x0
	ldp	x30, x0, [sp, #S_LR]
	mov	sp, x0
	mrs	x0, tpidrro_el0
	eret

continue_on_stack:
	mov	sp, x0
	add	x29, sp, #S_FRAME
#ifdef CONFIG_SHADOW_CALL_STACK
	ldr	x18, [sp, #16 * 9]
	ldr	x22, [sp, #S_PC]
#endif
	push_pc
	bl	el1_stack_handler
	b	return_from_exception
	.size	overflow_entry, . - overflow_entry
	.globl	exception_entries_end
exception_entries_end:

#ifdef CONFIG_SHADOW_CALL_STACK
/*
 * scs_call_softirqs(function, frame): call the function on this CPU's shadow call stack for soft interrupts, and store
 * where its frames end. Interrupts are off.
 */
	.globl	scs_call_softirqs
	.type	scs_call_softirqs, %function
scs_call_softirqs:
	stp	x29, x30, [sp, #-32]!
	mov	x29, sp
	stp	x20, x21, [sp, #16]
	str	x30, [x18], #8
	str	x29, [x1]
	scs_enter_cpu scs_softirq_base
	blr	x0
	scs_leave_cpu
	ldp	x20, x21, [sp, #16]
	ldp	x29, x30, [sp], #32
	ldr	x30, [x18, #-8]!
	ret
	.size	scs_call_softirqs, . - scs_call_softirqs

/* A function has not returned as it was called: x18 is not what it was. */
	.globl	scs_unbalanced
	.type	scs_unbalanced, %function
scs_unbalanced:
	mov	x0, x18
	mov	x1, x20
	mov	x18, x20
	bl	scs_unbalanced_handler
	brk	#0x800
	.size	scs_unbalanced, . - scs_unbalanced
#endif

/*
 * cpu_switch_to(prev, next): save the registers that a C function must preserve in prev's context, at offset 0 of
 * its task, and load them from next's. next gets x0, prev, as the result.
 */
	.globl	cpu_switch_to
	.type	cpu_switch_to, %function
cpu_switch_to:
	mov	x9, sp
	stp	x19, x20, [x0, #16 * 0]
	stp	x21, x22, [x0, #16 * 1]
	stp	x23, x24, [x0, #16 * 2]
	stp	x25, x26, [x0, #16 * 3]
	stp	x27, x28, [x0, #16 * 4]
	stp	x29, x9, [x0, #16 * 5]
#ifdef CONFIG_SHADOW_CALL_STACK
	stp	x30, x18, [x0, #16 * 6]
#else
	str	x30, [x0, #16 * 6]
#endif
	ldp	x19, x20, [x1, #16 * 0]
	ldp	x21, x22, [x1, #16 * 1]
	ldp	x23, x24, [x1, #16 * 2]
	ldp	x25, x26, [x1, #16 * 3]
	ldp	x27, x28, [x1, #16 * 4]
	ldp	x29, x9, [x1, #16 * 5]
#ifdef CONFIG_SHADOW_CALL_STACK
	ldp	x30, x18, [x1, #16 * 6]
#else
	ldr	x30, [x1, #16 * 6]
#endif
	mov	sp, x9
	msr	sp_el0, x1
	ret
	.size	cpu_switch_to, . - cpu_switch_to

/* First code of a new thread: x0 = prev, x19 = its function, x20 = the argument. */
	.globl	ret_from_fork
	.type	ret_from_fork, %function
ret_from_fork:
	bl	schedule_tail
	mov	x0, x20
	blr	x19
	bl	kthread_exit
	brk	#0x800
	.size	ret_from_fork, . - ret_from_fork

/* arch_call_on_stack(top, function, argument): call the function with the stack pointer @top. */
	.globl	arch_call_on_stack
	.type	arch_call_on_stack, %function
arch_call_on_stack:
#ifdef CONFIG_SHADOW_CALL_STACK
	str	x30, [x18], #8
#endif
	stp	x29, x30, [sp, #-32]!
	mov	x29, sp
	str	x19, [sp, #16]
	mov	x19, sp
	/* The frame record of the new stack continues in that of the old one. */
	stp	x29, x30, [x0, #-16]!
	mov	sp, x0
	mov	x29, sp
	mov	x0, x2
	blr	x1
	mov	sp, x19
	ldr	x19, [sp, #16]
	ldp	x29, x30, [sp], #32
#ifdef CONFIG_SHADOW_CALL_STACK
	ldr	x30, [x18, #-8]!
#endif
	ret
	.size	arch_call_on_stack, . - arch_call_on_stack
