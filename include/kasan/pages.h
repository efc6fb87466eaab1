/* SPDX-License-Identifier: MIT */
/* pages.h - hooks for everything that comes in whole pages (page allocator, large allocations, vmalloc areas, stacks),
 * for memory pools, and for the globals of loadable modules. */
#ifndef KASAN_PAGES_H
#define KASAN_PAGES_H

#include <kasan/slab.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Whole pages --- */

/** kasan_free_pages() - @size bytes of whole pages at @addr go back to the page allocator. */
KASAN_HOOK void kasan_free_pages(const void *addr, size_t size) KASAN_OFF();

/** kasan_alloc_pages() - the pages come from the page allocator. Return: the pointer to give to the user. In tag modes
 *  its tag differs from the tags of the memory on either side, and from @addr's tag, which is the last one that these
 *  pages had. */
#ifdef CONFIG_KASAN_GENERIC
void kasan_unpoison_pages(const void *addr, size_t size);
static inline void *kasan_alloc_pages(const void *addr, size_t size)
{
	kasan_unpoison_pages(addr, size);
	return (void *)(uintptr_t)addr;
}
#else
KASAN_HOOK void *kasan_alloc_pages(const void *addr, size_t size)
	KASAN_OFF(return (void *)(uintptr_t)addr);
#endif

/** kasan_alloc_pages_init() - see kasan_has_integrated_init(). */
#ifdef CONFIG_KASAN_HW_TAGS
void *kasan_alloc_pages_init(const void *addr, size_t size, bool init);
#else
#define kasan_alloc_pages_init(addr, size, init) kasan_alloc_pages((addr), (size))
#endif

/* --- Allocations that take pages of their own --- */

/** struct kasan_large_meta - tracks of one page-level allocation; the port keeps it beside the page's own descriptor,
 *  zeroed when the page is first created */
struct kasan_large_meta {
	struct kasan_track alloc;
	struct kasan_track free;
	size_t size;
	uint32_t aux_stack[2]; /* last two related work creations, newest first */
};

/** kasan_kmalloc_large() - @size bytes are handed out of the @span bytes of pages at @ptr; the rest is redzone. @meta:
 *  where to record the stack, or NULL. Return: the pointer for the user. */
KASAN_HOOK void *kasan_kmalloc_large(void *ptr, size_t size, size_t span,
				     struct kasan_large_meta *meta) KASAN_OFF(return ptr);

/** kasan_kfree_large() - @ptr comes back; @base: start of its allocation. @ip: code address that frees, for the report;
 *  0: the caller, here and in the functions below. Return: KASAN_FREE_NOW or KASAN_FREE_BAD. The caller gives the pages
 *  to kasan_free_pages(). */
KASAN_HOOK enum kasan_free_verdict kasan_kfree_large(void *ptr, void *base,
						     struct kasan_large_meta *meta, uintptr_t ip)
	KASAN_OFF(return KASAN_FREE_NOW);

/* --- Memory pools --- */

/**
 * kasan_mempool_poison_object() - an object goes into a pool of spare ones instead of being freed
 * @ptr: the pointer that the user gave, to an object of a slab cache or a large allocation; kasan_port_find_object()
 * tells which.
 * @ip: code address that frees, for the report.
 *
 * Checks for double and invalid frees, poisons, and records the stack, but queues nothing.
 *
 * Return: false if a bug was reported: the pool must not take @ptr.
 */
KASAN_HOOK bool kasan_mempool_poison_object(void *ptr, uintptr_t ip) KASAN_OFF(return true);

/** kasan_mempool_unpoison_object() - the pool hands @ptr out again, for @size bytes. Records the allocation stack.
 *  Return: the pointer to give to the user. */
KASAN_HOOK void *kasan_mempool_unpoison_object(void *ptr, size_t size) KASAN_OFF(return ptr);

/** kasan_mempool_poison_pages(), kasan_mempool_unpoison_pages() - the same for @size bytes of whole pages at @addr.
 *  Return: false if the pages are poisoned already; that is reported as a double free. */
KASAN_HOOK bool kasan_mempool_poison_pages(void *addr, size_t size, uintptr_t ip)
	KASAN_OFF(return true);
KASAN_HOOK void *kasan_mempool_unpoison_pages(void *addr, size_t size) KASAN_OFF(return addr);

