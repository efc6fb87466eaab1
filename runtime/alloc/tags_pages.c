/* SPDX-License-Identifier: MIT */
/* tags_pages.c - whole pages and vmalloc areas in the tag modes. Its counterpart is shadow_pages.c. */
#include "whole_pages.h"
#include "hw_sample.h"

#include "../shadow/shadow.h"
#include "../tags/tags_hot.h"

#ifdef CONFIG_KASAN_TAGS

/* Return: the pointer to pages that get a new owner. @addr: their address, with the last owner's tag. The new tag
 * differs from that one and from the tags of the memory on both sides. */
#ifdef CONFIG_KASAN_HW_TAGS

static kasan_always_inline uintptr_t tagged_pages(uintptr_t addr, size_t size)
{
	const uintptr_t before = addr - KASAN_GRANULE_SIZE, after = addr + size;
	uint64_t exclude = KASAN_HW_NO_TAGS;
	unsigned long flags;

	if (kasan_likely(kasan_opt_tag_policy != KASAN_TAG_POLICY_RANDOM)) {
		exclude = kasan_mte_gmi(addr, exclude);
		flags = kasan_port_irq_save();
		if (kasan_likely(kasan_mte_is_mapped(before)))
			exclude = kasan_mte_gmi(kasan_mte_ldg(before), exclude);
		if (kasan_likely(kasan_mte_is_mapped(after)))
			exclude = kasan_mte_gmi(kasan_mte_ldg(after), exclude);
		kasan_port_irq_restore(flags);
	}
	return kasan_mte_irg(addr, exclude);
}

#else

static inline uintptr_t tagged_pages(uintptr_t addr, size_t size)
{
	return kasan_tag_addr(
		addr, kasan_tag_avoiding(kasan_addr_tag(addr),
					 kasan_tags_owner_beside(addr - KASAN_GRANULE_SIZE, addr),
					 kasan_tags_owner_beside(addr + size, addr + size - 1)));
}

#endif

/* --- The page allocator --- */

void kasan_free_pages(const void *addr, size_t size)
{
#ifdef CONFIG_KASAN_HW_TAGS
	/* Without a tag it was skipped when it was allocated, or its parts were freed before, so all of it has the tags
	 * of free pages already. With kasan=off no page has a tag. */
	if (kasan_likely(kasan_get_tag(addr) != KASAN_TAG_KERNEL) && size)
		kasan_tags_fill_pages_fast(kasan_tag_addr((uintptr_t)addr, KASAN_PAGE_FREE), size);
#else
	if (kasan_on())
		kasan_fill_pages((uintptr_t)addr, size, KASAN_PAGE_FREE);
#endif
}

/* Handles every allocation. Pages without a tag are reached by pointers that match all memory, and keep the tags of
 * free pages. With kasan=off the caller clears them: kasan_has_integrated_init() is false. */
static kasan_noinline void *open_pages(const void *addr, size_t size, bool init)
{
	uintptr_t start;

	if (kasan_unlikely(!kasan_on() || !kasan_sample(size))) {
		if (init && kasan_on())
			__memset(kasan_reset_tag(addr), 0, size);
		return kasan_reset_tag(addr);
	}
	start = tagged_pages((uintptr_t)addr, size);
	if (init)
		kasan_tags_fill_zero(start, size, kasan_addr_tag(start));
	else
		kasan_fill_pages(start, size, kasan_addr_tag(start));
	return (void *)start;
}

#ifdef CONFIG_KASAN_HW_TAGS
/* The common case is inlined and calls nothing, so no registers are saved. */
void *kasan_alloc_pages_init(const void *addr, size_t size, bool init)
{
	if (kasan_unlikely(init || !size || !kasan_on() || kasan_opt_sample != 1))
		return open_pages(addr, size, init);
	return (void *)kasan_tags_fill_pages_fast(tagged_pages((uintptr_t)addr, size), size);
}

void *kasan_alloc_pages(const void *addr, size_t size)
{
	return kasan_alloc_pages_init(addr, size, false);
}
#else
void *kasan_alloc_pages(const void *addr, size_t size)
{
	return open_pages(addr, size, false);
}
#endif

const char *kasan_end_pages(const void *ptr, const void *base)
{
	const uint8_t tag = kasan_get_tag(ptr);
	const bool is_start = kasan_reset_tag(ptr) == kasan_reset_tag(base);

#ifdef CONFIG_KASAN_HW_TAGS
	/* Sampling skipped this allocation: its memory has the tags of free pages, which prove nothing. */
	if (tag == KASAN_TAG_KERNEL)
		return is_start ? NULL : "invalid-free";
#endif
	/* If the pages are free or have another owner, the pointer belongs to an earlier one. */
	if (!is_start)
		return kasan_tag_owns(tag, kasan_tags_owner((uintptr_t)base)) ? "invalid-free"
									      : "double-free";
	return kasan_tags_claim((uintptr_t)base, tag) ? NULL : "double-free";
}

/* --- vmalloc --- */

static void *open_area(const void *start, size_t size, bool init)
{
	const size_t span = kasan_whole_pages(size);
	const uintptr_t tagged = tagged_pages((uintptr_t)start, span);
	const uint8_t tag = kasan_addr_tag(tagged);
	const size_t covered = (size + KASAN_GRANULE_MASK) & ~(size_t)KASAN_GRANULE_MASK;

	start = (const void *)tagged;
	if (init) {
		/* The user may let others read the pages, so no part may keep old contents. */
		kasan_tags_fill_zero((uintptr_t)start, covered, tag);
		if (covered < span)
			kasan_tags_fill_zero((uintptr_t)start + covered, span - covered,
					     KASAN_VMALLOC_INVALID);
	} else if (kasan_likely(size == span)) {
		kasan_fill_pages((uintptr_t)start, size, tag);
	} else {
		/* To the byte asked for, not to the page. */
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

/* The pages are now freed one by one, as pages without a tag, which must look free already. */
void kasan_poison_vmalloc(const void *start, size_t size)
{
	if (kasan_on() && kasan_get_tag(start) != KASAN_TAG_KERNEL)
		kasan_fill_pages((uintptr_t)start, kasan_whole_pages(size), KASAN_PAGE_FREE);
}

#endif

#endif /* CONFIG_KASAN_TAGS */
