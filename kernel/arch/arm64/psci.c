/* SPDX-License-Identifier: MIT */
/*
 * psci.c - calling the firmware: SMC calling convention, PSCI 0.2 and later.
 *
 * Not instrumented: switching off is the last step of a panic.
 */
#include <kernel/arch.h>
#include <kernel/errno.h>
#include <asm/barrier.h>
#include <drivers/fdt.h>
#include "psci.h"

#define PSCI_SYSTEM_OFF 0x84000008U
#define PSCI_CPU_ON_64	0xc4000003U

#define PSCI_INVALID_PARAMETERS (-2)
#define PSCI_DENIED		(-3)
#define PSCI_ALREADY_ON		(-4)
#define PSCI_ON_PENDING		(-5)

static enum { PSCI_NONE, PSCI_HVC, PSCI_SMC } method;

static long psci_call(u32 function, u64 arg0, u64 arg1, u64 arg2)
{
	register u64 x0 __asm__("x0") = function;
	register u64 x1 __asm__("x1") = arg0;
	register u64 x2 __asm__("x2") = arg1;
	register u64 x3 __asm__("x3") = arg2;

	/* The first version of the convention lets the callee change x4-x17. */
	if (method == PSCI_HVC)
		__asm__ __volatile__("hvc #0"
				     : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)::"x4", "x5", "x6",
				       "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
				       "x16", "x17", "memory");
	else if (method == PSCI_SMC)
		__asm__ __volatile__("smc #0"
				     : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)::"x4", "x5", "x6",
				       "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
				       "x16", "x17", "memory");
	else
		return -1;
	return (long)x0;
}

static bool is_smc(const char *text)
{
	return text[0] == 's' && text[1] == 'm' && text[2] == 'c' && !text[3];
}

static bool is_hvc(const char *text)
{
	return text[0] == 'h' && text[1] == 'v' && text[2] == 'c' && !text[3];
}

bool psci_init(void)
{
	const char *text;
	int node = fdt_compatible(-1, "arm,psci-1.0");

	if (node < 0)
		node = fdt_compatible(-1, "arm,psci-0.2");
	text = fdt_string(node, "method");
	if (!text)
		return false;
	if (is_hvc(text))
		method = PSCI_HVC;
	else if (is_smc(text))
		method = PSCI_SMC;
	return method != PSCI_NONE;
}

int psci_cpu_on(u64 mpidr, phys_addr_t entry, u64 context)
{
	if (method == PSCI_NONE)
		return -ENODEV;
	/* Results are signed, 32 bits. */
	switch ((s32)psci_call(PSCI_CPU_ON_64, mpidr, entry, context)) {
	case 0:
		return 0;
	case PSCI_INVALID_PARAMETERS:
		return -EINVAL;
	case PSCI_DENIED:
		return -EPERM;
	case PSCI_ALREADY_ON:
	case PSCI_ON_PENDING:
		return -EBUSY;
	default:
		return -EIO;
	}
}

void arch_power_off(void)
{
	static bool called;

	/* Without a device tree the kind of call is a guess. A wrong one traps, and comes back here. */
	if (!called) {
		called = true;
		if (method == PSCI_NONE)
			method = PSCI_HVC;
		psci_call(PSCI_SYSTEM_OFF, 0, 0, 0);
	}
	for (;;)
		wfi();
}
