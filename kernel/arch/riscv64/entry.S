/* SPDX-License-Identifier: MIT */
/*
 * entry.S - the entry of exceptions and interrupts, the way back, and the switch between threads.
 *
 * Exceptions of the kernel run on the stack of the interrupted thread. A thread may have run out of stack, or there may be no
 * memory at that place yet, and the CPU cannot be asked. So the entry first keeps what the CPU says about the exception in
 * the task's context, which is not used while it runs, and then stores to both ends of the frame. If such a store faults, the
 * entry is entered once more, sees context.busy, and goes on on a stack of the CPU.
 *
 * Exceptions of a program in user mode find the kernel stack empty. While one runs, sscratch holds the task; in the kernel it
 * is 0, and CURRENT holds the task: gp, or s11 if gp is the shadow call stack's pointer.
 *
 * Exceptions of the kernel push the interrupted pc on the shadow call stack, as a call would. If that store faults, or gp cannot
 * be a pointer to it, the entry goes on on the CPU's shadow call stack for faults. The way back lowers gp, and does not load
 * it from the frame, which lies on the ordinary stack.
 */
#include <asm/csr.h>
#include <asm/current.h>
#include <asm/memory.h>
#include <asm/ptrace.h>
#include <asm/scs.h>
#ifdef CONFIG_KSTACK_ERASE
#include <ext/stackleak.h>
#endif
#include <asm/switch.h>

/* CTX_BUSY while the entry stores to the ordinary stack, or to the shadow call stack. */
#define BUSY_STACK 1
#define BUSY_SCS   2

/* All registers but ra, sp, t0, s0, CURRENT, and gp, which is either CURRENT or the shadow call stack's pointer. */
	.macro	each_saved action
	\action	tp, 4
	\action	t1, 6
	\action	t2, 7
	\action	s1, 9
	\action	a0, 10
	\action	a1, 11
	\action	a2, 12
	\action	a3, 13
	\action	a4, 14
	\action	a5, 15
	\action	a6, 16
	\action	a7, 17
	\action	s2, 18
	\action	s3, 19
	\action	s4, 20
	\action	s5, 21
	\action	s6, 22
	\action	s7, 23
	\action	s8, 24
	\action	s9, 25
	\action	s10, 26
#ifndef CONFIG_SHADOW_CALL_STACK
	\action	s11, 27
#endif
	\action	t3, 28
	\action	t4, 29
	\action	t5, 30
	\action	t6, 31
	.endm

	.macro	save_one reg, n
	sd	\reg, 8 * \n(sp)
	.endm

	.macro	load_one reg, n
	ld	\reg, 8 * \n(sp)
	.endm

/*
 * Fill the frame of an exception of the kernel, whose ends, ra and s0, are stored already, with what the context has kept.
 * s0 then is the frame's end, below which lies the frame record, so a frame pointer walk continues in the interrupted code.
 * Leaves the cause in t3.
 */
	.macro	fill_kernel_frame
	sd	zero, CTX_BUSY(CURRENT)
	each_saved save_one
	sd	s0, S_S0(sp)
	sd	gp, S_GP(sp)
#ifdef CONFIG_SHADOW_CALL_STACK
	sd	CURRENT, S_CURRENT(sp)
#endif
	ld	t0, CTX_TRAP_T0(CURRENT)
	ld	t1, CTX_TRAP_PC(CURRENT)
	ld	t2, CTX_STATUS(CURRENT)
	ld	t3, CTX_CAUSE(CURRENT)
	ld	t4, CTX_BADADDR(CURRENT)
	ld	t5, CTX_TRAP_SP(CURRENT)
	sd	t0, S_T0(sp)
	sd	t1, S_PC(sp)
	sd	t2, S_STATUS(sp)
	sd	t3, S_CAUSE(sp)
	sd	t4, S_BADADDR(sp)
	sd	t5, S_SP(sp)
	sd	t1, S_FRAME + 8(sp)
	addi	s0, sp, PT_REGS_SIZE
	/* A copy of user memory may have been interrupted. */
	li	t0, SR_SUM
	csrc	sstatus, t0
	.endm

