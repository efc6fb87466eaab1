/* SPDX-License-Identifier: MIT */
/* setjmp.h - jumps out of nested calls. longjmp() also clears the stack poison of the frames that it skips. */
#ifndef _SETJMP_H
#define _SETJMP_H

/* arm64: a call must keep x19..x30, sp, d8..d15 and FPCR; one word is for the shadow call stack, and one is unused. */
typedef unsigned long jmp_buf[24];

int setjmp(jmp_buf env) __attribute__((returns_twice));
_Noreturn void longjmp(jmp_buf env, int value);

#endif
