// SPDX-License-Identifier: MIT
/* init.c - /init of the initial RAM disk: loads /measure.ko and stops the machine. No C library. */
#include <stddef.h>

#define AT_FDCWD (-100L)

#ifdef __x86_64__
#define SYS_OPENAT	 257
#define SYS_FINIT_MODULE 313
#define SYS_REBOOT	 169

static long call(long number, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;

	__asm__ volatile("syscall"
			 : "+a"(number)
			 : "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return number;
}
#else
#define SYS_OPENAT	 56
#define SYS_FINIT_MODULE 273
#define SYS_REBOOT	 142

static long call(long number, long a, long b, long c, long d)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
}
#endif

void _start(void);

void _start(void)
{
	long file = call(SYS_OPENAT, AT_FDCWD, (long)"/measure.ko", 0, 0);

	call(SYS_FINIT_MODULE, file, (long)"", 0, 0);
	call(SYS_REBOOT, 0xfee1deadL, 0x28121969L, 0x1234567L, 0);
	for (;;)
		;
}
