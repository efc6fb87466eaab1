/* SPDX-License-Identifier: MIT */
/*
 * tags_pages.c - whole pages and vmalloc areas in the tag-based modes. The counterpart of shadow_pages.c.
 */
#include "pages.h"
#include "sample.h"

#include "../core/shadow.h"
#include "../core/tags.h"

#ifdef CONFIG_KASAN_TAGS

/* A tag for [addr, addr + size) that differs from those of the memory on either side and of the pointer @addr. */
static uint8_t page_tag(uintptr_t addr, size_t size)
{
	return kasan_tag_avoiding(kasan_addr_tag(addr), kasan_tags_owner(addr - KASAN_GRANULE_SIZE),
				  kasan_tags_owner(addr + size));
}

/* --- The page allocator --- */

void kasan_free_pages(const void *addr, size_t size)
{
#ifdef CONFIG_KASAN_HW_TAGS
	/* Without a tag it was skipped when it was allocated, or its parts were freed before: all of it
	 * already has the tags of free pages. */
	if (kasan_get_tag(addr) == KASAN_TAG_KERNEL)
		return;
#endif
	if (kasan_on())
		kasan_fill_pages((uintptr_t)addr, size, KASAN_PAGE_FREE);
}

static inline void *open_pages(const void *addr, size_t size, bool init)
{
	uint8_t tag;

	/* Pages without a tag are reached by pointers that match all memory, and keep the tags of free pages. */
	if (kasan_unlikely(!kasan_on() || !kasan_sample(size))) {
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

const char *kasan_end_pages(const void *ptr, const void *base)
{
	const uint8_t tag = kasan_get_tag(ptr);
	const bool is_start = kasan_reset_tag(ptr) == kasan_reset_tag(base);

#ifdef CONFIG_KASAN_HW_TAGS
	/* An allocation that sampling skipped: its memory has the tags of free pages, which tell nothing. */
	if (tag == KASAN_TAG_KERNEL)
		return is_start ? NULL : "invalid-free";
#endif
	/* Free, or by now another owner's: the pointer belongs to an earlier owner. */
	if (!is_start)
		return kasan_tag_owns(tag, kasan_tags_owner((uintptr_t)base)) ? "invalid-free"
									      : "double-free";
	return kasan_tags_claim((uintptr_t)base, tag) ? NULL : "double-free";
}

/* --- vmalloc --- */

static void *open_area(const void *start, size_t size, bool init)
{
	const size_t span = kasan_whole_pages(size);
	const uint8_t tag = page_tag((uintptr_t)start, span);
	const size_t covered = (size + KASAN_GRANULE_MASK) & ~(size_t)KASAN_GRANULE_MASK;

	start = kasan_set_tag(start, tag);
	if (init) {
		/* The user may map the pages for others to read: no part of them may keep old contents. */
		kasan_tags_fill_zero((uintptr_t)start, covered, tag);
		if (covered < span)
			kasan_tags_fill_zero((uintptr_t)start + covered, span - covered,
					     KASAN_VMALLOC_INVALID);
	} else if (kasan_likely(size == span)) {
		kasan_fill_pages((uintptr_t)start, size, tag);
	} else {
		/* To the byte: the size that was asked for, not that of the pages. */
		kasan_poison_tail(start, size, span, KASAN_VMALLOC_INVALID);
	}
	return (void *)(uintptr_t)start;
}

#ifdef CONFIG_KASAN_SW_TAGS

void *kasan_unpoison_vmalloc(const void *start, size_t size)
{
	if (kasan_on())
		return open_area(start, size, false);
	/* The shadow may be read-only then, and no pointer is compared with it. */
	return kasan_reset_tag(start);
}

void kasan_poison_vmalloc(const void *start, size_t size)
{
	if (kasan_on())
		kasan_fill_pages((uintptr_t)start, kasan_whole_pages(size), KASAN_VMALLOC_INVALID);
}

#else

void *kasan_unpoison_vmalloc_init(const void *start, size_t size, bool init)
{
	uint8_t tag;

	/* Areas may be mapped as memory without tags, for example those of modules. */
	if (kasan_on() && kasan_opt_vmalloc && kasan_tags_read((uintptr_t)start, &tag))
		return open_area(start, size, init);
	if (init)
		__memset(kasan_reset_tag(start), 0, kasan_whole_pages(size));
	return kasan_reset_tag(start);
}

void *kasan_unpoison_vmalloc(const void *start, size_t size)
{
	return kasan_unpoison_vmalloc_init(start, size, false);
}

/* The pages are freed one by one now, as pages without a tag, which must look free already. */
void kasan_poison_vmalloc(const void *start, size_t size)
{
	if (kasan_on() && kasan_get_tag(start) != KASAN_TAG_KERNEL)
		kasan_fill_pages((uintptr_t)start, kasan_whole_pages(size), KASAN_PAGE_FREE);
}

#endif

#endif /* CONFIG_KASAN_TAGS */
