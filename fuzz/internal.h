/* SPDX-License-Identifier: MIT */
/* internal.h - the state that the loop and the compiler's callbacks share. */
#ifndef KASAN_FUZZ_INTERNAL_H
#define KASAN_FUZZ_INTERNAL_H

#include <kasan/fuzz.h>

#ifdef KASAN_PORT_INLINE_H
#include KASAN_PORT_INLINE_H
#endif

/* How many bytes of stack below the loop belong to the same task, if the port cannot tell. */
#ifndef CONFIG_KASAN_FUZZ_STACK
#define CONFIG_KASAN_FUZZ_STACK (64UL << 10)
#endif

/** struct kasan_fuzz_state - @box: NULL while no target runs, so that one test is enough for most callers. @stack:
 *  where the loop's stack begins, or its own frame. @input: the number of the input. @last: the last place of trace-pc.
 *  */
struct kasan_fuzz_state {
	struct kasan_fuzz_mailbox *box;
	uintptr_t stack;
	uint32_t input;
	uint32_t last;
};

extern struct kasan_fuzz_state kasan_fuzz_state;

/* Return: a number for the running task, the same in all its calls; 0 in an interrupt if the port can tell. */
static inline uintptr_t fuzz_own_stack(void)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
#ifdef KASAN_PORT_HAS_TASK_STACK
	uintptr_t start, end;

	return kasan_port_task_stack(here, &start, &end) ? start : 0;
#else
	return here;
#endif
}

/* Return: the mailbox if the target's own task runs, and no interrupt; else NULL. */
static inline struct kasan_fuzz_mailbox *fuzz_counting(void)
{
	struct kasan_fuzz_mailbox *box = kasan_fuzz_state.box;

	if (!box)
		return NULL;
#ifdef KASAN_PORT_HAS_TASK_STACK
	return fuzz_own_stack() == kasan_fuzz_state.stack ? box : NULL;
#else
	return kasan_fuzz_state.stack - fuzz_own_stack() < CONFIG_KASAN_FUZZ_STACK ? box : NULL;
#endif
}

/* fuzz_counters_begin() is called before the target runs, and fuzz_counters_end() after it, to put the counters into
 * @box. */
void fuzz_counters_begin(void);
void fuzz_counters_end(struct kasan_fuzz_mailbox *box);

#endif
