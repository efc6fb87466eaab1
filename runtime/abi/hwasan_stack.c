/* SPDX-License-Identifier: MIT */
/*
 * hwasan_stack.c - called by stack instrumentation of the software tag-based mode: __hwasan_tag_memory() for
 * objects that it does not tag by stores of its own, __hwasan_generate_tag() for the tag of a frame.
 */
#include "../core/shadow.h"
#include "../core/tags.h"

#ifdef CONFIG_KASAN_SW_TAGS

/*
 * @tag comes as the compilers computed it, upper bits included. They also round @size up to granules,
 * except for the last granule of an object that ends in a short one.
 */
void __hwasan_tag_memory(uintptr_t addr, uint8_t tag, size_t size);
KASAN_ABI void __hwasan_tag_memory(uintptr_t addr, uint8_t tag, size_t size)
{
	const uintptr_t start = addr & ~(uintptr_t)KASAN_GRANULE_MASK;
	const uintptr_t end = (addr + size + KASAN_GRANULE_MASK) & ~(uintptr_t)KASAN_GRANULE_MASK;

	kasan_tags_fill(start, end - start, tag);
}

uint8_t __hwasan_generate_tag(void);
KASAN_ABI uint8_t __hwasan_generate_tag(void)
{
	return kasan_tag_random();
}

#endif /* CONFIG_KASAN_SW_TAGS */
