/* SPDX-License-Identifier: MIT */
/*
 * exidx.h - traces by the tables in .ARM.exidx: of GCC's Thumb code, whose frames do not form a chain, and of other code if the
 * port has such tables (KASAN_PORT_HAS_EXIDX). Elsewhere KASAN_ARCH_UNWINDS is 0, and walk.h follows frame records.
 */
#ifndef KASAN_EXIDX_H
#define KASAN_EXIDX_H

#include "depot.h"
#include "track.h"

#if KASAN_ARCH_UNWINDS

/** kasan_unwind_has_tables() - was the system linked with unwind tables? */
bool kasan_unwind_has_tables(void);

/** kasan_unwind_here() - fill @regs with the registers of the function that this is inlined into. */
static kasan_always_inline void kasan_unwind_here(struct kasan_regs *regs)
{
	kasan_arch_here(regs);
}

/**
 * kasan_unwind() - collect return addresses by the tables
 * @task: bounds of the stack. @start: registers to begin with.
 * @ip: a return address of a function that @start's function called, perhaps over some others: the trace begins with it
 * and leaves out nearer ones. 0: the trace begins with the callers of @start.
 * @pcs: filled from @count on. Return: the new number of entries.
 */
size_t kasan_unwind(const struct kasan_port_task *task, const struct kasan_regs *start,
		    uintptr_t ip, uintptr_t *pcs, size_t count, size_t max);

/**
 * kasan_unwind_slots() - collect return addresses, and where they were found
 * @task: bounds of the stack, which hold @sp - 4. @ip: a return address; @sp: the stack pointer of its function.
 * @pcs: CONFIG_KASAN_STACK_DEPTH entries, filled. @slots, @span: see kasan_record_slots(); NULL: not wanted.
 *
 * Return: the number of entries; 0: a function on the way finds its frame by another register than sp, whose value is
 * not known here.
 */
size_t kasan_unwind_slots(const struct kasan_port_task *task, uintptr_t ip, uintptr_t sp,
			  uintptr_t *pcs, uint8_t *slots, uint16_t *span);

/** kasan_unwinds_to() - may @word be a return address? Bit 0 is set for Thumb code. On Cortex-M, values from 0xf0000000 on end
 *  an exception. */
static inline bool kasan_unwinds_to(uintptr_t word)
{
#ifdef KASAN_PORT_HAS_EXIDX
	const void *start, *end;

	return kasan_port_exidx(word, &start, &end);
#else
	return word & 1 && word < 0xf0000000;
#endif
}

/**
 * kasan_same_slots() - is @record the whole trace that starts with its first return address?
 * @at: the word below the stack pointer of that address's function, in the stack; @last: the highest word of the stack.
 *
 * The answer is exact. If sp finds a function's frame, how to leave it depends only on its return address. So the first
 * return address says where the second must be; if that is the same, it says where the third must be, and so on. These
 * are the words that unwinding reads, and no others.
 */
static kasan_always_inline bool kasan_same_slots(const struct kasan_record *record, uintptr_t at,
						 uintptr_t last)
{
	const uintptr_t *pc = record->pcs + 1;
	const uint8_t *slot = kasan_record_slots(record);
	const uintptr_t *const end = (const uintptr_t *)slot;

	if (kasan_unlikely(!*slot || record->span > last - at))
		return false;
	/* A load that is not the loop's first instruction costs GCC two more in each round. */
	if (pc != end) {
		do {
			at += *slot++ * sizeof(*pc);
			if (kasan_unlikely(*(const uintptr_t *)at != *pc++))
				return false;
		} while (pc != end);
	}
	/* The stack must end here too. */
	if (!*slot)
		return true;
	at += *slot * sizeof(*pc);
	return at > last || !kasan_unwinds_to(*(const uintptr_t *)at);
}

/**
 * kasan_unwind_from - for each CPU: registers of the context that found a bug, while its report runs on another stack
 * or the context was interrupted. Otherwise NULL, and traces begin in the function that makes them.
 */
extern const struct kasan_regs *kasan_unwind_from[CONFIG_KASAN_NR_CPUS];

/** kasan_start_traces() - set them, with interrupts off. Return: the previous ones. */
static inline const struct kasan_regs *kasan_start_traces(const struct kasan_regs *regs)
{
	const struct kasan_regs **const from = &kasan_unwind_from[kasan_port_cpu()];
	const struct kasan_regs *const old = *from;

	*from = regs;
	return old;
}

#else

static inline const struct kasan_regs *kasan_start_traces(const struct kasan_regs *regs)
{
	(void)regs;
	return NULL;
}

static inline bool kasan_unwind_has_tables(void)
{
	return true;
}

#endif

#endif /* KASAN_EXIDX_H */
