// SPDX-License-Identifier: MIT
/*
 * fast.c - taking a lock whose class is in its map, in a sequence that is known, and releasing the newest lock.
 *
 * That takes no lock, and calls no function: the stack of locks belongs to the context. Interrupts have stacks of their own,
 * so they are left alone unless the task can be preempted. Everything else ends in a jump to held.c. So these functions
 * need no frame; they are compiled without, and traces go from the caller straight on to held.c.
 */
#include "internal.h"

void lock_take(struct lockdep_map *map, u32 how, const struct lockdep_map *nest_lock,
	       unsigned long ip)
{
	const int count = preempt_count();
	struct lockdep_stack *stack;
	struct held_lock *top;
	size_t class;
	u32 id, chain;

	if (unlikely(!surely_usable(map) || nest_lock || how >> LOCK_HOW_SUBCLASS_SHIFT))
		goto slow;
	stack = this_stack(count);
	class = cached_class(map);
	top = stack->top;
	if (unlikely(class >= NR_CLASSES || map->class->key != map->key || top >= stack->end))
		goto slow;
	id = (u32) class | how | irq_bits(count);
	chain = chain_find(top->chain, id);
	if (unlikely(!chain))
		goto slow;
	/* A task that is preempted in the middle takes the run queue's lock, on this very stack. */
	if (!count && id & ID_HARDIRQS) {
		arch_local_irq_disable();
		stack->known++;
		push(stack, top, map, id, chain, ip);
		arch_local_irq_enable();
		return;
	}
	stack->known++;
	push(stack, top, map, id, chain, ip);
	return;
slow:
	lock_take_slow(map, how, nest_lock, ip);
}

void lock_release(struct lockdep_map *map, unsigned long ip)
{
	struct lockdep_stack *stack;
	struct held_lock *top;

	if (unlikely(!surely_usable(map)))
		goto slow;
	stack = this_stack(preempt_count());
	top = stack->top;
	if (unlikely(top->map != map || top->id & ID_TIMED))
		goto slow;
	stack->top = top - 1;
	return;
slow:
	lock_release_slow(map, ip);
}
