/* SPDX-License-Identifier: MIT */
/*
 * fault_inject.h - allocations that fail on purpose, to see what becomes of those who asked.
 *
 * Three ways. On the command line, failslab= and fail_page_alloc= make a share of all allocations fail
 * while a program or the tests run, and fail_site= those that one place of the code causes, from the start
 * of the boot. In tests, fault_inject_nth() makes exactly one fail, or some in a row, so that a loop over it
 * walks through every place that allocates.
 */
#ifndef KERNEL_FAULT_INJECT_H
#define KERNEL_FAULT_INJECT_H

#include <kernel/types.h>

struct task;

/* What can fail. */
#define FAULT_SLAB    1U /* objects: kmalloc() up to KMALLOC_MAX_CACHE_SIZE, kmem_cache_alloc() */
#define FAULT_PAGE    2U /* the page allocator: slabs, vmalloc(), page tables and shadow included */
#define FAULT_RUNTIME 4U /* kasan_port_alloc(): the stack depot and the quarantine */
#define FAULT_ALL     (FAULT_SLAB | FAULT_PAGE | FAULT_RUNTIME)

/* Kinds that may fail now; 0, which is the rule, is all that an allocation looks at. */
extern unsigned int fault_kinds;

/** should_fail() - shall this allocation of @kind, @size bytes, fail? Any context. */
bool __should_fail(unsigned int kind, size_t size);
static __always_inline bool should_fail(unsigned int kind, size_t size)
{
	return unlikely(READ_ONCE(fault_kinds) & kind) && __should_fail(kind, size);
}

/**
 * fault_inject_nth() - let allocations fail: the @nth from now on, counted from 1
 * @kinds: FAULT_*; others neither fail nor count.
 * @count: so many in a row; ULONG_MAX: all, until fault_inject_stop(). More than one finds what is tried
 *	when the first way has failed.
 * @task: only its allocations, outside of interrupts; NULL: everybody's.
 *
 * One user at a time. The command line's failures rest until fault_inject_stop().
 */
void fault_inject_nth(unsigned int kinds, unsigned long nth, unsigned long count,
		      const struct task *task);

/**
 * fault_inject_stop() - no more failures
 * @site: filled with code addresses of who was refused last, innermost first, 0 where there are fewer; may
 *	be NULL.
 *
 * Return: allocations that were counted; less than @nth: none has failed.
 */
#define FAULT_SITE_DEPTH 12
unsigned long fault_inject_stop(uintptr_t site[FAULT_SITE_DEPTH]);

/** fault_inject_start(), fault_inject_pause() - from here on what the command line asked for happens, or
 *  rests: nobody wants to see the system itself fail before the program has begun. */
void fault_inject_start(void);
void fault_inject_pause(void);

#endif /* KERNEL_FAULT_INJECT_H */
