/* SPDX-License-Identifier: MIT */
/*
 * mem.S - __memcpy(), __memmove() and __memset() for hardware tags. The runtime's memcpy() and others jump
 * here, because the CPU checks each access.
 *
 * A tag check fault here means that part of the range belongs to another object. Generic mode then skips the
 * operation; here it ends at the fault, because the rest would only destroy more. To return early, and to
 * report the whole range, the fault handler relies on a state that holds at every instruction: x0, x1 and x2
 * are the arguments, x30 is the return address, and the stack is unchanged.
 */
#ifdef CONFIG_KASAN_HW_TAGS

#include <kernel/assembly.S>

	.section .text.kasan_mem, "ax"

/* x3: to, x4: from, x5: bytes left. A block is loaded as a whole before it is stored. */
	function __memcpy
	mov	x3, x0
	mov	x4, x1
.Lforward:
	subs	x5, x2, #64
	b.lo	2f
1:	ldp	x8, x9, [x4, #16]
	ldp	x10, x11, [x4, #32]
	ldp	x12, x13, [x4, #48]
	ldp	x6, x7, [x4], #64
	stp	x8, x9, [x3, #16]
	stp	x10, x11, [x3, #32]
	stp	x12, x13, [x3, #48]
	stp	x6, x7, [x3], #64
	subs	x5, x5, #64
	b.hs	1b
2:	tbz	x5, #5, 3f
	ldp	x8, x9, [x4, #16]
	ldp	x6, x7, [x4], #32
	stp	x8, x9, [x3, #16]
	stp	x6, x7, [x3], #32
3:	tbz	x5, #4, 4f
	ldp	x6, x7, [x4], #16
	stp	x6, x7, [x3], #16
4:	tbz	x5, #3, 5f
	ldr	x6, [x4], #8
	str	x6, [x3], #8
5:	tbz	x5, #2, 6f
	ldr	w6, [x4], #4
	str	w6, [x3], #4
6:	tbz	x5, #1, 7f
	ldrh	w6, [x4], #2
	strh	w6, [x3], #2
7:	tbz	x5, #0, 8f
	ldrb	w6, [x4]
	strb	w6, [x3]
8:	ret
end_function __memcpy

/* Copies forward unless the destination starts inside the source, by the addresses without tags. */
	function __memmove
	mov	x3, x0
	mov	x4, x1
	sub	x5, x0, x1
	and	x5, x5, #0x00ffffffffffffff
	cmp	x5, x2
	b.hs	.Lforward
	add	x3, x3, x2
	add	x4, x4, x2
	subs	x5, x2, #64
	b.lo	2f
1:	ldp	x6, x7, [x4, #-16]
	ldp	x8, x9, [x4, #-32]
	ldp	x10, x11, [x4, #-48]
	ldp	x12, x13, [x4, #-64]!
	stp	x6, x7, [x3, #-16]
	stp	x8, x9, [x3, #-32]
	stp	x10, x11, [x3, #-48]
	stp	x12, x13, [x3, #-64]!
	subs	x5, x5, #64
	b.hs	1b
2:	tbz	x5, #5, 3f
	ldp	x6, x7, [x4, #-16]
	ldp	x8, x9, [x4, #-32]!
	stp	x6, x7, [x3, #-16]
	stp	x8, x9, [x3, #-32]!
3:	tbz	x5, #4, 4f
	ldp	x6, x7, [x4, #-16]!
	stp	x6, x7, [x3, #-16]!
4:	tbz	x5, #3, 5f
	ldr	x6, [x4, #-8]!
	str	x6, [x3, #-8]!
5:	tbz	x5, #2, 6f
	ldr	w6, [x4, #-4]!
	str	w6, [x3, #-4]!
6:	tbz	x5, #1, 7f
	ldrh	w6, [x4, #-2]!
	strh	w6, [x3, #-2]!
7:	tbz	x5, #0, 8f
	ldrb	w6, [x4, #-1]
	strb	w6, [x3, #-1]
8:	ret
end_function __memmove

	function __memset
	mov	x3, x0
	and	x4, x1, #0xff
	mov	x6, #0x0101010101010101
	mul	x4, x4, x6
	subs	x5, x2, #64
	b.lo	2f
1:	stp	x4, x4, [x3, #16]
	stp	x4, x4, [x3, #32]
	stp	x4, x4, [x3, #48]
	stp	x4, x4, [x3], #64
	subs	x5, x5, #64
	b.hs	1b
2:	tbz	x5, #5, 3f
	stp	x4, x4, [x3, #16]
	stp	x4, x4, [x3], #32
3:	tbz	x5, #4, 4f
	stp	x4, x4, [x3], #16
4:	tbz	x5, #3, 5f
	str	x4, [x3], #8
5:	tbz	x5, #2, 6f
	str	w4, [x3], #4
6:	tbz	x5, #1, 7f
	strh	w4, [x3], #2
7:	tbz	x5, #0, 8f
	strb	w4, [x3]
8:	ret
end_function __memset

#endif
