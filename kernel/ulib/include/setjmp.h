/* SPDX-License-Identifier: MIT */
/* setjmp.h - jumps out of nested calls. longjmp() also clears the stack poison of the frames that it skips. */
#ifndef _SETJMP_H
#define _SETJMP_H

/* arm64: a call must keep x19..x30 and sp, and the last word is for the shadow call stack; there are no FP
 * registers in the kernel. */
typedef unsigned long jmp_buf[14];

int setjmp(jmp_buf env) __attribute__((returns_twice));
_Noreturn void longjmp(jmp_buf env, int value);

#endif
