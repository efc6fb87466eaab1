/* SPDX-License-Identifier: MIT */
/*
 * stackleak.h - stack erasing (CONFIG_KSTACK_ERASE): before a task returns to user mode, the part of its kernel stack
 * that was used since the last time is overwritten with STACK_POISON. docs/internals/stackleak.md explains it.
 *
 * The part that is erased lies between two boundaries: stackleak_low() and stackleak_high(). Above the second are the
 * registers of user mode, task_pt_regs().
 */
#ifndef EXT_STACKLEAK_H
#define EXT_STACKLEAK_H

#include <asm/stackleak.h>

/* stackleak_mode */
#define STACK_ERASING_OFF     0
#define STACK_ERASING_ON      1 /* the way back to user mode knows that it is on the task's stack */
#define STACK_ERASING_GENERIC 2 /* it asks stackleak_erase(), which finds that out */

/* Offsets in struct task, for assembly. */
#define TASK_PREV_LOWEST_STACK (TASK_LOWEST_STACK + 8)
#define TASK_STACK	       (TASK_LOWEST_STACK + 48)
#define TASK_STACK_SIZE	       (TASK_STACK + 8)

#ifndef __ASSEMBLER__

#include <kernel/sched.h>
#include <kernel/types.h>

_Static_assert(offsetof(struct task, lowest_stack) == TASK_LOWEST_STACK, "for stackleak.S");
_Static_assert(offsetof(struct task, prev_lowest_stack) == TASK_PREV_LOWEST_STACK,
	       "for stackleak.S");
_Static_assert(offsetof(struct task, stack) == TASK_STACK, "for stackleak.S");
_Static_assert(offsetof(struct task, stack_size) == TASK_STACK_SIZE, "for stackleak.S");

/** stackleak_low() - Return: the lowest address of @task's stack, which is erased first. */
static inline unsigned long stackleak_low(const struct task *task)
{
	return (unsigned long)task->stack;
}

/** stackleak_high() - Return: the first address that is not erased: @task's registers of user mode. It is the same
 *  whichever stack is in use. A multiple of 16. */
static inline unsigned long stackleak_high(const struct task *task)
{
	return (unsigned long)task_pt_regs(task);
}

/** stackleak_task_init() - @task, which has not run, has a stack that was never erased: the whole of it counts as
 *  used, and the first return to user mode erases it. */
static inline void stackleak_task_init(struct task *task)
{
	task->lowest_stack = task->prev_lowest_stack = stackleak_low(task);
}

/*
 * Erase the stack of the running task. Interrupts are off, and whatever lies below the stack pointer of the task's
 * stack is free. No function of these is instrumented in any way, or calls another function; all of them change
 * registers only, apart from the stack that they erase. Preserved are the registers that any call preserves.
 *
 * lowest_stack then is stackleak_high(), and prev_lowest_stack the lowest block of 64 bytes that was erased.
 */

/** stackleak_erase() - find out which stack this is, and call one of the next two. */
void stackleak_erase(void);

/** stackleak_erase_on_task_stack() - the same for a caller on the task's stack: erase below the stack pointer. */
void stackleak_erase_on_task_stack(void);

/** stackleak_erase_off_task_stack() - the same for a caller on another stack: erase up to stackleak_high(). */
void stackleak_erase_off_task_stack(void);

/** stackleak_set_mode() - switch erasing: STACK_ERASING_OFF, _ON or _GENERIC. For all CPUs, from their next return to
 *  user mode on. Any context. Return: what it was. */
unsigned int stackleak_set_mode(unsigned int mode);

/**
 * stackleak_search() - how deep has @task used its stack since it was erased last? The slow way.
 *
 * Looks at every word from the low boundary upwards. @task is the running task, or does not run. Its result is
 * exact if the stack was erased once. Any context.
 *
 * Return: address of the lowest word that is not poison; stackleak_high() if there is none.
 */
unsigned long stackleak_search(const struct task *task);

/**
 * stackleak_find() - count the copies of @marker on the running task's stack, below the register frame
 * @marker: @size bytes, at least 1, that do not lie on this stack and are not those of STACK_POISON.
 *
 * For tests: it looks at each byte, and passes nothing of the marker through memory. Any context.
 *
 * Return: the number of places, which may overlap.
 */
size_t stackleak_find(const void *marker, size_t size);

/** stackleak_lowest() - Return: the lowest address of @task's stack that was used since it was erased, as far as it is
 *  known without a search: without the compiler's help that is stackleak_high() at most. */
static inline unsigned long stackleak_lowest(const struct task *task)
{
	return READ_ONCE(task->lowest_stack);
}

/** stackleak_prev_lowest() - Return: the lowest address that was erased at @task's last return to user mode. */
static inline unsigned long stackleak_prev_lowest(const struct task *task)
{
	return READ_ONCE(task->prev_lowest_stack);
}

#endif

#endif
