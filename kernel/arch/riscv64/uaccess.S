/* SPDX-License-Identifier: MIT */
/*
 * uaccess.S - copies between kernel and user memory.
 *
 * The CPU refuses the kernel's accesses to user memory except while sstatus.SUM is set, which is only here. An access to
 * user memory has an entry in the exception table, the place to continue after a fault. Accesses to *kernel* memory have
 * no entry: a fault there is a bug of the kernel. The CPU does not keep these functions from kernel memory, so each first
 * looks whether the range ends in the lower half.
 *
 * These functions check no shadow; <kernel/uaccess.h> does, and the range before.
 */
#include <kernel/assembly.S>

#include <asm/csr.h>
#include <asm/memory.h>

	.macro	plain fixup, insn:vararg
	\insn
	.endm

/* Branch to \refused unless [\address, \address + \size) is user memory. Clobbers t0, t1. */
	.macro	check_range address, size, refused
	add	t0, \address, \size
	addi	t0, t0, -1
	or	t1, t0, \address
	or	t1, t1, \size
	srli	t1, t1, VA_BITS - 1
	bnez	t1, \refused
	.endm

/* t6 holds the bit until close_user. */
	.macro	open_user
	li	t6, SR_SUM
	csrs	sstatus, t6
	.endm

	.macro	close_user
	csrc	sstatus, t6
	.endm

	.pushsection .rodata.ex_table, "a", %progbits
	.balign	8
	.globl	__start___ex_table
__start___ex_table:
	.popsection

	.text

/*
 * Copies blocks of 32 bytes, if both addresses are aligned to words, then bytes. A block that faults is done again byte by byte,
 * so that the result is exact: a0 to a2 advance only after a complete block. They return the number of bytes that were not
 * copied.
 */
	.macro	copy_body loads, stores
	or	t0, a0, a1
	andi	t0, t0, 7
	bnez	t0, 2f
	li	t0, 32
	bltu	a2, t0, 2f
1:	\loads	2f, ld t1, 0(a1)
	\loads	2f, ld t2, 8(a1)
	\loads	2f, ld t3, 16(a1)
	\loads	2f, ld t4, 24(a1)
	\stores	2f, sd t1, 0(a0)
	\stores	2f, sd t2, 8(a0)
	\stores	2f, sd t3, 16(a0)
	\stores	2f, sd t4, 24(a0)
	addi	a1, a1, 32
	addi	a0, a0, 32
	addi	a2, a2, -32
	bgeu	a2, t0, 1b
2:	beqz	a2, 4f
3:	\loads	4f, lbu t1, 0(a1)
	\stores	4f, sb t1, 0(a0)
	addi	a1, a1, 1
	addi	a0, a0, 1
	addi	a2, a2, -1
	bnez	a2, 3b
4:
	.endm

/* unsigned long __arch_copy_from_user(void *to, const void __user *from, unsigned long n) */
function __arch_copy_from_user
	beqz	a2, 5f
	check_range a1, a2, 5f
	open_user
	copy_body user, plain
	close_user
5:	mv	a0, a2
	ret
end_function __arch_copy_from_user

/* unsigned long __arch_copy_to_user(void __user *to, const void *from, unsigned long n) */
function __arch_copy_to_user
	beqz	a2, 5f
	check_range a0, a2, 5f
	open_user
	copy_body plain, user
	close_user
5:	mv	a0, a2
	ret
end_function __arch_copy_to_user

/*
 * unsigned long __arch_copy_from_kernel(void *to, const void *from, unsigned long n)
 * unsigned long __arch_copy_to_kernel(void *to, const void *from, unsigned long n)
 *
 * Here the uncertain side is a kernel address. They are for debuggers.
 */
function __arch_copy_from_kernel
	copy_body user, plain
	mv	a0, a2
	ret
end_function __arch_copy_from_kernel

function __arch_copy_to_kernel
	copy_body plain, user
	mv	a0, a2
	ret
end_function __arch_copy_to_kernel

/* unsigned long __arch_clear_user(void __user *to, unsigned long n) */
function __arch_clear_user
	beqz	a1, 5f
	check_range a0, a1, 5f
	open_user
	andi	t0, a0, 7
	bnez	t0, 2f
	li	t0, 32
	bltu	a1, t0, 2f
1:	user	2f, sd zero, 0(a0)
	user	2f, sd zero, 8(a0)
	user	2f, sd zero, 16(a0)
	user	2f, sd zero, 24(a0)
	addi	a0, a0, 32
	addi	a1, a1, -32
	bgeu	a1, t0, 1b
2:	beqz	a1, 4f
3:	user	4f, sb zero, 0(a0)
	addi	a0, a0, 1
	addi	a1, a1, -1
	bnez	a1, 3b
4:	close_user
5:	mv	a0, a1
	ret
end_function __arch_clear_user

/*
 * long __arch_strncpy_from_user(char *to, const char __user *from, unsigned long n)
 *
 * Returns the number of characters before the NUL, n if there is none among the first n; -1 after a fault. The end of the string
 * is not known before, so each character's address is looked at.
 */
function __arch_strncpy_from_user
	open_user
	li	t2, 0
1:	bgeu	t2, a2, 2f
	srli	t0, a1, VA_BITS - 1
	bnez	t0, 3f
	user	3f, lbu t1, 0(a1)
	add	t0, a0, t2
	sb	t1, 0(t0)
	beqz	t1, 2f
	addi	a1, a1, 1
	addi	t2, t2, 1
	j	1b
2:	close_user
	mv	a0, t2
	ret
3:	close_user
	li	a0, -1
	ret
end_function __arch_strncpy_from_user

/* long __arch_strnlen_user(const char __user *s, unsigned long n) - the same without a copy. */
function __arch_strnlen_user
	open_user
	li	t2, 0
1:	bgeu	t2, a1, 2f
	srli	t0, a0, VA_BITS - 1
	bnez	t0, 3f
	user	3f, lbu t1, 0(a0)
	beqz	t1, 2f
	addi	a0, a0, 1
	addi	t2, t2, 1
	j	1b
2:	close_user
	mv	a0, t2
	ret
3:	close_user
	li	a0, -1
	ret
end_function __arch_strnlen_user

/* struct user_value __arch_get_user_N(const void __user *from): a0 the value, a1 zero or -1. */
	.macro	get_user name, size, insn
function \name
	li	t2, \size
	check_range a0, t2, 2f
	open_user
	user	1f, \insn a0, 0(a0)
	close_user
	li	a1, 0
	ret
1:	close_user
2:	li	a0, 0
	li	a1, -1
	ret
end_function \name
	.endm

	get_user __arch_get_user_1, 1, lbu
	get_user __arch_get_user_2, 2, lhu
	get_user __arch_get_user_4, 4, lwu
	get_user __arch_get_user_8, 8, ld

/* long __arch_put_user_N(void __user *to, u64 value): zero or -1. */
	.macro	put_user name, size, insn
function \name
	li	t2, \size
	check_range a0, t2, 2f
	open_user
	user	1f, \insn a1, 0(a0)
	close_user
	li	a0, 0
	ret
1:	close_user
2:	li	a0, -1
	ret
end_function \name
	.endm

	put_user __arch_put_user_1, 1, sb
	put_user __arch_put_user_2, 2, sh
	put_user __arch_put_user_4, 4, sw
	put_user __arch_put_user_8, 8, sd

	.pushsection .rodata.ex_table, "a", %progbits
	.globl	__stop___ex_table
__stop___ex_table:
	.popsection