#ifdef CONFIG_SHADOW_CALL_STACK
/* Change to the shadow call stack that has no entry yet of this CPU in the table \table. Clobbers t0, t1. */
	.macro	scs_load_percpu table
	ld	t0, CTX_CPU(CURRENT)
	slli	t0, t0, 3
	lla	t1, \table
	add	t1, t1, t0
	ld	gp, 0(t1)
	.endm

/*
 * Change to this CPU's shadow call stack in \table, for interrupts or soft interrupts. It is empty, because neither nests
 * in its own kind. Its word 0 keeps the interrupted stack's pointer. s1 keeps the new one for scs_leave_cpu. Clobbers t0, t1.
 */
	.macro	scs_enter_cpu table
	mv	s1, gp
	scs_load_percpu \table
	sd	s1, -8(gp)
	mv	s1, gp
	.endm

/* Change back. Everything that was called must have returned. */
	.macro	scs_leave_cpu
	bne	gp, s1, scs_unbalanced
	ld	gp, -8(gp)
	.endm
#endif

/*
 * Return to the kernel's code of the frame at sp. CURRENT stays: a thread is its own task all its life. \pushed: 1 if gp is the
 * interrupted code's, and the entry has pushed the pc there.
 */
	.macro	return_to_kernel pushed
	ld	t0, S_PC(sp)
	ld	t1, S_STATUS(sp)
	csrw	sepc, t0
	csrw	sstatus, t1
	each_saved load_one
#ifdef CONFIG_SHADOW_CALL_STACK
	.if	\pushed
	addi	gp, gp, -8
	.else
	ld	gp, S_GP(sp)
	.endif
#endif
	ld	ra, S_RA(sp)
	ld	t0, S_T0(sp)
	ld	s0, S_S0(sp)
	ld	sp, S_SP(sp)
	sret
	.endm

	.text
	.balign	4
	.globl	trap_entry
	.type	trap_entry, %function
trap_entry:
	csrrw	CURRENT, sscratch, CURRENT
	bnez	CURRENT, user_entry
	/* From the kernel: CURRENT is the task again, and t0 is in sscratch for a moment. */
	csrrw	CURRENT, sscratch, t0
	ld	t0, CTX_BUSY(CURRENT)
	bnez	t0, store_has_faulted
	csrrw	t0, sscratch, zero
	sd	t0, CTX_TRAP_T0(CURRENT)
	li	t0, BUSY_STACK
	sd	t0, CTX_BUSY(CURRENT)
	csrr	t0, sepc
	sd	t0, CTX_TRAP_PC(CURRENT)
	csrr	t0, sstatus
	sd	t0, CTX_STATUS(CURRENT)
	csrr	t0, scause
	sd	t0, CTX_CAUSE(CURRENT)
	csrr	t0, stval
	sd	t0, CTX_BADADDR(CURRENT)
	sd	sp, CTX_TRAP_SP(CURRENT)
	andi	t0, sp, STACK_ALIGN - 1
	bnez	t0, change_stack
	addi	sp, sp, -PT_REGS_SIZE
	sd	ra, S_RA(sp)
	sd	s0, S_FRAME(sp)
#ifdef CONFIG_SHADOW_CALL_STACK
	bgez	gp, bad_scs		/* user memory may be mapped there */
	andi	t0, gp, 7
	bnez	t0, bad_scs
	li	t0, BUSY_SCS
	sd	t0, CTX_BUSY(CURRENT)
	ld	t0, CTX_TRAP_PC(CURRENT)
	sd	t0, 0(gp)
#endif
	fill_kernel_frame
	mv	a0, sp
#ifdef CONFIG_SHADOW_CALL_STACK
	addi	gp, gp, 8
	bltz	t3, kernel_interrupt
#endif
	/* Code at a return address from here to exception_entries_end was entered by an exception: the next frame is
	 * the interrupted instruction. */
	.globl	exception_entries
