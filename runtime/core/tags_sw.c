/* SPDX-License-Identifier: MIT */
/*
 * tags_sw.c - memory tags in shadow bytes: the backend of the software tag-based mode.
 *
 * A shadow byte is the tag of its granule, KASAN_TAG_INVALID, or 1 to 15. That is a short granule: this
 * many of its bytes are accessible to pointers with the tag that its last byte of memory holds.
 */
#include "tags_hot.h"

#ifdef CONFIG_KASAN_SW_TAGS

void kasan_tags_fill(uintptr_t addr, size_t size, uint8_t tag)
{
	uint8_t *shadow, *last;

	if (!size || !kasan_shadow_at(addr, &shadow) || !kasan_shadow_at(addr + (size - 1), &last))
		return;
	kasan_shadow_fill(shadow, tag, size >> KASAN_SHADOW_SCALE_SHIFT);
}

void kasan_tags_fill_zero(uintptr_t addr, size_t size, uint8_t tag)
{
	kasan_tags_fill(addr, size, tag);
	__memset((void *)kasan_untag_addr(addr), 0, size);
}

bool kasan_tags_read(uintptr_t addr, uint8_t *tag)
{
	uint8_t *shadow;

	if (!kasan_shadow_at(addr, &shadow))
		return false;
	*tag = __atomic_load_n(shadow, __ATOMIC_RELAXED);
	return true;
}

void kasan_tags_short(uintptr_t granule, unsigned int bytes, uint8_t tag)
{
	uint8_t *shadow;

	if (!kasan_shadow_at(granule, &shadow))
		return;
	/* First the tag, then the shadow byte that makes it count: a check on another CPU may come in between. */
	*(uint8_t *)(kasan_untag_addr(granule) | KASAN_GRANULE_MASK) = tag;
	__atomic_store_n(shadow, (uint8_t)bytes, __ATOMIC_RELEASE);
}

uintptr_t kasan_tags_open_short(uintptr_t addr, size_t size)
{
	kasan_tags_open(addr, size, kasan_addr_tag(addr), false);
	return addr;
}

/* --- Translation for others --- */

uint8_t *kasan_shadow_of(const void *addr)
{
	uint8_t *shadow;

	return kasan_shadow_at((uintptr_t)addr, &shadow) ? shadow : NULL;
}

bool kasan_shadow_fault_to_access(uintptr_t shadow, uintptr_t *addr)
{
	const uintptr_t granule = shadow - KASAN_FULL_OFFSET;

	if (granule > UINTPTR_MAX >> KASAN_SHADOW_SCALE_SHIFT)
		return false;
	/* Inline checks look up every address with its top byte set. */
	*addr = kasan_untag_addr(granule << KASAN_SHADOW_SCALE_SHIFT);
	return true;
}

#endif /* CONFIG_KASAN_SW_TAGS */
