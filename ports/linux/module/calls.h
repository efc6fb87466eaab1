/* SPDX-License-Identifier: MIT */
/* calls.h - system calls and text without a C library, and the counter of instructions, for arm64 and x86_64. */
#ifndef CALLS_H
#define CALLS_H

#include <stddef.h>
#include <stdint.h>

/* Linux's numbers: include/uapi/asm-generic/unistd.h, arch/x86/entry/syscalls/syscall_64.tbl. */
#ifdef __x86_64__
enum {
	READ = 0,
	WRITE = 1,
	CLOSE = 3,
	IOCTL = 16,
	NANOSLEEP = 35,
	GETPID = 39,
	SOCKET = 41,
	CONNECT = 42,
	ACCEPT = 43,
	BIND = 49,
	LISTEN = 50,
	CLONE = 56,
	EXECVE = 59,
	EXIT = 60,
	WAIT4 = 61,
	MOUNT = 165,
	REBOOT = 169,
	OPENAT = 257,
	MKDIRAT = 258,
	UNLINKAT = 263,
	PIPE2 = 293,
	FINIT_MODULE = 313,
};
#else
enum {
	IOCTL = 29,
	MKDIRAT = 34,
	UNLINKAT = 35,
	MOUNT = 40,
	OPENAT = 56,
	CLOSE = 57,
	PIPE2 = 59,
	READ = 63,
	WRITE = 64,
	EXIT = 93,
	NANOSLEEP = 101,
	REBOOT = 142,
	GETPID = 172,
	SOCKET = 198,
	BIND = 200,
	LISTEN = 201,
	ACCEPT = 202,
	CONNECT = 203,
	CLONE = 220,
	EXECVE = 221,
	WAIT4 = 260,
	FINIT_MODULE = 273,
};
#endif

#define AT_FDCWD (-100L)
#define O_WRONLY 01L
#define O_RDWR	 02L
#define O_CREAT	 0100L
#define SIGCHLD	 17L

static inline long call(long number, long a, long b, long c, long d, long e)
{
#ifdef __x86_64__
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;

	__asm__ volatile("syscall"
			 : "+a"(number)
			 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return number;
#else
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
			 : "memory");
	return x0;
#endif
}

/* The start of a program: calls start() with the address of the number of its arguments, which follow it. */
#ifdef __x86_64__
#define START(start)                                                                         \
	__asm__(".globl _start\n_start:\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall " #start \
		"\n\thlt\n")
#else
#define START(start) __asm__(".globl _start\n_start:\n\tmov x0, sp\n\tbl " #start "\n\tbrk #0\n")
#endif

/* Return: the instructions since the machine was switched on. */
static inline uint64_t now(void)
{
#ifdef __x86_64__
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
#else
	uint64_t count;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
	return count;
#endif
}

static inline size_t length(const char *text)
{
	size_t size = 0;

	while (text[size])
		size++;
	return size;
}

static inline void print(const char *text)
{
	call(WRITE, 1, (long)text, (long)length(text), 0, 0);
}

/* Stop the machine, once all that was printed has left it. */
static inline void stop(void)
{
	const long wait_for_output = 0x5409; /* TCSBRK */

	call(IOCTL, 1, wait_for_output, 1, 0, 0);
	call(REBOOT, 0xfee1deadL, 0x28121969L, 0x1234567L, 0, 0);
	for (;;)
		;
}

/* Return @value, or print @what and stop the machine if it is an error. */
static inline long need(const char *what, long value)
{
	if (value >= 0)
		return value;
	print("redzone: failed: ");
	print(what);
	print("\n");
	stop();
	return 0;
}

/* Return: what finit_module() returns. */
static inline long load(const char *path, const char *options)
{
	const long file = need(path, call(OPENAT, AT_FDCWD, (long)path, 0, 0, 0));
	const long result = call(FINIT_MODULE, file, (long)options, 0, 0, 0);

	call(CLOSE, file, 0, 0, 0, 0);
	return result;
}

#endif