exception_entries:
	call	kernel_trap
return_from_exception:
	csrci	sstatus, SR_SIE
	return_to_kernel 1
	.size	trap_entry, . - trap_entry

#ifdef CONFIG_SHADOW_CALL_STACK
/*
 * The handlers of an interrupt run on the CPU's own shadow call stack. The task may be preempted only when it is
 * back on its own.
 */
	.type	kernel_interrupt, %function
kernel_interrupt:
	scs_enter_cpu scs_irq_base
	call	kernel_interrupt_begin
	scs_leave_cpu
	call	kernel_interrupt_end
	j	return_from_exception
	.size	kernel_interrupt, . - kernel_interrupt

/* The interrupted pc cannot be pushed. The ordinary stack is usable, and has the frame's ends. */
	.type	bad_scs, %function
bad_scs:
	fill_kernel_frame
	scs_load_percpu scs_fault_base
	mv	a0, sp
	call	scs_entry_fault
	csrci	sstatus, SR_SIE
	return_to_kernel 0
	.size	bad_scs, . - bad_scs
#endif

/*
 * There is no usable stack below the stack pointer. Change to this CPU's overflow stack.
 *
 * The handler may map memory there. Then it returns NULL, and the interrupted code goes on: what caused the exception causes
 * it again. Or it returns a frame on a stack of the thread, where the exception is handled.
 */
	.type	store_has_faulted, %function
store_has_faulted:
	csrw	sscratch, zero
#ifdef CONFIG_SHADOW_CALL_STACK
	addi	t0, t0, -BUSY_SCS
	beqz	t0, bad_scs
#endif
change_stack:
	ld	t0, CTX_CPU(CURRENT)
	addi	t0, t0, 1
	slli	t0, t0, OVERFLOW_STACK_SHIFT
	lla	sp, overflow_stack
	add	sp, sp, t0
	addi	sp, sp, -PT_REGS_SIZE
	sd	ra, S_RA(sp)
	sd	s0, S_FRAME(sp)
	fill_kernel_frame
#ifdef CONFIG_SHADOW_CALL_STACK
	scs_load_percpu scs_fault_base
#endif
	mv	a0, sp
	call	overflow_handler
	csrci	sstatus, SR_SIE
	bnez	a0, 1f
	return_to_kernel 0
1:	mv	sp, a0
	addi	s0, sp, PT_REGS_SIZE
#ifdef CONFIG_SHADOW_CALL_STACK
	ld	gp, S_GP(sp)
	ld	t0, S_PC(sp)
	sd	t0, 0(gp)
	addi	gp, gp, 8
#endif
	call	stack_handler
	j	return_from_exception
	.size	store_has_faulted, . - store_has_faulted
	.globl	exception_entries_end
exception_entries_end:

/*
 * From user mode: CURRENT is the task, and sscratch the program's register. The frame record in the frame is zero: a walk along frame
 * pointers must not continue with a program's s0.
 */
	.type	user_entry, %function
user_entry:
	sd	sp, CTX_TRAP_SP(CURRENT)
	ld	sp, CTX_USER_REGS(CURRENT)
	each_saved save_one
	sd	ra, S_RA(sp)
	sd	t0, S_T0(sp)
	sd	s0, S_S0(sp)
	csrrw	t0, sscratch, zero
	ld	t1, CTX_TRAP_SP(CURRENT)
	csrr	t2, sepc
	csrr	t3, sstatus
	csrr	t4, scause
	csrr	t5, stval
	sd	t0, S_CURRENT(sp)
	sd	t1, S_SP(sp)
	sd	t2, S_PC(sp)
	sd	t3, S_STATUS(sp)
	sd	t4, S_CAUSE(sp)
	sd	t5, S_BADADDR(sp)
	sd	zero, S_FRAME(sp)
	sd	zero, S_FRAME + 8(sp)
	addi	s0, sp, PT_REGS_SIZE
	mv	a0, sp
