// SPDX-License-Identifier: MIT
/* user_crash.c - actions that are forbidden in user mode. `crash KIND` returns only if the action was
 * possible. */
#include "../../../tests/user/user.h"

static volatile unsigned long data[4] = {0xd65f03c0d65f03c0}; /* ret, ret */
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
	__asm__ __volatile__("blr %0" ::"r"(address) : "x30", "memory");
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
		read_at(0xffff000040000000);
	else if (!strcmp(kind, "kernel-shadow"))
		write_at(0xffff700010000000);
	else if (!strcmp(kind, "kernel-code"))
		call(0xffff800080000000);
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
		call((unsigned long)case_crash + 2);
	else if (!strcmp(kind, "undefined"))
		__asm__ __volatile__(".inst 0");
	else if (!strcmp(kind, "breakpoint"))
		__asm__ __volatile__("brk #7");
	else if (!strcmp(kind, "system-register"))
		__asm__ __volatile__("msr ttbr0_el1, xzr");
	else if (!strcmp(kind, "mask-interrupts"))
		__asm__ __volatile__("msr daifset, #2");
	else if (!strcmp(kind, "timer"))
		__asm__ __volatile__("mrs x9, cntv_ctl_el0" ::: "x9");
	else if (!strcmp(kind, "floating-point"))
		__asm__ __volatile__(".inst 0x9e6703e0"); /* fmov d0, xzr */
	else if (!strcmp(kind, "hypercall"))
		__asm__ __volatile__("hvc #0");
	else if (!strcmp(kind, "semihosting"))
		__asm__ __volatile__("hlt #0xf000");
	return 99;
}
