/* SPDX-License-Identifier: MIT */
/*
 * tags_pages.c - whole pages, allocations that take pages of their own, and vmalloc areas in the tag-based
 * modes. The counterpart of pages.c and vmalloc.c.
 */
#include "tags_pages.h"

#include "sample.h"

#ifdef CONFIG_KASAN_TAGS

/* A tag for [addr, addr + size) that neither the memory on either side has nor the pointer @addr. */
static uint8_t page_tag(uintptr_t addr, size_t size)
{
	return kasan_tag_avoiding(kasan_addr_tag(addr), kasan_tags_owner(addr - KASAN_GRANULE_SIZE),
				  kasan_tags_owner(addr + size));
}

/* --- The page allocator ----------------------------------------------------------------------------- */

void kasan_free_pages(const void *addr, size_t size)
{
#ifdef CONFIG_KASAN_HW_TAGS
	/* Without a tag it was skipped when it was allocated, or its pieces were freed before: all of it has
	 * the tags of free pages already. */
	if (kasan_get_tag(addr) == KASAN_TAG_KERNEL)
		return;
#endif
	if (kasan_tags_on())
		kasan_fill_pages((uintptr_t)addr, size, KASAN_PAGE_FREE);
}

static inline void *open_pages(const void *addr, size_t size, bool init)
{
	uint8_t tag;

	/* What gets no tag is reached by pointers that match all memory, and keeps the tags of free pages. */
	if (kasan_unlikely(!kasan_tags_on() || !kasan_sample(size))) {
		if (init)
			__memset(kasan_reset_tag(addr), 0, size);
		return kasan_reset_tag(addr);
	}
	tag = page_tag((uintptr_t)addr, size);
	if (init)
		kasan_tags_fill_zero((uintptr_t)addr, size, tag);
	else
		kasan_fill_pages((uintptr_t)addr, size, tag);
	return kasan_set_tag(addr, tag);
}

void *kasan_alloc_pages(const void *addr, size_t size)
{
	return open_pages(addr, size, false);
}

#ifdef CONFIG_KASAN_HW_TAGS
void *kasan_alloc_pages_init(const void *addr, size_t size, bool init)
{
	return open_pages(addr, size, init && kasan_has_integrated_init());
}
#endif

const char *kasan_tags_end_pages(const void *ptr, const void *base)
{
	const uint8_t tag = kasan_get_tag(ptr);
	const bool is_start = kasan_reset_tag(ptr) == kasan_reset_tag(base);

#ifdef CONFIG_KASAN_HW_TAGS
	/* An allocation that sampling has left out: its memory has the tags of free pages, which says nothing. */
	if (tag == KASAN_TAG_KERNEL)
		return is_start ? NULL : "invalid-free";
#endif
	/* Free, or by now somebody else's: the pointer is of an earlier owner. */
	if (!is_start)
		return kasan_tag_owns(tag, kasan_tags_owner((uintptr_t)base)) ? "invalid-free"
									      : "double-free";
	return kasan_tags_claim((uintptr_t)base, tag) ? NULL : "double-free";
}

/* --- Large allocations ------------------------------------------------------------------------------- */

void *kasan_kmalloc_large(void *ptr, size_t size, size_t span, struct kasan_large_meta *meta)
{
	if (!ptr)
		return NULL;
	/* The pages have their tag. All of the span is written, as this hook also changes the size in place. */
	if (kasan_get_tag(ptr) != KASAN_TAG_KERNEL)
		kasan_poison_tail(ptr, size, span, KASAN_PAGE_REDZONE);
	if (meta) {
		meta->size = size;
		/* Tracks of the pages' last life would be printed as this object's. */
		meta->free = (struct kasan_track){0};
		meta->aux_stack[0] = meta->aux_stack[1] = 0;
		kasan_set_track(&meta->alloc, KASAN_CALLER_IP(), KASAN_CALLER_FP());
	}
	return ptr;
}

