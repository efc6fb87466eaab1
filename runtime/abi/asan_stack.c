/* SPDX-License-Identifier: MIT */
/*
 * asan_stack.c - called by stack instrumentation: alloca(), use after scope, functions that do not return, and the fake
 * stacks of GCC's use-after-return.
 *
 * The compiler itself writes and clears the redzones of ordinary frames, in the code of the function and at the mapping
 * offset. These functions serve the other cases.
 */
#include "../shadow/shadow.h"

#if defined(CONFIG_KASAN_GENERIC) && !defined(CONFIG_KASAN_SHADOW_COMPACT) && !defined(KASAN_ALONE)

/* The compilers align an alloca to 32 bytes and leave 32 bytes free on both sides of it. */
#define ALLOCA_REDZONE 32

/* --- alloca() and variable-length arrays --- */

void __asan_alloca_poison(uintptr_t addr, size_t size);
KASAN_ABI void __asan_alloca_poison(uintptr_t addr, size_t size)
{
	size_t span = (size + ALLOCA_REDZONE - 1) & ~(size_t)(ALLOCA_REDZONE - 1);

	kasan_poison((const void *)(addr - ALLOCA_REDZONE), ALLOCA_REDZONE, KASAN_ALLOCA_LEFT);
	kasan_poison_tail((const void *)addr, size, span + ALLOCA_REDZONE, KASAN_ALLOCA_RIGHT);
}

/* @top: lowest address of the newest alloca; @bottom: end of the oldest, above it. A function that made none passes 0
 * as @top; one that unwound to the same place passes two equal addresses. */
void __asan_allocas_unpoison(uintptr_t top, uintptr_t bottom);
KASAN_ABI void __asan_allocas_unpoison(uintptr_t top, uintptr_t bottom)
{
	if (!top || top >= bottom)
		return;
	/* The memory above @bottom belongs to the frame, so the granule that it shares is left alone. */
	kasan_clear_granules(top, bottom & ~(uintptr_t)KASAN_GRANULE_MASK);
}

/* --- Functions that do not return --- */

/* Called before every call of a noreturn function. The frames above will never run their epilogues, so their redzones
 * must go now: the stack may soon have another owner. */
void __asan_handle_no_return(void);
KASAN_ABI void __asan_handle_no_return(void)
{
	const uintptr_t here = KASAN_CALLER_FP();
	struct kasan_port_task task;

	kasan_clear(&task);
	kasan_port_task(&task);
	/* On another stack than the task's (exception, overflow) the task's bounds say nothing about this one. */
	if (here < task.stack_start || here >= task.stack_end)
		return;
	kasan_clear_granules(here, task.stack_end);
}

/* --- Use after scope --- */

#ifdef CONFIG_KASAN_SHADOW_WINDOWED
/* Not all of it lies in the first window: the stack may be in another one or in none, like the stack that firmware
 * boots on. The compiler knows only the first window's offset. Subtracting that gives the memory that is meant, and so
 * its window and real shadow. */
static kasan_cold void set_shadow_elsewhere(uintptr_t addr, uint8_t value, size_t size)
{
	const uintptr_t granule = addr - kasan_windows[0].offset;
	const uintptr_t last_granule = UINTPTR_MAX >> KASAN_SHADOW_SCALE_SHIFT;

	/* No memory has this shadow address. */
	if (granule > last_granule || size > last_granule - granule)
		return;
	/* This also clears, if @value is 0, and skips memory without shadow. */
	kasan_poison_always((const void *)(granule << KASAN_SHADOW_SCALE_SHIFT),
			    size << KASAN_SHADOW_SCALE_SHIFT, value);
}
#endif

/* Clang calls these for variables too big for inline stores, or for all with -asan-max-inline-poisoning-size=0. @addr:
 * of the shadow; @size: in shadow bytes. */
static inline void set_shadow(uintptr_t addr, uint8_t value, size_t size)
{
#ifdef CONFIG_KASAN_SHADOW_WINDOWED
	const struct kasan_window *window = &kasan_windows[0];
	const uintptr_t at = addr - (window->start >> KASAN_SHADOW_SCALE_SHIFT) - window->offset;
	const uintptr_t limit = window->size >> KASAN_SHADOW_SCALE_SHIFT;

	if (kasan_unlikely(at >= limit || size > limit - at)) {
		set_shadow_elsewhere(addr, value, size);
		return;
	}
#endif
	kasan_fill((uint8_t *)addr, value, size);
}

