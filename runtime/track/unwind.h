/* SPDX-License-Identifier: MIT */
/*
 * unwind.h - traces where frames are no chain: GCC's Thumb code, by the tables in .ARM.exidx (exidx.c).
 *
 * Elsewhere KASAN_ARCH_UNWINDS is 0, and walk.h follows frame records.
 */
#ifndef KASAN_UNWIND_H
#define KASAN_UNWIND_H

#include "track.h"

#include "../arch/arch.h"

#if KASAN_ARCH_UNWINDS

/** kasan_unwind_has_tables() - is the system linked with tables that say how to unwind it? */
bool kasan_unwind_has_tables(void);

/** kasan_unwind_here() - fill @regs with the registers of the function that this is inlined into. */
static inline __attribute__((always_inline)) void kasan_unwind_here(struct kasan_regs *regs)
{
	kasan_arch_here(regs);
}

/**
 * kasan_unwind() - collect return addresses by the tables
 * @task: bounds of the stack. @start: registers to begin with.
 * @ip: a return address of a function called, perhaps over some others, by the one that @start belongs to: the trace
 *	begins with it, and what is nearer is left out. 0: the trace begins with the callers of @start.
 * @pcs: filled from @count on. Return: the new number of entries.
 */
size_t kasan_unwind(const struct kasan_port_task *task, const struct kasan_regs *start,
		    uintptr_t ip, uintptr_t *pcs, size_t count, size_t max);

/**
 * kasan_unwind_from - for each CPU: registers of the context that found a bug, while its report runs on another stack or
 *	when the context is an interrupted one; else NULL, and traces begin in the function that makes them.
 */
extern const struct kasan_regs *kasan_unwind_from[CONFIG_KASAN_NR_CPUS];

#else

static inline bool kasan_unwind_has_tables(void)
{
	return true;
}

#endif

#endif /* KASAN_UNWIND_H */
