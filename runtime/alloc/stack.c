/* SPDX-License-Identifier: MIT */
/*
 * stack.c - stacks whose frames died without running their epilogues.
 *
 * A function clears its own redzones when it returns. A task that is killed, or that leaves frames by longjmp(), leaves
 * them poisoned, and the stack's next owner gets false reports.
 */
#include "../shadow/shadow.h"

void kasan_unpoison_stack(const void *low, const void *high)
{
	/* In tag modes the leftover tags belong to dead pointers only. They cause no false report, but would let such a
	 * pointer pass. */
	kasan_clear_granules((uintptr_t)low, (uintptr_t)high);
}
