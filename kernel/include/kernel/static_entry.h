/* SPDX-License-Identifier: MIT */
/*
 * static_entry.h - a static branch at the start of a function: the boot may turn its first no-op into a jump elsewhere.
 *
 * Use it where a boot parameter chooses between two ways through a hot function. The general way then neither loads nor tests
 * the parameter, and the short way costs one jump and needs no stack frame.
 *
 *	STATIC_ENTRY int f(int x)
 *	{
 *		...							the general way
 *	}
 *	static int f_short(int x)
 *	{
 *		return is_easy(x) ? easy(x) : STATIC_ENTRY_REST(f)(x);
 *	}
 *	static_entry_branch((const void *)f, (const void *)f_short);	at boot
 *
 * f_short() takes the same arguments. To leave no trace of itself in a call trace it must be compiled with
 * -foptimize-sibling-calls, so that its last call is a jump.
 */
#ifndef KERNEL_STATIC_ENTRY_H
#define KERNEL_STATIC_ENTRY_H

#include <kernel/arch.h>
#include <kernel/kernel.h>
#include <asm/patch.h>

/* Before the definition of a function. */
#define STATIC_ENTRY __attribute__((__patchable_function_entry__(ENTRY_NOPS)))

/* The function @f after its branch. */
#define STATIC_ENTRY_REST(f) ((__typeof__(&(f)))((uintptr_t)&(f) + ENTRY_NOP_BYTES))

/** static_entry_branch() - from now on the STATIC_ENTRY function @from starts with a jump to @to. Boot CPU, before other CPUs
 *  run. Panics where arch_patch_jump() fails. */
static inline void static_entry_branch(const void *from, const void *to)
{
	if (!arch_patch_jump(from, to))
		panic("no jump from %ps to %ps", from, to);
}

#endif /* KERNEL_STATIC_ENTRY_H */
