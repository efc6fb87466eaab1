// SPDX-License-Identifier: MIT
/* user_crash.c - actions that are forbidden in user mode. `crash KIND` returns only if the action was
 * possible. */
#include "../../../tests/user/user.h"

static volatile unsigned long data[4] = {0x8082808280828082}; /* ret, four times */
static const unsigned long constant[] = {5, 6};
static volatile unsigned long sink;

static void read_at(unsigned long address)
{
	/* Hides the address from the compiler. */
	__asm__("" : "+r"(address));
	sink = *(volatile unsigned long *)address;
}

static void write_at(unsigned long address)
{
	__asm__("" : "+r"(address));
	*(volatile unsigned long *)address = 1;
}

static void call(unsigned long address)
{
	__asm__ __volatile__("jalr %0" ::"r"(address) : "ra", "memory");
}

static void overflow_stack(unsigned long depth)
{
	volatile char frame[512];

	frame[0] = (char)depth;
	/* More frames than a stack can hold. */
	if (depth < 1UL << 40)
		overflow_stack(depth + 1);
	frame[1] = frame[0];
}

int case_crash(int argc, char **argv)
{
	const char *kind = argv[2];

	if (!strcmp(kind, "null"))
		read_at(8);
	else if (!strcmp(kind, "unmapped"))
		write_at(0x123456789000);
	else if (!strcmp(kind, "no-address"))
		read_at(0x4141414141414140);
	else if (!strcmp(kind, "kernel-data"))
		read_at(0xffff800040000000);
	else if (!strcmp(kind, "kernel-shadow"))
		write_at(0xfffff00010000000);
	else if (!strcmp(kind, "kernel-code"))
		call(0xffffffff90000000);
	else if (!strcmp(kind, "constant"))
		write_at((unsigned long)constant);
	else if (!strcmp(kind, "own-code"))
		write_at((unsigned long)case_crash);
	else if (!strcmp(kind, "execute-data"))
		call((unsigned long)data);
	else if (!strcmp(kind, "no-rights"))
		read_at((unsigned long)map(PAGE_SIZE, 0));
	else if (!strcmp(kind, "stack"))
		overflow_stack(0);
	else if (!strcmp(kind, "misaligned-pc"))
		/* There is no such pc. An access of this kind cannot be misaligned either. */
		__asm__ __volatile__("lr.d t0, (%0)" ::"r"((char *)data + 1) : "t0");
	else if (!strcmp(kind, "undefined"))
		__asm__ __volatile__(".2byte 0");
	else if (!strcmp(kind, "breakpoint"))
		__asm__ __volatile__("ebreak");
	else if (!strcmp(kind, "system-register"))
		__asm__ __volatile__("csrw satp, zero");
	else if (!strcmp(kind, "mask-interrupts"))
		__asm__ __volatile__("csrci sstatus, 2");
	else if (!strcmp(kind, "timer"))
		__asm__ __volatile__("csrr t0, 0x14d" ::: "t0");
	else if (!strcmp(kind, "floating-point"))
		__asm__ __volatile__("fmv.d.x ft0, zero");
	else if (!strcmp(kind, "hypercall"))
		__asm__ __volatile__("sret");
	else if (!strcmp(kind, "semihosting"))
		__asm__ __volatile__(".option push\n\t.option norvc\n\tslli zero, zero, 0x1f\n\t"
				     "ebreak\n\tsrai zero, zero, 7\n\t.option pop");
	return 99;
}
