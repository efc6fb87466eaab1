// SPDX-License-Identifier: MIT
/*
 * stack.c - stacks of tasks: vmalloc areas with an unmapped page on either side, so that an overflow
 * at either end faults and does not hit other memory.
 *
 * To make a stack takes about as long as a short task runs. So each CPU keeps the last few freed
 * stacks, mapped but poisoned, and uses them again. A stack keeps its shadow call stack, if tasks have
 * one, from the start to the end.
 */
#include <kernel/kernel.h>
#include <kernel/printk.h>
#include <kernel/scs.h>
#include <kernel/task.h>

#include "vmap.h"

#define CACHED_STACKS 2
/* Larger stacks are not kept: they are rare, and take too much memory. */
#define CACHED_STACK_MAX (64UL << 10)

struct stack_cache {
	struct bare_lock lock;
	struct cached_stack {
		void *stack;
		size_t size;
		struct vm_struct *vm;
	} slot[CACHED_STACKS];
};

static DEFINE_PER_CPU(struct stack_cache, stack_caches);

#ifdef CONFIG_SHADOW_CALL_STACK

/* Return: false if there is no memory. */
static bool add_scs(struct vm_struct *vm)
{
	vm->scs = scs_alloc(scs_size(vm->size));
	return vm->scs != NULL;
}

static void give_scs(struct vm_struct *vm, struct task *task)
{
	/* The last task may have overwritten the end mark, by returning once too often. */
	*(u64 *)vm->scs = 0;
	if (task)
		task->context.scs_base = (uintptr_t)vm->scs + sizeof(u64);
}

static void free_stack(void *stack, struct vm_struct *vm)
{
	void *scs = stack ? vm->scs : NULL;

	vfree(stack);
	scs_free(scs);
}

#else

static inline bool add_scs(struct vm_struct *vm)
{
	return true;
}

static inline void give_scs(struct vm_struct *vm, struct task *task)
{
}

static inline void free_stack(void *stack, struct vm_struct *vm)
{
	vfree(stack);
}

#endif

/* Return: a cached stack; NULL if there is none of that size. @vm: filled with its area. */
static void *cache_get(size_t size, struct vm_struct **vm)
{
	struct stack_cache *cache;
	void *stack = NULL;
	unsigned long flags;
	unsigned int i;

	local_irq_save(flags);
	cache = this_cpu_ptr(&stack_caches);
	bare_lock(&cache->lock);
	for (i = 0; i < CACHED_STACKS && !stack; i++) {
		if (cache->slot[i].size == size) {
			stack = cache->slot[i].stack;
			*vm = cache->slot[i].vm;
			cache->slot[i] = (struct cached_stack){0};
		}
	}
	bare_unlock(&cache->lock);
	local_irq_restore(flags);
	return stack;
}

/* Return: true if the cache keeps the stack. */
static bool cache_put(void *stack, struct vm_struct *vm)
{
	struct stack_cache *cache;
	unsigned long flags;
	bool kept = false;
	unsigned int i;

	local_irq_save(flags);
	cache = this_cpu_ptr(&stack_caches);
	bare_lock(&cache->lock);
	for (i = 0; i < CACHED_STACKS && !kept; i++) {
		if (!cache->slot[i].stack) {
			cache->slot[i] = (struct cached_stack){stack, vm->size, vm};
			kept = true;
		}
	}
	bare_unlock(&cache->lock);
	local_irq_restore(flags);
	return kept;
}

static bool is_cached(const void *stack)
{
	unsigned int cpu, i;
	bool found = false;

	for (cpu = 0; cpu < NR_CPUS; cpu++) {
		for (i = 0; i < CACHED_STACKS; i++)
			found |= READ_ONCE(per_cpu_ptr(&stack_caches, cpu)->slot[i].stack) == stack;
	}
	return found;
}

#ifdef CONFIG_LOCKDEP
bool stack_is_kept(const void *p)
{
	const uintptr_t va = (uintptr_t)p;
	unsigned int cpu, i;
	bool found = false;

	/* A slot may change meanwhile: then a stack is about to be used, or no longer. */
	for (cpu = 0; cpu < NR_CPUS; cpu++) {
		for (i = 0; i < CACHED_STACKS; i++) {
			const struct cached_stack *slot = &per_cpu_ptr(&stack_caches, cpu)->slot[i];

			found |= va - (uintptr_t)READ_ONCE(slot->stack) < READ_ONCE(slot->size);
		}
	}
	return found;
}
#endif

void stack_cache_drop(void)
{
	unsigned int cpu, i;

	for (cpu = 0; cpu < NR_CPUS; cpu++) {
		struct stack_cache *cache = per_cpu_ptr(&stack_caches, cpu);

		for (i = 0; i < CACHED_STACKS; i++) {
			struct vm_struct *vm;
			unsigned long flags;
			void *stack;

			local_irq_save(flags);
			bare_lock(&cache->lock);
			stack = cache->slot[i].stack;
			vm = cache->slot[i].vm;
			cache->slot[i] = (struct cached_stack){0};
			bare_unlock(&cache->lock);
			local_irq_restore(flags);
			free_stack(stack, vm);
		}
	}
}

void *stack_alloc(size_t size, struct task *task)
{
	struct vm_struct *vm = NULL;
	void *stack;

	size = PAGE_ALIGN(size);
	if (WARN(!size, "stack_alloc: bad size\n"))
		return NULL;
	stack = cache_get(size, &vm);
	if (stack) {
		/* This also clears the poison that frames of the last task have left. */
		vm_open_stack(stack, size);
		WRITE_ONCE(vm->task, task);
		give_scs(vm, task);
		return stack;
	}
	vm = vm_create(size, PAGE_SIZE, PAGE_SIZE, GFP_KERNEL, MM_CALLER_IP());
	if (!vm)
		return NULL;
	if (!add_scs(vm)) {
		vfree(vm->addr);
		return NULL;
	}
	WRITE_ONCE(vm->task, task);
	give_scs(vm, task);
	return vm->addr;
}

void *stack_alloc_demand(size_t size, struct task *task)
{
	struct vm_struct *vm = NULL;

	size = PAGE_ALIGN(size);
	/* A small one is there as fast as it is made. */
	if (size <= CACHED_STACK_MAX)
		return stack_alloc(size, task);
	vm = vm_create_demand(size, GFP_KERNEL, MM_CALLER_IP());
	if (!vm)
		return NULL;
	if (!stack_demand_begin(vm) || !add_scs(vm)) {
		vfree(vm->addr);
		return NULL;
	}
	WRITE_ONCE(vm->task, task);
	give_scs(vm, task);
	task->demand = vm;
	return vm->addr;
}

void stack_free(void *stack)
{
	struct vm_struct *vm;

	if (!stack)
		return;
	vm = find_vm_area(stack);
	if (!vm || vm->addr != stack || is_cached(stack)) {
		WARN(1, "stack_free: %016lx is no stack in use\n", (unsigned long)stack);
		return;
	}
	WRITE_ONCE(vm->task, NULL);
	kasan_poison_vmalloc(stack, vm->size);
	if (vm->size > CACHED_STACK_MAX || !cache_put(stack, vm))
		free_stack(stack, vm);
}
