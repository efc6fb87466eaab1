/* SPDX-License-Identifier: MIT */
/*
 * syscall_arch.h - how the C library calls the kernel: by a call of redzone_syscall(), because its programs run
 * inside the kernel. Replaces the file of the same name in the library's arch folder. Numbers, arguments and
 * results are those of Linux, and the result is a negative errno or a value.
 *
 * There is no vDSO, so VDSO_USEFUL stays undefined.
 */
#define __SYSCALL_LL_E(x) (x)
#define __SYSCALL_LL_O(x) (x)

long redzone_syscall(long nr, long a, long b, long c, long d, long e, long f);

static inline long __syscall0(long n)
{
	return redzone_syscall(n, 0, 0, 0, 0, 0, 0);
}

static inline long __syscall1(long n, long a)
{
	return redzone_syscall(n, a, 0, 0, 0, 0, 0);
}

static inline long __syscall2(long n, long a, long b)
{
	return redzone_syscall(n, a, b, 0, 0, 0, 0);
}

static inline long __syscall3(long n, long a, long b, long c)
{
	return redzone_syscall(n, a, b, c, 0, 0, 0);
}

static inline long __syscall4(long n, long a, long b, long c, long d)
{
	return redzone_syscall(n, a, b, c, d, 0, 0);
}

static inline long __syscall5(long n, long a, long b, long c, long d, long e)
{
	return redzone_syscall(n, a, b, c, d, e, 0);
}

static inline long __syscall6(long n, long a, long b, long c, long d, long e, long f)
{
	return redzone_syscall(n, a, b, c, d, e, f);
}

/* System V messages have no older form here. */
#define IPC_64 0
