/* SPDX-License-Identifier: MIT */
/*
 * scs.h - shadow call stacks: a second stack for return addresses, which the compiler returns to and traces are
 * copied from. docs/internals/shadow-call-stack.md explains them. Without CONFIG_SHADOW_CALL_STACK all of this is empty.
 */
#ifndef KERNEL_SCS_H
#define KERNEL_SCS_H

#include <kernel/types.h>

struct pt_regs;

#ifdef CONFIG_SHADOW_CALL_STACK
#include <asm/scs.h>

/** scs_size() - Return: bytes of the shadow call stack that belongs to a stack of @stack_size bytes: a
 *  multiple of PAGE_SIZE, one call for each 128 bytes of stack, at most SCS_SIZE. */
static inline size_t scs_size(size_t stack_size)
{
	size_t size = (stack_size / 16 + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);

	return size < SCS_SIZE ? size : SCS_SIZE;
}

/**
 * scs_alloc() - allocate a shadow call stack of @size bytes, a multiple of PAGE_SIZE
 *
 * It starts at a multiple of SCS_SIZE, has an unmapped page on either side, and its word 0 is 0. KASAN does
 * not check accesses through the result, which has no tag. May take long: not for interrupts.
 *
 * Return: its lowest address; NULL if there is no memory. scs_free() takes it back.
 */
void *scs_alloc(size_t size);
void scs_free(void *scs);

/** scs_init_cpu() - give CPU @cpu its shadow call stacks for interrupts, soft interrupts and faults. Called before it
 *  starts; for the boot CPU before it enables interrupts. Return: 0 or -ENOMEM. */
int scs_init_cpu(unsigned int cpu);

/** enum scs_kind - whose shadow call stack it is: the running task's, or this CPU's for interrupts, soft
 *  interrupts or faults */
enum scs_kind { SCS_TASK, SCS_IRQ, SCS_SOFTIRQ, SCS_FAULT };

/**
 * struct scs_place - a shadow call stack
 * @base: address of its oldest entry. @end: first address above it.
 */
struct scs_place {
	enum scs_kind kind;
	uintptr_t base, end;
};

/** scs_place_of() - Return: the shadow call stack of this kind, of the running task and this CPU. Any context. */
struct scs_place scs_place_of(enum scs_kind kind);

/** scs_find() - find the shadow call stack that has @top as pointer, of the running task and this CPU.
 *  @place: filled. Any context. Return: false if it is none of them, or misaligned. */
bool scs_find(uintptr_t top, struct scs_place *place);

/**
 * scs_check() - panic with a report if the pointer is not in the bounds of the shadow call stack of this context
 *
 * Called at a context switch and at the end of an interrupt, because a stray pointer makes each call
 * write to other memory. Interrupts off.
 */
void scs_check(void);

/** scs_fault_handler() - a call, or the exception of @regs, could not push its return address: report it, and panic.
 *  Called on the CPU's shadow call stack for faults. */
_Noreturn void scs_fault_handler(struct pt_regs *regs);

/** scs_unbalanced_handler() - a handler of interrupts, or of soft interrupts, came back with the pointer @is instead of
 *  @was: report it, and panic. The pointer is @was again. */
_Noreturn void scs_unbalanced_handler(uintptr_t is, uintptr_t was);

/** scs_handle_underflow() - print so if the code of @regs returned with an empty shadow call stack. Return: whether it did. */
bool scs_handle_underflow(struct pt_regs *regs);

/** scs_call_softirqs() - call @fn on this CPU's shadow call stack for soft interrupts, which is not in use. @frame: set to
 *  the address above the frames that @fn makes. Interrupts off. */
void scs_call_softirqs(void (*fn)(void), const void **frame);

/** kasan_port_scs_outer() - from the CPU's stack with the oldest entry at @base to the one that it interrupted. @top: filled.
 *  Return: false if it interrupted none. */
bool kasan_port_scs_outer(uintptr_t base, uintptr_t *top);

/**
 * struct scs_walk - a trace that is copied from shadow call stacks, newest entry first
 * @top: address above the next entry. @base: oldest entry of that stack.
 */
struct scs_walk {
	uintptr_t top, base;
};

/** scs_walk_start() - start at the pointer @top. Return: false if the shadow call stacks do not have the
 *  whole trace: @top is none of this context's or the one for faults, or functions that push nothing have called
 *  others. */
bool scs_walk_start(struct scs_walk *walk, uintptr_t top);

/** scs_walk_start_regs() - the same for the interrupted code of @regs; its own pc is not part of the walk. */
bool scs_walk_start_regs(struct scs_walk *walk, const struct pt_regs *regs);

/** scs_walk_next() - Return: false at the end. @pc: filled with a return address, without its authentication
 *  code. */
bool scs_walk_next(struct scs_walk *walk, uintptr_t *pc);

#else

static inline int scs_init_cpu(unsigned int cpu)
{
	return 0;
}

static inline void scs_check(void)
{
}

static inline bool scs_handle_underflow(struct pt_regs *regs)
{
	return false;
}

#endif
#endif /* KERNEL_SCS_H */