#ifdef CONFIG_SHADOW_CALL_STACK
	/* gp was the program's. In the kernel the task starts with an empty shadow call stack. */
	sd	gp, S_GP(sp)
	ld	gp, TASK_SCS_BASE(CURRENT)
	bltz	t4, user_interrupt
#endif
	call	user_trap
return_to_user:
	csrci	sstatus, SR_SIE
	mv	a0, sp
	call	exit_to_user_mode
	csrci	sstatus, SR_SIE
#ifdef CONFIG_KSTACK_ERASE
	/* From here on nothing may be stored on the stack. */
	lla	t0, stackleak_mode
	lw	t0, 0(t0)
	bnez	t0, 2f
1:
#endif
#ifdef CONFIG_IRQSOFF
	call	irqsoff_end
#endif
	ld	t0, S_PC(sp)
	ld	t1, S_STATUS(sp)
	csrw	sepc, t0
	csrw	sstatus, t1
	csrw	sscratch, CURRENT
	each_saved load_one
#ifdef CONFIG_SHADOW_CALL_STACK
	ld	gp, S_GP(sp)
#endif
	ld	ra, S_RA(sp)
	ld	CURRENT, S_CURRENT(sp)
	ld	t0, S_T0(sp)
	ld	s0, S_S0(sp)
	ld	sp, S_SP(sp)
	sret
#ifdef CONFIG_KSTACK_ERASE
2:	addi	t0, t0, -STACK_ERASING_GENERIC
	beqz	t0, 3f
	call	stackleak_erase_on_task_stack
	j	1b
3:	call	stackleak_erase
	j	1b
#endif
	.size	user_entry, . - user_entry

#ifdef CONFIG_SHADOW_CALL_STACK
	.type	user_interrupt, %function
user_interrupt:
	scs_enter_cpu scs_irq_base
	call	user_interrupt_handler
	scs_leave_cpu
	call	irq_exit_softirq
	j	return_to_user
	.size	user_interrupt, . - user_interrupt
#endif

/* enter_user_mode(regs): regs is task_pt_regs(current); everything on the stack is dropped. */
	.globl	enter_user_mode
	.type	enter_user_mode, %function
enter_user_mode:
	csrci	sstatus, SR_SIE
	mv	sp, a0
	sd	sp, CTX_USER_REGS(CURRENT)
#ifdef CONFIG_SHADOW_CALL_STACK
	ld	gp, TASK_SCS_BASE(CURRENT)
#endif
	sd	zero, S_FRAME(sp)
	sd	zero, S_FRAME + 8(sp)
	addi	s0, sp, PT_REGS_SIZE
	j	return_to_user
	.size	enter_user_mode, . - enter_user_mode

/*
 * cpu_switch_to(prev, next): save the registers that a C function must preserve in prev's context, at offset 0 of
 * its task, and load them from next's. next gets a0, prev, as the result.
 */
	.globl	cpu_switch_to
	.type	cpu_switch_to, %function
cpu_switch_to:
	sd	s0, CTX_S0 + 8 * 0(a0)
	sd	s1, CTX_S0 + 8 * 1(a0)
	sd	s2, CTX_S0 + 8 * 2(a0)
	sd	s3, CTX_S0 + 8 * 3(a0)
	sd	s4, CTX_S0 + 8 * 4(a0)
	sd	s5, CTX_S0 + 8 * 5(a0)
	sd	s6, CTX_S0 + 8 * 6(a0)
	sd	s7, CTX_S0 + 8 * 7(a0)
	sd	s8, CTX_S0 + 8 * 8(a0)
	sd	s9, CTX_S0 + 8 * 9(a0)
	sd	s10, CTX_S0 + 8 * 10(a0)
	sd	s11, CTX_S0 + 8 * 11(a0)
	sd	sp, CTX_SP(a0)
	sd	ra, CTX_RA(a0)
#ifdef CONFIG_SHADOW_CALL_STACK
	sd	gp, CTX_SCS(a0)