#define DEFINE_SET_SHADOW(xx)                                              \
	void __asan_set_shadow_##xx(uintptr_t addr, size_t size);          \
	KASAN_ABI void __asan_set_shadow_##xx(uintptr_t addr, size_t size) \
	{                                                                  \
		set_shadow(addr, 0x##xx, size);                            \
	}

DEFINE_SET_SHADOW(00)
DEFINE_SET_SHADOW(01)
DEFINE_SET_SHADOW(02)
DEFINE_SET_SHADOW(03)
DEFINE_SET_SHADOW(04)
DEFINE_SET_SHADOW(05)
DEFINE_SET_SHADOW(06)
DEFINE_SET_SHADOW(07)
DEFINE_SET_SHADOW(f1)
DEFINE_SET_SHADOW(f2)
DEFINE_SET_SHADOW(f3)
DEFINE_SET_SHADOW(f5)
DEFINE_SET_SHADOW(f8)

/* GCC calls these when a variable of @size bytes at @addr leaves or enters its scope. Its last granule may be shared
 * with its redzone, and then holds a count of bytes. No other variable shares it. */
void __asan_poison_stack_memory(uintptr_t addr, size_t size);
KASAN_ABI void __asan_poison_stack_memory(uintptr_t addr, size_t size)
{
	const uintptr_t end = addr + size;
	const uint8_t tail = (uint8_t)(end & KASAN_GRANULE_MASK);
	uint8_t *shadow;

	if (!size)
		return;
	kasan_poison((const void *)addr, size, KASAN_STACK_AFTER_SCOPE);
	/* Close the last granule only if this variable's bytes are all that is accessible in it. */
	if (tail && kasan_shadow_at(end & ~(uintptr_t)KASAN_GRANULE_MASK, &shadow) && *shadow &&
	    *shadow <= tail)
		*shadow = KASAN_STACK_AFTER_SCOPE;
}

void __asan_unpoison_stack_memory(uintptr_t addr, size_t size);
KASAN_ABI void __asan_unpoison_stack_memory(uintptr_t addr, size_t size)
{
	const uintptr_t end = addr + size;
	const uint8_t tail = (uint8_t)(end & KASAN_GRANULE_MASK);
	uint8_t *shadow;

	kasan_unpoison((const void *)addr, size & ~(size_t)KASAN_GRANULE_MASK);
	/* A granule that already allows as much, or more, stays as it is. */
	if (tail && kasan_shadow_at(end & ~(uintptr_t)KASAN_GRANULE_MASK, &shadow) && *shadow &&
	    (*shadow >= KASAN_GRANULE_SIZE || *shadow < tail))
		*shadow = tail;
}

/* --- Use after return (GCC, --param asan-use-after-return=1) --- */

/* Fake frames on a heap are for user space: a kernel's frames must be on its stack. The option is off, so functions use
 * their real frames; the symbols exist for code built with the option. */
extern int __asan_option_detect_stack_use_after_return;
__attribute__((used)) int __asan_option_detect_stack_use_after_return;

/* 0 means "no fake frame", and the function uses its own. */
#define DEFINE_FAKE_STACK(class)                                              \
	uintptr_t __asan_stack_malloc_##class(size_t size);                   \
	KASAN_ABI uintptr_t __asan_stack_malloc_##class(size_t size)          \
	{                                                                     \
		(void)size;                                                   \
		return 0;                                                     \
	}                                                                     \
	uintptr_t __asan_stack_malloc_always_##class(size_t size);            \
	KASAN_ABI uintptr_t __asan_stack_malloc_always_##class(size_t size)   \
	{                                                                     \
		(void)size;                                                   \
		return 0;                                                     \
	}                                                                     \
	void __asan_stack_free_##class(uintptr_t addr, size_t size);          \
	KASAN_ABI void __asan_stack_free_##class(uintptr_t addr, size_t size) \
	{                                                                     \
		(void)addr;                                                   \
		(void)size;                                                   \
	}

DEFINE_FAKE_STACK(0)
DEFINE_FAKE_STACK(1)
DEFINE_FAKE_STACK(2)
DEFINE_FAKE_STACK(3)
DEFINE_FAKE_STACK(4)
DEFINE_FAKE_STACK(5)
DEFINE_FAKE_STACK(6)
DEFINE_FAKE_STACK(7)
DEFINE_FAKE_STACK(8)
DEFINE_FAKE_STACK(9)
DEFINE_FAKE_STACK(10)

#elif defined(CONFIG_KASAN_SHADOW_COMPACT)

/* Compiled code calls it even without stack instrumentation. */
void __asan_handle_no_return(void);

KASAN_ABI void __asan_handle_no_return(void)
{
}

#endif /* CONFIG_KASAN_GENERIC */
