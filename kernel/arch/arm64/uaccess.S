/* SPDX-License-Identifier: MIT */
/*
 * uaccess.S - copies between kernel and user memory.
 *
 * Only ldtr and sttr access user memory. They have the rights of EL0: a kernel address faults even if it
 * has passed the checks before, and PAN does not apply. Each has an entry in the exception table, the place
 * to continue after a fault. Accesses to *kernel* memory have no entry: a fault there is a bug of the
 * kernel.
 *
 * These functions check neither shadow nor the range; <kernel/uaccess.h> does.
 */
#include <kernel/assembly.S>

	.pushsection .rodata.ex_table, "a", %progbits
	.balign	8
	.globl	__start___ex_table
__start___ex_table:
	.popsection

	.text

/*
 * unsigned long __arch_copy_from_user(void *to, const void __user *from, unsigned long n)
 *
 * Copies blocks of 32 bytes, then bytes. A block that faults is done again byte by byte, so that the result is
 * exact: x0 to x2 advance only after a complete block.
 */
function __arch_copy_from_user
	cmp	x2, #32
	b.lo	2f
1:	user	2f, ldtr x3, [x1]
	user	2f, ldtr x4, [x1, #8]
	user	2f, ldtr x5, [x1, #16]
	user	2f, ldtr x6, [x1, #24]
	add	x1, x1, #32
	stp	x3, x4, [x0]
	stp	x5, x6, [x0, #16]
	add	x0, x0, #32
	sub	x2, x2, #32
	cmp	x2, #32
	b.hs	1b
2:	cbz	x2, 4f
3:	user	4f, ldtrb w3, [x1]
	add	x1, x1, #1
	strb	w3, [x0], #1
	subs	x2, x2, #1
	b.ne	3b
4:	mov	x0, x2
	ret
end_function __arch_copy_from_user

/* unsigned long __arch_copy_to_user(void __user *to, const void *from, unsigned long n) */
function __arch_copy_to_user
	cmp	x2, #32
	b.lo	2f
1:	ldp	x3, x4, [x1]
	ldp	x5, x6, [x1, #16]
	user	2f, sttr x3, [x0]
	user	2f, sttr x4, [x0, #8]
	user	2f, sttr x5, [x0, #16]
	user	2f, sttr x6, [x0, #24]
	add	x0, x0, #32
	add	x1, x1, #32
	sub	x2, x2, #32
	cmp	x2, #32
	b.hs	1b
2:	cbz	x2, 4f
3:	ldrb	w3, [x1]
	user	4f, sttrb w3, [x0]
	add	x0, x0, #1
	add	x1, x1, #1
	subs	x2, x2, #1
	b.ne	3b
4:	mov	x0, x2
	ret
end_function __arch_copy_to_user

/*
 * unsigned long __arch_copy_from_kernel(void *to, const void *from, unsigned long n)
 * unsigned long __arch_copy_to_kernel(void *to, const void *from, unsigned long n)
 *
 * Here the uncertain side is a kernel address, so ldr and str access it. They are for debuggers, and simple. They
 * return the number of bytes that were not copied.
 */
	.macro	copy_kernel name, loads, stores
function \name
	cmp	x2, #8
	b.lo	2f
1:	\loads	2f, ldr x3, [x1]
	\stores	2f, str x3, [x0]
	add	x0, x0, #8
	add	x1, x1, #8
	sub	x2, x2, #8
	cmp	x2, #8
	b.hs	1b
2:	cbz	x2, 4f
3:	\loads	4f, ldrb w3, [x1]
	\stores	4f, strb w3, [x0]
	add	x0, x0, #1
	add	x1, x1, #1
	subs	x2, x2, #1
	b.ne	3b
4:	mov	x0, x2
	ret
end_function \name
	.endm

	.macro	plain fixup, insn:vararg
	\insn
	.endm

	copy_kernel __arch_copy_from_kernel, user, plain
	copy_kernel __arch_copy_to_kernel, plain, user

/* unsigned long __arch_clear_user(void __user *to, unsigned long n) */
function __arch_clear_user
	cmp	x1, #32
	b.lo	2f
1:	user	2f, sttr xzr, [x0]
	user	2f, sttr xzr, [x0, #8]
	user	2f, sttr xzr, [x0, #16]
	user	2f, sttr xzr, [x0, #24]
	add	x0, x0, #32
	sub	x1, x1, #32
	cmp	x1, #32
	b.hs	1b
2:	cbz	x1, 4f
3:	user	4f, sttrb wzr, [x0]
	add	x0, x0, #1
	subs	x1, x1, #1
	b.ne	3b
4:	mov	x0, x1
	ret
end_function __arch_clear_user

/*
 * long __arch_strncpy_from_user(char *to, const char __user *from, unsigned long n)
 *
 * Returns the number of characters before the NUL, n if there is none among the first n; -1 after a fault.
 */
function __arch_strncpy_from_user
	mov	x3, #0
1:	cmp	x3, x2
	b.hs	2f
	user	3f, ldtrb w4, [x1]
	strb	w4, [x0, x3]
	cbz	w4, 2f
	add	x1, x1, #1
	add	x3, x3, #1
	b	1b
2:	mov	x0, x3
	ret
3:	mov	x0, #-1
	ret
end_function __arch_strncpy_from_user

/* long __arch_strnlen_user(const char __user *s, unsigned long n) - the same without a copy. */
function __arch_strnlen_user
	mov	x3, #0
1:	cmp	x3, x1
	b.hs	2f
	user	3f, ldtrb w4, [x0]
	cbz	w4, 2f
	add	x0, x0, #1
	add	x3, x3, #1
	b	1b
2:	mov	x0, x3
	ret
3:	mov	x0, #-1
	ret
end_function __arch_strnlen_user

/* struct user_value __arch_get_user_N(const void __user *from): x0 the value, x1 zero or -1. */
	.macro	get_user name, insn:vararg
function \name
	user	1f, \insn
	mov	x1, #0
	ret
1:	mov	x0, #0
	mov	x1, #-1
	ret
end_function \name
	.endm

	get_user __arch_get_user_1, ldtrb w0, [x0]
	get_user __arch_get_user_2, ldtrh w0, [x0]
	get_user __arch_get_user_4, ldtr w0, [x0]
	get_user __arch_get_user_8, ldtr x0, [x0]

/* long __arch_put_user_N(void __user *to, u64 value): zero or -1. */
	.macro	put_user name, insn:vararg
function \name
	user	1f, \insn
	mov	x0, #0
	ret
1:	mov	x0, #-1
	ret
end_function \name
	.endm

	put_user __arch_put_user_1, sttrb w1, [x0]
	put_user __arch_put_user_2, sttrh w1, [x0]
	put_user __arch_put_user_4, sttr w1, [x0]
	put_user __arch_put_user_8, sttr x1, [x0]

	.pushsection .rodata.ex_table, "a", %progbits
	.globl	__stop___ex_table
__stop___ex_table:
	.popsection
