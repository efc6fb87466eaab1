/* SPDX-License-Identifier: MIT */
/* syscall.h - how a program in user mode makes a system call on riscv64. */
#ifndef RISCV64_TESTS_SYSCALL_H
#define RISCV64_TESTS_SYSCALL_H

/** syscall6() - system call @nr with six arguments. Return: its result. */
static inline long syscall6(long nr, unsigned long a, unsigned long b, unsigned long c,
			    unsigned long d, unsigned long e, unsigned long f)
{
	register unsigned long a7 __asm__("a7") = (unsigned long)nr;
	register unsigned long a0 __asm__("a0") = a;
	register unsigned long a1 __asm__("a1") = b;
	register unsigned long a2 __asm__("a2") = c;
	register unsigned long a3 __asm__("a3") = d;
	register unsigned long a4 __asm__("a4") = e;
	register unsigned long a5 __asm__("a5") = f;

	__asm__ __volatile__("ecall"
			     : "+r"(a0)
			     : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
			     : "memory");
	return (long)a0;
}

/** pause_cpu() - another CPU may go on, if a simulator runs them one at a time. */
static inline void pause_cpu(void)
{
	__asm__ __volatile__(".4byte 0x0100000f" ::: "memory");
}

#endif
