/* SPDX-License-Identifier: MIT */
/*
 * sanitizer.h - what malloc() and free() of programs have to know of __asan_poison_memory_region().
 */
#ifndef KERNEL_SANITIZER_H
#define KERNEL_SANITIZER_H

#include <kernel/types.h>

#ifdef CONFIG_KASAN
/* Has a program poisoned anything since boot? Never false again. */
extern bool program_has_poisoned;
void __program_unpoison(const void *ptr, size_t size);
#endif

/**
 * program_unpoison() - undo what a program has poisoned of an object, before the kernel frees or copies it
 * @ptr: its start. For any other pointer nothing happens: the allocator says what is wrong with it.
 * @size: its bytes; 0: the allocator knows them.
 *
 * Any context.
 */
static inline void program_unpoison(const void *ptr, size_t size)
{
#ifdef CONFIG_KASAN
	if (unlikely(READ_ONCE(program_has_poisoned)))
		__program_unpoison(ptr, size);
#endif
}

#endif
