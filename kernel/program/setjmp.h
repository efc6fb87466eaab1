/* SPDX-License-Identifier: MIT */
/*
 * setjmp.h - the kernel's setjmp() and longjmp() for programs, whose C library has its own header for them. They need a thread
 * that may use floating point: see <kernel/fpu.h>. An architecture writes them; docs/dev/new-architecture.md says what they do.
 */
#ifndef PROGRAM_SETJMP_H
#define PROGRAM_SETJMP_H

/** struct program_jump - as large as any jmp_buf. */
struct program_jump {
	unsigned long words[24];
};

int setjmp(struct program_jump *jump) __attribute__((__returns_twice__));
_Noreturn void longjmp(struct program_jump *jump, int value);

#endif
