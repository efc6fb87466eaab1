/* SPDX-License-Identifier: MIT */
/* syscall.h - how a program in user mode makes a system call on arm64. */
#ifndef ARM64_TESTS_SYSCALL_H
#define ARM64_TESTS_SYSCALL_H

/** syscall6() - system call @nr with six arguments. Return: its result. */
static inline long syscall6(long nr, unsigned long a, unsigned long b, unsigned long c,
			    unsigned long d, unsigned long e, unsigned long f)
{
	register unsigned long x8 __asm__("x8") = (unsigned long)nr;
	register unsigned long x0 __asm__("x0") = a;
	register unsigned long x1 __asm__("x1") = b;
	register unsigned long x2 __asm__("x2") = c;
	register unsigned long x3 __asm__("x3") = d;
	register unsigned long x4 __asm__("x4") = e;
	register unsigned long x5 __asm__("x5") = f;

	__asm__ __volatile__("svc #0"
			     : "+r"(x0)
			     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			     : "memory");
	return (long)x0;
}

/** pause_cpu() - another CPU may go on, if a simulator runs them one at a time. */
static inline void pause_cpu(void)
{
	__asm__ __volatile__("yield" ::: "memory");
}

#endif
