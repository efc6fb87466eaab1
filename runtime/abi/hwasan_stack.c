/* SPDX-License-Identifier: MIT */
/* hwasan_stack.c - called by stack instrumentation of software tags: __hwasan_tag_memory() for objects that the
 * compiler does not tag by stores of its own, __hwasan_generate_tag() for the tag of a frame. */
#include "../shadow/shadow.h"
#include "../tags/tags_hot.h"

#ifdef CONFIG_KASAN_SW_TAGS

/* @tag: as the compiler computed it, upper bits included. The compiler rounds @size up to granules, except for the last
 * granule of an object that ends in a short one. */
void __hwasan_tag_memory(uintptr_t addr, uint8_t tag, size_t size);
KASAN_ABI void __hwasan_tag_memory(uintptr_t addr, uint8_t tag, size_t size)
{
	const uintptr_t start = addr & ~(uintptr_t)KASAN_GRANULE_MASK;
	const uintptr_t end = (addr + size + KASAN_GRANULE_MASK) & ~(uintptr_t)KASAN_GRANULE_MASK;

	kasan_tags_fill(start, end - start, tag);
}

uint8_t __hwasan_generate_tag(void);
KASAN_ABI uint8_t __hwasan_generate_tag(void)
{
	const uint32_t random = kasan_tags_entropy();

	/* A CPU that does not ignore tags may be the reason. */
	if (kasan_unlikely(!kasan_on()))
		return KASAN_TAG_KERNEL;
	if (kasan_unlikely(kasan_opt_tag_policy == KASAN_TAG_POLICY_RANDOM))
		return kasan_tag_random();
	/* If there is a call for each variable, they come in turn. The generator's lowest bit changes with each number, so one
	 * variable has an even tag and the next an odd one. */
	return (uint8_t)kasan_tag_pick(random, random & 1, 0);
}

/* --- Frames that are left without their epilogues --- */

/* @sp: the stack pointer after longjmp(), or in the landing pad of an exception. The frames below it are dead, and
 * their tags would be wrong for new ones. */
void __hwasan_handle_longjmp(uintptr_t sp);
KASAN_ABI void __hwasan_handle_longjmp(uintptr_t sp)
{
	struct kasan_port_task task;

	kasan_clear(&task);
	kasan_port_task(&task);
	if (sp > task.stack_start && sp <= task.stack_end)
		kasan_clear_granules(task.stack_start, sp);
}

void __hwasan_handle_vfork(uintptr_t sp) __attribute__((alias("__hwasan_handle_longjmp")));

/* The unwinder's constants: the action that leaves frames, and the answer of a frame without cleanup. */
#define CLEANUP_PHASE	2
#define CONTINUE_UNWIND 8

#if defined(__aarch64__)
#define FRAME_POINTER 29
#elif defined(__riscv)
#define FRAME_POINTER 8
#else
#define FRAME_POINTER 6
#endif

typedef int (*kasan_personality)(int version, int actions, uint64_t type, void *exception,
				 void *context);

/* With Clang's -hwasan-instrument-personality-functions the unwinder calls this for each frame instead of the @real
 * personality function (NULL: there is none). A frame that is left loses the tags of its variables. */
int __hwasan_personality_wrapper(int version, int actions, uint64_t type, void *exception,
				 void *context, kasan_personality real,
				 uintptr_t (*get_gr)(void *, int), uintptr_t (*get_cfa)(void *));
KASAN_ABI int __hwasan_personality_wrapper(int version, int actions, uint64_t type, void *exception,
					   void *context, kasan_personality real,
					   uintptr_t (*get_gr)(void *, int),
					   uintptr_t (*get_cfa)(void *))
{
	const int answer =
		real ? real(version, actions, type, exception, context) : CONTINUE_UNWIND;

	if ((actions & CLEANUP_PHASE) && answer == CONTINUE_UNWIND)
		kasan_clear_granules(get_cfa(context), get_gr(context, FRAME_POINTER));
	return answer;
}

#endif /* CONFIG_KASAN_SW_TAGS */