#endif
	ld	t0, CTX_CPU(a0)
	sd	t0, CTX_CPU(a1)
	ld	s0, CTX_S0 + 8 * 0(a1)
	ld	s1, CTX_S0 + 8 * 1(a1)
	ld	s2, CTX_S0 + 8 * 2(a1)
	ld	s3, CTX_S0 + 8 * 3(a1)
	ld	s4, CTX_S0 + 8 * 4(a1)
	ld	s5, CTX_S0 + 8 * 5(a1)
	ld	s6, CTX_S0 + 8 * 6(a1)
	ld	s7, CTX_S0 + 8 * 7(a1)
	ld	s8, CTX_S0 + 8 * 8(a1)
	ld	s9, CTX_S0 + 8 * 9(a1)
	ld	s10, CTX_S0 + 8 * 10(a1)
	ld	s11, CTX_S0 + 8 * 11(a1)
	ld	ra, CTX_RA(a1)
	ld	sp, CTX_SP(a1)
#ifdef CONFIG_SHADOW_CALL_STACK
	ld	gp, CTX_SCS(a1)
#endif
	mv	CURRENT, a1
	ret
	.size	cpu_switch_to, . - cpu_switch_to

#ifdef CONFIG_SHADOW_CALL_STACK
/*
 * scs_call_softirqs(function, frame): call the function on this CPU's shadow call stack for soft interrupts, and store
 * where its frames end. Interrupts are off.
 */
	.globl	scs_call_softirqs
	.type	scs_call_softirqs, %function
scs_call_softirqs:
	sd	ra, 0(gp)
	addi	gp, gp, 8
	addi	sp, sp, -32
	sd	ra, 24(sp)
	sd	s0, 16(sp)
	sd	s1, 8(sp)
	addi	s0, sp, 32
	sd	sp, 0(a1)
	scs_enter_cpu scs_softirq_base
	jalr	a0
	scs_leave_cpu
	ld	s1, 8(sp)
	ld	s0, 16(sp)
	addi	sp, sp, 32
	ld	ra, -8(gp)
	addi	gp, gp, -8
	ret
	.size	scs_call_softirqs, . - scs_call_softirqs

/* A function has not returned as it was called: gp is not what it was. */
	.type	scs_unbalanced, %function
scs_unbalanced:
	mv	a0, gp
	mv	a1, s1
	mv	gp, s1
	call	scs_unbalanced_handler
	unimp
	.size	scs_unbalanced, . - scs_unbalanced
#endif

/* First code of a new thread: a0 = prev, s1 = its function, s2 = the argument. */
	.globl	ret_from_fork
	.type	ret_from_fork, %function
ret_from_fork:
	call	schedule_tail
	mv	a0, s2
	jalr	s1
	call	kthread_exit
	unimp
	.size	ret_from_fork, . - ret_from_fork

/* arch_call_on_stack(top, function, argument): call the function with the stack pointer @top. */
	.globl	arch_call_on_stack
	.type	arch_call_on_stack, %function
arch_call_on_stack:
#ifdef CONFIG_SHADOW_CALL_STACK
	sd	ra, 0(gp)
	addi	gp, gp, 8
#endif
	addi	sp, sp, -32
	sd	ra, 24(sp)
	sd	s0, 16(sp)
	sd	s1, 8(sp)
	addi	s0, sp, 32
	mv	s1, sp
	/* The frame record of the new stack continues in that of the old one. */
	addi	a0, a0, -16
	sd	s0, 0(a0)
	sd	ra, 8(a0)
	mv	sp, a0
	addi	s0, sp, 16
	mv	a0, a2
	jalr	a1
	mv	sp, s1
	ld	s1, 8(sp)
	ld	s0, 16(sp)
	ld	ra, 24(sp)
	addi	sp, sp, 32
#ifdef CONFIG_SHADOW_CALL_STACK
	ld	ra, -8(gp)
	addi	gp, gp, -8
#endif
	ret
	.size	arch_call_on_stack, . - arch_call_on_stack