enum kasan_free_verdict kasan_kfree_large(void *ptr, void *base, struct kasan_large_meta *meta,
					  uintptr_t ip)
{
	const char *wrong = kasan_tags_on() ? kasan_tags_end_pages(ptr, base) : NULL;

	if (wrong) {
		kasan_report_bad_free(wrong, ptr, ip, KASAN_CALLER_FP());
		return KASAN_FREE_BAD;
	}
	if (meta)
		kasan_set_track(&meta->free, KASAN_CALLER_IP(), KASAN_CALLER_FP());
	return KASAN_FREE_NOW;
}

/* --- Memory pools: elements that are pages ----------------------------------------------------------- */

bool kasan_mempool_poison_pages(void *addr, size_t size, uintptr_t ip)
{
	const char *wrong = kasan_tags_on() ? kasan_tags_end_pages(addr, addr) : NULL;

	if (wrong) {
		kasan_report_bad_free(wrong, addr, ip ? ip : KASAN_CALLER_IP(), KASAN_CALLER_FP());
		return false;
	}
	kasan_free_pages(addr, size);
	return true;
}

void *kasan_mempool_unpoison_pages(void *addr, size_t size)
{
	return open_pages(addr, size, false);
}

/* --- vmalloc ------------------------------------------------------------------------------------------ */

static size_t whole_pages(size_t size)
{
	return (size + (CONFIG_KASAN_PAGE_SIZE - 1)) & ~(size_t)(CONFIG_KASAN_PAGE_SIZE - 1);
}

static void *open_area(const void *start, size_t size, bool init)
{
	const size_t span = whole_pages(size);
	const uint8_t tag = page_tag((uintptr_t)start, span);
	const size_t covered = (size + KASAN_GRANULE_MASK) & ~(size_t)KASAN_GRANULE_MASK;

	start = kasan_set_tag(start, tag);
	if (init) {
		/* The user may map the pages for others to read: nothing of them keeps old contents. */
		kasan_tags_fill_zero((uintptr_t)start, covered, tag);
		if (covered < span)
			kasan_tags_fill_zero((uintptr_t)start + covered, span - covered,
					     KASAN_VMALLOC_INVALID);
	} else if (kasan_likely(size == span)) {
		kasan_fill_pages((uintptr_t)start, size, tag);
	} else {
		/* To the byte: what was asked for, not what the pages happen to hold. */
		kasan_poison_tail(start, size, span, KASAN_VMALLOC_INVALID);
	}
	return (void *)(uintptr_t)start;
}

#ifdef CONFIG_KASAN_SW_TAGS

void *kasan_unpoison_vmalloc(const void *start, size_t size)
{
	if (kasan_tags_on())
		return open_area(start, size, false);
	/* The shadow may be read-only then, and nobody's pointer is compared with it. */
	return kasan_reset_tag(start);
}

void kasan_poison_vmalloc(const void *start, size_t size)
{
	if (kasan_tags_on())
		kasan_fill_pages((uintptr_t)start, whole_pages(size), KASAN_VMALLOC_INVALID);
}

#else

void *kasan_unpoison_vmalloc_init(const void *start, size_t size, bool init)
{
	uint8_t tag;

	/* Areas may be mapped as memory without tags, as those of modules are. */
	if (kasan_tags_on() && kasan_opt_vmalloc && kasan_tags_read((uintptr_t)start, &tag))
		return open_area(start, size, init);
	if (init)
		__memset(kasan_reset_tag(start), 0, whole_pages(size));
	return kasan_reset_tag(start);
}

void *kasan_unpoison_vmalloc(const void *start, size_t size)
{
	return kasan_unpoison_vmalloc_init(start, size, false);
}

/* The pages are freed one by one now, as pages without a tag, of which it is said that they look free already. */
void kasan_poison_vmalloc(const void *start, size_t size)
{
	if (kasan_tags_on() && kasan_get_tag(start) != KASAN_TAG_KERNEL)
		kasan_fill_pages((uintptr_t)start, whole_pages(size), KASAN_PAGE_FREE);
}

#endif

#endif /* CONFIG_KASAN_TAGS */
