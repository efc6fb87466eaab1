// SPDX-License-Identifier: MIT
/* crash.c - actions that are forbidden in user mode. `crash KIND` returns only if the action was possible. */
#include "user.h"
#include <forbidden.h>

static volatile unsigned long data[4] = {RETURN_INSNS};
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
	__asm__ __volatile__(CALL_INSN " %0" ::"r"(address) : RETURN_REGISTER, "memory");
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
		read_at(KERNEL_DATA);
	else if (!strcmp(kind, "kernel-shadow"))
		write_at(KERNEL_SHADOW);
	else if (!strcmp(kind, "kernel-code"))
		call(KERNEL_CODE);
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
#define FORBIDDEN(name, code) \
	else if (!strcmp(kind, name)) __asm__ __volatile__(code :: : SCRATCH_REGISTER, "memory");
	FORBIDDEN_INSNS
	return 99;
}
