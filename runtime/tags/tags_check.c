/* SPDX-License-Identifier: MIT */
/* tags_check.c - decides by tags whether a range is accessible, and changes its owner: the part that both tag modes
 * share. Its counterparts are shadow_check.c and poison.c. */
#include "tags_hot.h"

#ifdef CONFIG_KASAN_TAGS

/* --- Making memory accessible --- */

void kasan_tags_open(uintptr_t addr, size_t size, uint8_t tag, bool init)
{
	size_t whole = size & ~(size_t)KASAN_GRANULE_MASK;
	const size_t rest = size & KASAN_GRANULE_MASK;
#ifdef CONFIG_KASAN_HW_TAGS
	/* The CPU knows only whole granules, so all of the last one belongs to the object and is cleared with it. */
	const bool is_short = !size;
#else
	const bool is_short = (rest || !size) && tag != KASAN_TAG_KERNEL;
#endif

	/* A pointer without a tag needs no bound, and the byte that would hold it may be in use. */
	if (rest && !is_short)
		whole += KASAN_GRANULE_SIZE;
	if (init)
		kasan_tags_fill_zero(addr, whole, tag);
	else
		kasan_tags_fill(addr, whole, tag);
	if (kasan_likely(!is_short))
		return;
	if (init)
		__memset((void *)kasan_untag_addr(addr + whole), 0, rest);
	kasan_tags_short(addr + whole, (unsigned int)rest, tag);
}

#ifdef CONFIG_KASAN_SW_TAGS
void kasan_fill_pages(uintptr_t addr, size_t size, uint8_t value)
{
#ifdef KASAN_PAGE_SHADOW
	uint8_t *shadow;

	/* All of these pages have shadow, or none. */
	if (kasan_shadow_at(addr, &shadow))
		kasan_fill_page_shadows(shadow, kasan_page_shadows(size), value);
#else
	kasan_tags_fill(addr, (size + (CONFIG_KASAN_PAGE_SIZE - 1)) & ~(CONFIG_KASAN_PAGE_SIZE - 1),
			value);
#endif
}
#endif

void kasan_poison(const void *addr, size_t size, uint8_t value)
{
	uintptr_t start = (uintptr_t)addr;

	if (kasan_whole_granules(&start, &size) && kasan_on())
		kasan_tags_fill(start, size, value);
}

void kasan_unpoison(const void *addr, size_t size)
{
	if (size && kasan_on())
		kasan_tags_open((uintptr_t)addr & ~(uintptr_t)KASAN_GRANULE_MASK,
				size + ((uintptr_t)addr & KASAN_GRANULE_MASK), kasan_get_tag(addr),
				false);
}

void kasan_poison_tail(const void *addr, size_t size, size_t span, uint8_t value)
{
	size_t covered = (size + KASAN_GRANULE_MASK) & ~(size_t)KASAN_GRANULE_MASK;

	if (!kasan_on())
		return;
	if (size > span)
		size = span;
	/* An object of 0 bytes still has an owner, whose tag is in its first granule. */
	if (!covered)
		covered = KASAN_GRANULE_SIZE;
	kasan_tags_open((uintptr_t)addr, size, kasan_get_tag(addr), false);
	if (covered < span)
		kasan_poison((const char *)addr + covered, span - covered, value);
}

void kasan_clear_granules(uintptr_t low, uintptr_t high)
{
#if CONFIG_KASAN_STACK
	const uintptr_t start = low & ~(uintptr_t)KASAN_GRANULE_MASK;

#ifdef CONFIG_KASAN_HW_TAGS
	/* The CPU ignores the tags of variables until checks are on. */
	if (!kasan_on())
		return;
#endif
	/* Functions leave their variables' memory with the stack pointer's tag. */
	if (low < high)
		kasan_tags_fill(
			start, (high - start + KASAN_GRANULE_MASK) & ~(uintptr_t)KASAN_GRANULE_MASK,
			KASAN_TAG_KERNEL);
#else
	/* No stack has tags, because no code was compiled to tag it. */
	(void)low;
	(void)high;
#endif
}

