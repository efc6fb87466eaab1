/* SPDX-License-Identifier: MIT */
/*
 * sample.h - sampling with guard pages, for systems in production (CONFIG_KASAN_SAMPLE).
 *
 * Now and then one allocation is placed at the edge of a page of its own, between pages that are closed. The page is
 * closed too when the object is freed, and is not used again for as long as possible. The MMU finds bad accesses, so no
 * code needs to be instrumented, and it works in every mode and without one. docs/port/sampling.md says what it finds, what
 * it costs, and which calls an allocator and a port make.
 *
 * Without CONFIG_KASAN_SAMPLE these are empty.
 */
#ifndef KASAN_SAMPLE_H
#define KASAN_SAMPLE_H

#include <kasan/hook.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kasan_regs;

#ifdef CONFIG_KASAN_SAMPLE

/* Pages of the pool, which kasan_port_sample_open() and kasan_port_sample_close() of <kasan/port.h> open and close: one for
 * each object, and a guard on each side. */
#define KASAN_SAMPLE_PAGES (2UL * CONFIG_KASAN_SAMPLE_OBJECTS + 1)

/**
 * kasan_sample_start() - give sampling its pool
 * @pool: KASAN_SAMPLE_PAGES pages of CONFIG_KASAN_PAGE_SIZE bytes, aligned to one, that are closed. They must be
 * accessible for KASAN's own checks. Tag modes: an address that matches all memory. Once, at boot.
 */
void kasan_sample_start(void *pool);

/** kasan_sample_tick() - time passes: for a timer interrupt, of one CPU. @ms: since boot. Return: is a sample due? The
 *  boot parameter kasan.sample= says how often one is. */
bool kasan_sample_tick(unsigned long ms);

/** kasan_sample_next() - let one be due now, for tests and for systems that count allocations. */
void kasan_sample_next(void);

/* Is a sample due? Set by the two functions above. */
extern unsigned int kasan_sample_wanted;
static inline bool kasan_sample_due(void)
{
	return kasan_unlikely(__atomic_load_n(&kasan_sample_wanted, __ATOMIC_RELAXED));
}

/**
 * kasan_sample_alloc() - an allocator asks for a sampled object, because kasan_sample_due()
 * @size: bytes asked for, 1 or more; @align: a power of two. @name: of the cache or heap, for reports; it stays valid.
 * @cache_size: size of its objects. @ip: code address that the recorded stack begins with, the caller or a few functions
 * above it; 0: the caller.
 *
 * The stack is recorded as the stack of the allocation. The memory has any contents. Any context.
 *
 * Return: the object; NULL: allocate as usual.
 */
void *kasan_sample_alloc(size_t size, size_t align, const char *name, size_t cache_size,
			 uintptr_t ip);

/** kasan_sample_owns() - does @ptr point into the pool? An allocator asks if it does not know the pointer. */
bool kasan_sample_owns(const void *ptr);

/**
 * kasan_sample_free() - free @ptr if it points into the pool
 * @ip: code address that frees, for the report; 0: the caller.
 *
 * Reports a double or invalid free, and bytes around the object that were overwritten. Any context.
 *
 * Return: false: it does not point there, and nothing was done.
 */
bool kasan_sample_free(const void *ptr, uintptr_t ip);

/** kasan_sample_size() - Return: bytes asked for of the live object that begins at @ptr; 0: there is none. */
size_t kasan_sample_size(const void *ptr);

/**
 * kasan_sample_fault() - the MMU has refused an access: report it if it is to the pool
 * @addr, @size, @direction, @regs: as for kasan_report_fault_at().
 *
 * The page is opened afterwards, so that the system goes on. It is closed again when it gets its next object.
 *
 * Return: true: try the access again. False: it is another fault.
 */
bool kasan_sample_fault(uintptr_t addr, size_t size, int direction, const struct kasan_regs *regs);

/** struct kasan_sample_counts - since boot: objects that were sampled, and samples that were due when no page was
 *  free, or could be opened. @live: objects now. */
struct kasan_sample_counts {
	unsigned long sampled, skipped, live;
};
void kasan_sample_get_counts(struct kasan_sample_counts *counts);

#else

static inline bool kasan_sample_due(void)
{
	return false;
}

static inline void *kasan_sample_alloc(size_t size, size_t align, const char *name,
				       size_t cache_size, uintptr_t ip)
{
	(void)size;
	(void)align;
	(void)name;
	(void)cache_size;
	(void)ip;
	return NULL;
}

static inline bool kasan_sample_owns(const void *ptr)
{
	(void)ptr;
	return false;
}

static inline bool kasan_sample_free(const void *ptr, uintptr_t ip)
{
	(void)ptr;
	(void)ip;
	return false;
}

static inline size_t kasan_sample_size(const void *ptr)
{
	(void)ptr;
	return 0;
}

static inline bool kasan_sample_fault(uintptr_t addr, size_t size, int direction,
				      const struct kasan_regs *regs)
{
	(void)addr;
	(void)size;
	(void)direction;
	(void)regs;
	return false;
}

#endif

#ifdef __cplusplus
}
#endif

#endif /* KASAN_SAMPLE_H */
