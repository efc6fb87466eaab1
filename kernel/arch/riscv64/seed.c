/* SPDX-License-Identifier: MIT */
/*
 * seed.c - an unpredictable number: the boot loader's random bytes in the device tree (/chosen, rng-seed). The CPU's own
 * (Zkr) are the firmware's, which need not let the kernel have them.
 */
#include <kernel/arch.h>
#include <drivers/fdt.h>

/* The finaliser of splitmix64: every bit of @word reaches every bit of the result. */
static u64 mix(u64 state, u64 word)
{
	state += word + 0x9e3779b97f4a7c15UL;
	state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9UL;
	state = (state ^ (state >> 27)) * 0x94d049bb133111ebUL;
	return state ^ (state >> 31);
}

u64 arch_random_seed(const char **source)
{
	size_t length = 0;
	const u8 *bytes = fdt_prop(fdt_path("/chosen"), "rng-seed", &length);
	u64 seed = 0;

	if (!bytes || length < sizeof(u64)) {
		*source = NULL;
		return mix(0, arch_counter());
	}
	for (size_t i = 0; i < length; i++)
		seed = mix(seed, bytes[i]);
	*source = "the device tree (rng-seed)";
	return seed;
}
