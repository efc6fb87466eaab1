/* SPDX-License-Identifier: MIT */
/*
 * page_heap.h - simple page allocators: those that know only the addresses of pages.
 *
 * The counterpart of heap.h for a small kernel: give the runtime two callbacks, and each allocation has stacks, a
 * redzone after it, a check of its free, and a quarantine. Reports find the allocation without
 * kasan_port_find_object(). A kernel with descriptors of its own for its pages calls the hooks of pages.h instead.
 *
 * A page is CONFIG_KASAN_PAGE_SIZE bytes. In the tag-based modes the callbacks get pointers without tags.
 */
#ifndef KASAN_PAGE_HEAP_H
#define KASAN_PAGE_HEAP_H

#include <kasan/heap.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct kasan_page_heap - one page allocator under the runtime; zero-initialised except for the members above
 *	the line "private"
 * @name: for reports.
 * @start, @size: the memory that it hands out, whole pages. It needs shadow before kasan_page_heap_add().
 * @redzone: bytes of redzone after an allocation, rounded up to whole pages; 0: none. @acquire is asked for that much
 * more, so it must be able to give several pages.
 * @guard_every: for an allocator of single pages: each page whose number in the range leaves the remainder @guard_every
 * - 1 is kept as a redzone. 2: a redzone after each page, for half of the memory; 8: after each seventh, for an eighth
 * of it; 0 or 1: none.
 * @quarantine_max: bytes of freed pages to hold back; 0: none.
 * @acquire: takes @pages neighbouring pages from the allocator. Return: the first byte, aligned to a page; NULL: none
 * left. Called with no lock of the runtime held, in the context of kasan_page_alloc().
 * @release: gives them back. If the allocator writes into free pages (a list, a pattern), it must do so unchecked:
 * without instrumentation, and by __memset(), because the pages are poisoned then. Context: as @acquire, in that of
 * kasan_page_free() or kasan_page_heap_shrink().
 */
struct kasan_page_heap {
	const char *name;
	void *start;
	size_t size;
	size_t redzone;
	unsigned int guard_every;
	size_t quarantine_max;
	void *(*acquire)(struct kasan_page_heap *heap, size_t pages);
	void (*release)(struct kasan_page_heap *heap, void *first, size_t pages);
#ifdef CONFIG_KASAN
	/* private to the runtime from here on */
	struct kasan_page_heap *next;
	struct kasan_page_record *records;
	size_t pages, redzone_pages;
	uintptr_t early_start, early_end;
	struct kasan_fifo quarantine;
	unsigned int lock;
#endif
};

#ifndef CONFIG_KASAN
static inline size_t kasan_page_heap_pages(size_t size)
{
	return size ? (size - 1) / (CONFIG_KASAN_PAGE_SIZE) + 1 : 1;
}
#endif

/**
 * kasan_page_heap_add() - register a page allocator
 *
 * Call it when all pages of the range are free and the allocator has them, before it hands out the first: they are
 * poisoned here. Pages that are in use already: see kasan_page_heap_adopt(). It takes one record per page, 40 bytes on
 * 64-bit systems, in one block from kasan_port_alloc(). Not hot. May be called before or after kasan_init().
 *
 * Pages that kasan_page_alloc() gave before this call stay accessible, without redzones and stacks, until they are freed
 * and handed out again; so do all pages between the first and the last of them, whose bugs are not found. From here on
 * their frees are checked, page by page, and held in quarantine.
 *
 * Return: NULL, or a message that says what is wrong and which number would be right. The allocator then works as
 * without KASAN.
 */
KASAN_HOOK const char *kasan_page_heap_add(struct kasan_page_heap *heap) KASAN_OFF(return NULL);

/** kasan_page_heap_adopt() - the whole pages of [@start, @start + @size) were handed out before kasan_page_heap_add(),
 *  as one allocation: they become accessible and may be freed, also in parts. For pages that did not come from
 *  kasan_page_alloc(), such as the memory of a boot allocator. Call it right after that one. */
KASAN_HOOK void kasan_page_heap_adopt(struct kasan_page_heap *heap, void *start, size_t size)
	KASAN_OFF();

/**
 * kasan_page_alloc() - allocate @size bytes in pages of their own
 * @size: bytes; the rest of the last page is redzone.
 *
 * If there are no pages left, those in quarantine are given back first. The contents are as @heap->acquire left them.
 *
 * Return: the pointer for the user, aligned to a page; NULL: none left. Pages outside the range of @heap are handed out
 * as they are, without a redzone or a record.
 */
KASAN_HOOK void *kasan_page_alloc(struct kasan_page_heap *heap, size_t size)
	KASAN_OFF(return heap->acquire(heap, kasan_page_heap_pages(size)));

/**
 * kasan_page_free() - take an allocation back: check, poison, quarantine, @heap->release
 * @ptr: as kasan_page_alloc() returned it; NULL is ignored.
 * @size: bytes that were asked for. A number of pages other than the allocation has is an invalid free. 0: not known;
 * do not give 0 if the allocator also works without KASAN and hands out more than single pages.
 * @ip: code address that frees, for the report; 0: the caller.
 *
 * Return: false if a double or invalid free was reported: nothing else was done.
 */
KASAN_HOOK bool kasan_page_free(struct kasan_page_heap *heap, void *ptr, size_t size, uintptr_t ip)
	KASAN_OFF(if (ptr) heap->release(heap, ptr, kasan_page_heap_pages(size)); return true);

/**
 * kasan_page_free_part() - take back some pages of an allocation: the tail, the head, a single page
 * @ptr: the first of them, aligned to a page, with the tag of the allocation's pointer.
 * @size: bytes, rounded up to whole pages; 0: one page. They must lie in one allocation.
 *
 * For allocators of which a block of several pages may come back in parts. Each part that is left is an allocation of its
 * own from then on, with the stack of the first, and is freed by kasan_page_free() or again in parts. The redzone goes
 * with the last page. @heap->release gets the parts as they are freed, so the allocator must be able to take them.
 *
 * Return, @ip: as kasan_page_free().
 */
KASAN_HOOK bool kasan_page_free_part(struct kasan_page_heap *heap, void *ptr, size_t size,
				     uintptr_t ip)
	KASAN_OFF(if (ptr) heap->release(heap, ptr, kasan_page_heap_pages(size)); return true);

/** kasan_page_heap_size() - Return: requested bytes of the live allocation @ptr; 0 if it is not one, or if no mode is
 *  configured. */
KASAN_HOOK size_t kasan_page_heap_size(struct kasan_page_heap *heap, const void *ptr)
	KASAN_OFF(return 0);

/** kasan_page_heap_shrink() - release everything that the quarantine of @heap holds. Do not hold a lock of the
 *  allocator. */
KASAN_HOOK void kasan_page_heap_shrink(struct kasan_page_heap *heap) KASAN_OFF();

#ifdef __cplusplus
}
#endif

#endif /* KASAN_PAGE_HEAP_H */
