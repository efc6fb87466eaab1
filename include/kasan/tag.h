/* SPDX-License-Identifier: MIT */
/*
 * tag.h - pointer tags: reading, replacing and removing the top byte of an address.
 *
 * In the tag-based modes a pointer to a heap object carries the object's tag in bits 63:56, which the CPU ignores when
 * it translates the address. Code that dereferences, compares for equality or passes on a pointer need not care. Code
 * that looks at the *address* must: ordering, subtracting pointers of different origin, turning an address into a page
 * or a physical address, comparing it with the bounds of a region. It calls kasan_reset_tag() first. In the other modes
 * nothing has a tag and all of this compiles to nothing.
 *
 * Pure arithmetic on values: any context.
 */
#ifndef KASAN_TAG_H
#define KASAN_TAG_H

#include <kasan/config.h>
#include <kasan/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef CONFIG_KASAN_TAGS

#define KASAN_TAG_SHIFT 56

/** kasan_untag_addr() - Return: the address that the CPU uses. Bit 55 says which half of the address space it is in, so
 *  a null or user address loses its tag too and stays in its half. */
static inline uintptr_t kasan_untag_addr(uintptr_t addr)
{
	return (uintptr_t)((intptr_t)(addr << (64 - KASAN_TAG_SHIFT)) >> (64 - KASAN_TAG_SHIFT));
}

/** kasan_addr_tag() - Return: tag of the address @addr. */
static inline uint8_t kasan_addr_tag(uintptr_t addr)
{
	return (uint8_t)(addr >> KASAN_TAG_SHIFT);
}

/** kasan_tag_addr() - Return: @addr with the tag @tag. */
static inline uintptr_t kasan_tag_addr(uintptr_t addr, uint8_t tag)
{
	return (addr & ~((uintptr_t)0xFF << KASAN_TAG_SHIFT)) | (uintptr_t)tag << KASAN_TAG_SHIFT;
}

#else

static inline uintptr_t kasan_untag_addr(uintptr_t addr)
{
	return addr;
}

static inline uint8_t kasan_addr_tag(uintptr_t addr)
{
	(void)addr;
	return 0xFF;
}

static inline uintptr_t kasan_tag_addr(uintptr_t addr, uint8_t tag)
{
	(void)tag;
	return addr;
}

#endif

/** kasan_reset_tag() - Return: @ptr without its tag: a kernel pointer that matches all memory. */
static inline void *kasan_reset_tag(const volatile void *ptr)
{
	return (void *)kasan_untag_addr((uintptr_t)ptr);
}

/** kasan_get_tag() - Return: the tag of @ptr; 0xFF in modes without tags. */
static inline uint8_t kasan_get_tag(const volatile void *ptr)
{
	return kasan_addr_tag((uintptr_t)ptr);
}

/** kasan_set_tag() - Return: @ptr with the tag @tag; @ptr itself in modes without tags. */
static inline void *kasan_set_tag(const volatile void *ptr, uint8_t tag)
{
	return (void *)kasan_tag_addr((uintptr_t)ptr, tag);
}

#ifdef __cplusplus
}
#endif

#endif /* KASAN_TAG_H */
