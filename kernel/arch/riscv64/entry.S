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
 * is 0, and gp holds the task.
 */
#include <asm/csr.h>
#include <asm/memory.h>
#include <asm/ptrace.h>
#include <asm/switch.h>

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
	\action	s11, 27
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
 */
	.macro	fill_kernel_frame
	sd	zero, CTX_BUSY(gp)
	each_saved save_one
	sd	s0, S_S0(sp)
	sd	gp, S_GP(sp)
	ld	t0, CTX_TRAP_T0(gp)
	ld	t1, CTX_TRAP_PC(gp)
	ld	t2, CTX_STATUS(gp)
	ld	t3, CTX_CAUSE(gp)
	ld	t4, CTX_BADADDR(gp)
	ld	t5, CTX_TRAP_SP(gp)
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

/* Return to the kernel's code of the frame at sp. gp stays: a thread is its own task all its life. */
	.macro	return_to_kernel
	ld	t0, S_PC(sp)
	ld	t1, S_STATUS(sp)
	csrw	sepc, t0
	csrw	sstatus, t1
	each_saved load_one
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
	csrrw	gp, sscratch, gp
	bnez	gp, user_entry
	/* From the kernel: gp is the task again, and t0 is in sscratch for a moment. */
	csrrw	gp, sscratch, t0
	ld	t0, CTX_BUSY(gp)
	bnez	t0, store_has_faulted
	sd	gp, CTX_BUSY(gp)
	csrrw	t0, sscratch, zero
	sd	t0, CTX_TRAP_T0(gp)
	csrr	t0, sepc
	sd	t0, CTX_TRAP_PC(gp)
	csrr	t0, sstatus
	sd	t0, CTX_STATUS(gp)
	csrr	t0, scause
	sd	t0, CTX_CAUSE(gp)
	csrr	t0, stval
	sd	t0, CTX_BADADDR(gp)
	sd	sp, CTX_TRAP_SP(gp)
	andi	t0, sp, STACK_ALIGN - 1
	bnez	t0, change_stack
	addi	sp, sp, -PT_REGS_SIZE
	sd	ra, S_RA(sp)
	sd	s0, S_FRAME(sp)
	fill_kernel_frame
	mv	a0, sp
	/* Code at a return address from here to exception_entries_end was entered by an exception: the next frame is
	 * the interrupted instruction. */
	.globl	exception_entries
exception_entries:
	call	kernel_trap
return_from_exception:
	csrci	sstatus, SR_SIE
	return_to_kernel
	.size	trap_entry, . - trap_entry

/*
 * There is no usable stack below the stack pointer. Change to this CPU's overflow stack.
 *
 * The handler may map memory there. Then it returns NULL, and the interrupted code goes on: what caused the exception causes
 * it again. Or it returns a frame on a stack of the thread, where the exception is handled.
 */
	.type	store_has_faulted, %function
store_has_faulted:
	csrw	sscratch, zero
change_stack:
	ld	t0, CTX_CPU(gp)
	addi	t0, t0, 1
	slli	t0, t0, OVERFLOW_STACK_SHIFT
	lla	sp, overflow_stack
	add	sp, sp, t0
	addi	sp, sp, -PT_REGS_SIZE
	sd	ra, S_RA(sp)
	sd	s0, S_FRAME(sp)
	fill_kernel_frame
	mv	a0, sp
	call	overflow_handler
	csrci	sstatus, SR_SIE
	bnez	a0, 1f
	return_to_kernel
1:	mv	sp, a0
	addi	s0, sp, PT_REGS_SIZE
	call	stack_handler
	j	return_from_exception
	.size	store_has_faulted, . - store_has_faulted
	.globl	exception_entries_end
exception_entries_end:

/*
 * From user mode: gp is the task, sscratch the program's gp. The frame record in the frame is zero: a walk along frame
 * pointers must not continue with a program's s0.
 */
	.type	user_entry, %function
user_entry:
	sd	sp, CTX_TRAP_SP(gp)
	ld	sp, CTX_USER_REGS(gp)
	each_saved save_one
	sd	ra, S_RA(sp)
	sd	t0, S_T0(sp)
	sd	s0, S_S0(sp)
	csrrw	t0, sscratch, zero
	ld	t1, CTX_TRAP_SP(gp)
	csrr	t2, sepc
	csrr	t3, sstatus
	csrr	t4, scause
	csrr	t5, stval
	sd	t0, S_GP(sp)
	sd	t1, S_SP(sp)
	sd	t2, S_PC(sp)
	sd	t3, S_STATUS(sp)
	sd	t4, S_CAUSE(sp)
	sd	t5, S_BADADDR(sp)
	sd	zero, S_FRAME(sp)
	sd	zero, S_FRAME + 8(sp)
	addi	s0, sp, PT_REGS_SIZE
	mv	a0, sp
	call	user_trap
return_to_user:
	csrci	sstatus, SR_SIE
	mv	a0, sp
	call	exit_to_user_mode
	csrci	sstatus, SR_SIE
#ifdef CONFIG_IRQSOFF
	call	irqsoff_end
#endif
	ld	t0, S_PC(sp)
	ld	t1, S_STATUS(sp)
	csrw	sepc, t0
	csrw	sstatus, t1
	csrw	sscratch, gp
	each_saved load_one
	ld	ra, S_RA(sp)
	ld	gp, S_GP(sp)
	ld	t0, S_T0(sp)
	ld	s0, S_S0(sp)
	ld	sp, S_SP(sp)
	sret
	.size	user_entry, . - user_entry

/* enter_user_mode(regs): regs is task_pt_regs(current); everything on the stack is dropped. */
	.globl	enter_user_mode
	.type	enter_user_mode, %function
enter_user_mode:
	csrci	sstatus, SR_SIE
	mv	sp, a0
	sd	sp, CTX_USER_REGS(gp)
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
	mv	gp, a1
	ret
	.size	cpu_switch_to, . - cpu_switch_to

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
	ret
	.size	arch_call_on_stack, . - arch_call_on_stack