/* --- Checks --- */

uint8_t kasan_tags_owner(uintptr_t addr)
{
#ifdef CONFIG_KASAN_SHADOW_HOLES
	if (!kasan_shadow_of((const void *)addr))
		return KASAN_TAG_INVALID;
#endif
	return kasan_tags_possible() ? (uint8_t)kasan_tags_owner_fast(addr) : KASAN_TAG_INVALID;
}

#ifdef CONFIG_KASAN_SW_TAGS
/* Do all @count shadow bytes equal those of @word? Reads no byte outside. */
static inline bool all_equal(const uint8_t *shadow, size_t count, uint64_t word)
{
	const uint8_t *const end = shadow + count;

	if (count < 8) {
		for (; shadow < end; shadow++) {
			if (*shadow != (uint8_t)word)
				return false;
		}
		return true;
	}
	for (; end - shadow > 32; shadow += 32) {
		if ((KASAN_WORD(shadow, 0) ^ word) | (KASAN_WORD(shadow, 1) ^ word) |
		    (KASAN_WORD(shadow, 2) ^ word) | (KASAN_WORD(shadow, 3) ^ word))
			return false;
	}
	for (; end - shadow > 8; shadow += 8) {
		if (KASAN_WORD(shadow, 0) ^ word)
			return false;
	}
	return KASAN_WORD(end - 8, 0) == word;
}

/* Does [@first, @last] certainly belong to pointers with @tag? The slow path decides about short granules. */
static inline bool range_ok(uintptr_t first, uintptr_t last, uint8_t tag)
{
	uint8_t *shadow, *end;

	if (kasan_unlikely(last < first || !kasan_shadow_at(first, &shadow) ||
			   !kasan_shadow_at(last, &end)))
		return false;
	return all_equal(shadow, (size_t)(end - shadow), tag * 0x0101010101010101ULL) &&
	       kasan_granule_matches(last, *end, tag, last & KASAN_GRANULE_MASK);
}
#endif

/* A pointer without a tag may access everything that a kernel address can name; where nothing is mapped, the MMU
 * decides. A pointer with a tag belongs to memory that has tags. */
bool kasan_find_bad(uintptr_t addr, size_t size, uintptr_t *bad)
{
	const uint8_t tag = kasan_addr_tag(addr);
	const uintptr_t first = kasan_untag_addr(addr), last = first + (size - 1);
	uintptr_t granule = first & ~(uintptr_t)KASAN_GRANULE_MASK;
	uint8_t state;

	if (kasan_likely(tag == KASAN_TAG_KERNEL))
		return false;
#ifdef CONFIG_KASAN_SW_TAGS
	if (kasan_likely(range_ok(first, last, tag)))
		return false;
#else
	/* One granule is read faster by itself. */
	if (last - granule >= KASAN_GRANULE_SIZE && kasan_likely(kasan_tags_all(first, last, tag)))
		return false;
#endif
	for (;; granule += KASAN_GRANULE_SIZE) {
		const bool ends = last - granule < KASAN_GRANULE_SIZE;

		if (!kasan_tags_read(granule, &state))
			break;
		if (!kasan_granule_matches(granule, state, tag,
					   ends ? last & KASAN_GRANULE_MASK : KASAN_GRANULE_MASK)) {
#ifdef CONFIG_KASAN_SW_TAGS
			/* The first bytes of a short granule may belong to this pointer. */
			if (state && state < KASAN_GRANULE_SIZE &&
			    kasan_granule_matches(granule, state, tag, 0))
				granule += state;
#endif
			break;
		}
		if (ends)
			return false;
	}
	*bad = granule > first ? granule : first;
	return true;
}

/* --- For others --- */

bool kasan_memory_state(const void *addr, uint8_t *state)
{
#ifdef CONFIG_KASAN_SHADOW_HOLES
	if (!kasan_shadow_of(addr))
		return false;
#endif
	return kasan_tags_read((uintptr_t)addr, state);
}

#endif /* CONFIG_KASAN_TAGS */
