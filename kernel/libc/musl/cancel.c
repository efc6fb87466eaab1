// SPDX-License-Identifier: MIT
/*
 * cancel.c - system calls at which a thread may be cancelled. Compiled like a file of the C library.
 *
 * The library asks at the start of such a call. A call that waits ends with EINTR when another thread cancels this one,
 * and the library then asks again. No handler looks at the place of a system call, so the places have no size.
 */
#include "pthread_impl.h"

hidden long __cancel(void);
hidden long __syscall_cp_asm(volatile int *cancel, long nr, long a, long b, long c, long d, long e,
			     long f);

hidden const char __cp_begin[1], __cp_end[1], __cp_cancel[1];

long __syscall_cp_asm(volatile int *cancel, long nr, long a, long b, long c, long d, long e, long f)
{
	if (*cancel)
		return __cancel();
	return redzone_syscall(nr, a, b, c, d, e, f);
}
