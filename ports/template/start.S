/* SPDX-License-Identifier: MIT */
/* start.S - entry: a stack, an empty .bss, then board_start(). QEMU's virt boards, arm64 and RISC-V. */
#include <kasan/config.h>

	.section .text.start, "ax"
	.globl	_start
	.type	_start, %function
_start:
#ifdef __aarch64__
#ifdef CONFIG_KASAN_TAGS
	bl	map_high		/* from here on in the upper half */
#endif
	adrp	x0, __stack_end
	add	x0, x0, :lo12:__stack_end
	mov	sp, x0
	adrp	x0, __bss_start
	add	x0, x0, :lo12:__bss_start
	adrp	x1, __bss_end
	add	x1, x1, :lo12:__bss_end
1:	cmp	x0, x1
	b.hs	2f
	stp	xzr, xzr, [x0], #16
	b	1b
2:
#ifdef KASAN_PORT_INLINE_H		/* SCS=1: see shadow_stack.h */
	adrp	x18, shadow_stack
	add	x18, x18, :lo12:shadow_stack
#endif
	mov	x29, xzr
	mov	x30, xzr
	bl	board_start
#else
	csrr	t0, mhartid
3:	bnez	t0, 3b
#ifdef CONFIG_KASAN_TAGS
	call	map_high		/* from here on in the upper half, and in supervisor mode */
#endif
	la	sp, __stack_end
	la	t0, __bss_start
	la	t1, __bss_end
1:	bgeu	t0, t1, 2f
	sw	zero, 0(t0)
	addi	t0, t0, 4
	j	1b
2:
#ifdef KASAN_PORT_INLINE_H
	lla	gp, shadow_stack
#endif
	mv	s0, zero
	mv	ra, zero
	call	board_start
#endif
	.size	_start, . - _start

#ifdef KASAN_PORT_INLINE_H
	.bss
	.globl	shadow_stack
	.balign	16
shadow_stack:
	.space	4096			/* 512 calls, one in another */
#endif

	.section .note.GNU-stack, "", %progbits
