/* SPDX-License-Identifier: MIT */
/*
 * fault_inject.h - allocations that fail on purpose, to test their callers.
 *
 * There are three ways. On the command line, failslab= and fail_page_alloc= make a share of all allocations
 * fail while a program or the tests run, and fail_site= makes those of one place in the code fail, from the
 * start of the boot. In tests, fault_inject_nth() makes exactly one fail, or some in a row: a loop over it
 * visits every place that allocates.
 */
#ifndef KERNEL_FAULT_INJECT_H
#define KERNEL_FAULT_INJECT_H

#include <kernel/types.h>

struct task;

/* Kinds of allocations that can fail. */
#define FAULT_SLAB    1U /* objects: kmalloc() up to KMALLOC_MAX_CACHE_SIZE, kmem_cache_alloc() */
#define FAULT_PAGE    2U /* the page allocator, including slabs, vmalloc(), page tables and shadow */
#define FAULT_RUNTIME 4U /* kasan_port_alloc(): the stack depot and the quarantine */
/* Not failures: a heap object is to be sampled (<kernel/sample.h>); with FAULT_PAGE, blocks of pages get a redzone
 * (<kernel/page_redzone.h>). */
#define FAULT_SAMPLE  8U
#define FAULT_REDZONE 16U
#define FAULT_ALL     (FAULT_SLAB | FAULT_PAGE | FAULT_RUNTIME)

/* Kinds that may fail now, FAULT_REDZONE and FAULT_SAMPLE. An allocation looks at nothing else if it is 0, the normal case. */
extern unsigned int fault_kinds;

/** should_fail() - Return: true if this allocation of @kind, @size bytes, is to fail. Any context. */
bool __should_fail(unsigned int kind, size_t size);
static __always_inline bool should_fail(unsigned int kind, size_t size)
{
	return unlikely(READ_ONCE(fault_kinds) & kind) && __should_fail(kind, size);
}

/**
 * fault_inject_nth() - let the @nth allocation from now on fail, counted from 1
 * @kinds: FAULT_*; others neither fail nor count.
 * @count: number of failures in a row; ULONG_MAX: all until fault_inject_stop(). More than one also fails
 *	the fallbacks.
 * @task: only allocations of this task, outside of interrupts; NULL: all allocations.
 *
 * One user at a time. Failures of the command line pause until fault_inject_stop().
 */
void fault_inject_nth(unsigned int kinds, unsigned long nth, unsigned long count,
		      const struct task *task);

/**
 * fault_inject_stop() - no more failures
 * @site: filled with the call trace of the last refused allocation, innermost first, 0 past its end; may
 *	be NULL.
 *
 * Return: number of counted allocations; if it is below @nth, none has failed.
 */
#define FAULT_SITE_DEPTH 12
unsigned long fault_inject_stop(uintptr_t site[FAULT_SITE_DEPTH]);

/** fault_inject_start(), fault_inject_pause() - start, or pause, the failures that the command line asked
 *  for. The system itself must not fail before the program starts. */
void fault_inject_start(void);
void fault_inject_pause(void);

#endif /* KERNEL_FAULT_INJECT_H */
