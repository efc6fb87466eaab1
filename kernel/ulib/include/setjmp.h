/* SPDX-License-Identifier: MIT */
/* setjmp.h - jumps out of nested calls. longjmp() also clears what the frames it skips left
 * poisoned on the stack. */
#ifndef _SETJMP_H
#define _SETJMP_H

/* arm64: x19..x30 and sp are what a call must keep; there are no FP registers in the kernel. */
typedef unsigned long jmp_buf[13];

int setjmp(jmp_buf env) __attribute__((returns_twice));
_Noreturn void longjmp(jmp_buf env, int value);

#endif
