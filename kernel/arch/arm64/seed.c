/* SPDX-License-Identifier: MIT */
/*
 * seed.c - an unpredictable number, from what the machine offers: the boot loader's random bytes in the device
 * tree (/chosen, rng-seed), and the CPU's random numbers (RNDR, FEAT_RNG).
 */
#include <kernel/arch.h>
#include <drivers/fdt.h>
#include "sysreg.h"

/* As an encoding: assemblers know the name only with the right -march. */
#define RNDR "S3_3_C2_C4_0"
/* ID_AA64ISAR0_EL1.RNDR */
#define ID_ISAR0_RNDR_SHIFT 60

/* The finaliser of splitmix64: every bit of @word reaches every bit of the result. */
static u64 mix(u64 state, u64 word)
{
	state += word + 0x9e3779b97f4a7c15UL;
	state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9UL;
	state = (state ^ (state >> 27)) * 0x94d049bb133111ebUL;
	return state ^ (state >> 31);
}

/* Return: false if the CPU has no random number at hand, or never has. */
static bool read_rndr(u64 *number)
{
	unsigned int failed;

	if (!(read_sysreg(id_aa64isar0_el1) >> ID_ISAR0_RNDR_SHIFT))
		return false;
	/* The instruction sets the flag Z if it fails. */
	__asm__ __volatile__("mrs %0, " RNDR "\n\t"
			     "cset %w1, eq"
			     : "=r"(*number), "=r"(failed)::"cc");
	return !failed;
}

u64 arch_random_seed(const char **source)
{
	size_t length = 0;
	const u8 *bytes = fdt_prop(fdt_path("/chosen"), "rng-seed", &length);
	u64 seed = 0, number;
	bool has_rndr = read_rndr(&number);

	if (!bytes || length < sizeof(u64))
		length = 0;
	for (size_t i = 0; i < length; i++)
		seed = mix(seed, bytes[i]);
	if (has_rndr)
		seed = mix(seed, number);
	if (!length && !has_rndr) {
		*source = NULL;
		return mix(0, read_sysreg(cntvct_el0));
	}
	*source = !length    ? "the CPU (RNDR)"
		  : has_rndr ? "the device tree (rng-seed) and the CPU (RNDR)"
			     : "the device tree (rng-seed)";
	return seed;
}