/* --- vmalloc and stacks --- */

/** kasan_unpoison_vmalloc() - open a new area, whose shadow is mapped already. @size: to the byte; the rest of the last
 *  page becomes KASAN_VMALLOC_INVALID. For the area of a task's stack call kasan_unpoison_stack() instead: a stack
 *  pointer has no tag. Return: the pointer to give to the user. */
#ifdef CONFIG_KASAN_GENERIC
void kasan_open_vmalloc(const void *start, size_t size);
static inline void *kasan_unpoison_vmalloc(const void *start, size_t size)
{
	kasan_open_vmalloc(start, size);
	return (void *)(uintptr_t)start;
}
#else
KASAN_HOOK void *kasan_unpoison_vmalloc(const void *start, size_t size)
	KASAN_OFF(return (void *)(uintptr_t)start);
#endif

/** kasan_unpoison_vmalloc_init() - see kasan_has_integrated_init(). */
#ifdef CONFIG_KASAN_HW_TAGS
void *kasan_unpoison_vmalloc_init(const void *start, size_t size, bool init);
#else
#define kasan_unpoison_vmalloc_init(start, size, init) kasan_unpoison_vmalloc((start), (size))
#endif

/** kasan_poison_vmalloc() - the area is about to go. Its shadow must still be mapped. */
KASAN_HOOK void kasan_poison_vmalloc(const void *start, size_t size) KASAN_OFF();

/** kasan_vrealloc() - the area at @start, opened with @old_size bytes, has @new_size now, in the same pages. @start: as
 *  kasan_unpoison_vmalloc() returned it, and it stays valid. Writes only what lies between the two ends. */
KASAN_HOOK void kasan_vrealloc(const void *start, size_t old_size, size_t new_size) KASAN_OFF();

/** kasan_unpoison_stack() - clear the poison that dead frames left in [@low, @high): a stack, or a part of one, without
 *  live frames. For new tasks, dying tasks, longjmp. */
KASAN_HOOK KASAN_READS_NOTHING void kasan_unpoison_stack(const void *low, const void *high)
	KASAN_OFF();

/* --- Loadable modules --- */

/** kasan_unload_globals() - forget the globals of a loadable module that is about to go: those whose descriptors lie in
 *  its image, @size bytes at @start, whether or not its destructors have done so. Their redzones become accessible. The
 *  memory must still be readable. */
KASAN_HOOK void kasan_unload_globals(const void *start, size_t size) KASAN_OFF();

/** struct kasan_global_descriptor - section hwasan_globals: what Clang says of a global that it has tagged. @offset:
 *  the variable's address minus this word's address. @info: its size in bytes; the top byte is the tag that was added
 *  to that of its address. */
struct kasan_global_descriptor {
	int32_t offset;
	uint32_t info;
};

/** kasan_global_size() - Return: bytes of the variable, or of the part of a large one, that @d describes. */
static inline size_t kasan_global_size(const struct kasan_global_descriptor *d)
{
	return d->info & 0xffffff;
}

/** struct kasan_globals_table - the descriptors of an image or of a module, from kasan_load_globals() to
 *  kasan_unload_globals(). The caller's memory, the runtime's contents; zero at first. */
struct kasan_globals_table {
	const struct kasan_global_descriptor *start, *end;
	struct kasan_globals_table *next;
};

#ifdef CONFIG_KASAN_SW_TAGS
/** kasan_prepare_globals() - make later checks of [@start, @end) exact to the byte: write to the padding of each
 *  variable. While constants may still be written; needs no shadow. Without this call, or for constants that are
 *  read-only already, an overrun of less than a granule is missed. */
KASAN_HOOK void kasan_prepare_globals(const struct kasan_global_descriptor *start,
				      const struct kasan_global_descriptor *end);

/** kasan_load_globals() - give the memory of the variables in [@start, @end) their tags, and remember them in @table
 *  for reports. Before instrumented code touches them, with shadow that can be written. __hwasan_init(), a constructor,
 *  does it for the image, unless the system has done so before. */
KASAN_HOOK void kasan_load_globals(struct kasan_globals_table *table,
				   const struct kasan_global_descriptor *start,
				   const struct kasan_global_descriptor *end);
#endif

#ifdef __cplusplus
}
#endif

#endif /* KASAN_PAGES_H */
