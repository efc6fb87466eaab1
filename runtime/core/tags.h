/* SPDX-License-Identifier: MIT */
/*
 * tags.h - memory tags: the seam between what the two tag-based modes share and where the tags are kept.
 *
 * The backend is core/tags_sw.c (a shadow byte for each granule) or the architecture's (allocation tags of
 * the CPU). Above it nothing knows which. Which tag an allocation gets is core/tag_policy.c.
 *
 * Addresses may carry pointer tags everywhere: who dereferences or compares takes them off.
 */
#ifndef KASAN_TAGS_H
#define KASAN_TAGS_H

#include "internal.h"

/** kasan_tags_possible() - hardware mode: does the CPU have tags? */
#ifdef CONFIG_KASAN_HW_TAGS
bool kasan_tags_possible(void);
#else
static inline bool kasan_tags_possible(void)
{
	return true;
}
#endif

enum kasan_tag_policy {
	KASAN_TAG_POLICY_ADJACENT, /* neighbours differ, and so do consecutive owners */
	KASAN_TAG_POLICY_RANDOM,   /* every tag with equal chance */
};

/* Boot parameters. A build without tags checks their values, and nobody reads them. */
extern enum kasan_tag_policy kasan_opt_tag_policy; /* kasan.tag_policy= */
extern enum kasan_hw_mode kasan_opt_hw_mode;	   /* kasan.mode= */
extern bool kasan_opt_write_only;		   /* kasan.write_only= */

#ifdef CONFIG_KASAN_TAGS

/* --- Backend --- */

/* Bad accesses that the CPU only notes: kasan.mode=async, asymm. */
#ifdef CONFIG_KASAN_HW_TAGS
/** kasan_tags_take_async_fault() - did a tag check fail on this CPU, of those that are not reported at once,
 *  since the last call? */
bool kasan_tags_take_async_fault(void);

/** kasan_report_async_faults() - report it, if so. @ip, @fp: as of any report. */
void kasan_report_async_faults(uintptr_t ip, uintptr_t fp);
#endif

/** kasan_tags_fill() - give all granules of the range a tag. @addr, @size: whole granules, all with tag
 *  memory that can be written; where there is none nothing happens. Hot. */
void kasan_tags_fill(uintptr_t addr, size_t size, uint8_t tag);

/** kasan_tags_fill_zero() - the same, and clear the memory. */
void kasan_tags_fill_zero(uintptr_t addr, size_t size, uint8_t tag);

/** kasan_tags_read() - @tag: filled with the tag of the granule at @addr; software mode: its shadow byte,
 *  so perhaps the length of a short granule. Return: false if there is no tag memory. */
bool kasan_tags_read(uintptr_t addr, uint8_t *tag);

/**
 * kasan_tags_short() - the last granule of an object has only @bytes (0 to 15) accessible ones
 * @granule: its address. @tag: the object's.
 *
 * Software mode: its shadow byte becomes @bytes, and its last byte of memory, which no one may access, the
 * tag. The compilers' checks know this encoding, also the 0, which is an object without a byte. Hardware has
 * nothing like it: all of the granule becomes accessible.
 */
void kasan_tags_short(uintptr_t granule, unsigned int bytes, uint8_t tag);

/* --- Checks: core/tags_check.c --- */

/** kasan_granule_matches() - may a pointer with @tag touch bytes up to offset @last of the granule at
 *  @granule, whose state is @state? */
static inline bool kasan_granule_matches(uintptr_t granule, uint8_t state, uint8_t tag,
					 uintptr_t last)
{
	if (state == tag)
		return true;
#ifdef CONFIG_KASAN_SW_TAGS
	/* The byte is read through a pointer without a tag, and no instrumented code is involved. */
	return state < KASAN_GRANULE_SIZE && last < state &&
	       *(const volatile uint8_t *)(kasan_untag_addr(granule) | KASAN_GRANULE_MASK) == tag;
#else
	(void)granule;
	(void)last;
	return false;
#endif
}

/** kasan_tags_match() - may the byte at @addr be touched through @addr, by its tag and its memory's? No
 *  report; true for pointers that match all memory and for memory without tags. */
bool kasan_tags_match(uintptr_t addr);

/** kasan_tags_owner() - Return: the tag that a pointer to the granule at @addr must have: its memory tag, of
 *  a short granule the one that it keeps; KASAN_TAG_INVALID if it is nobody's or has none. */
uint8_t kasan_tags_owner(uintptr_t addr);

/** kasan_tag_owns() - may a pointer with @tag free an allocation whose owner's is @owner? */
static inline bool kasan_tag_owns(uint8_t tag, uint8_t owner)
{
	return tag == KASAN_TAG_KERNEL ? owner != KASAN_TAG_INVALID : tag == owner;
}

/** kasan_tags_claim() - end the life of the allocation at @base, once, whatever other CPUs do at the same time
 *  @base: its first granule. @tag: of the pointer that is freed. Return: true if that is its owner's; then
 *  its first granule is KASAN_TAG_INVALID now, and the caller ends the others. Hot. */
bool kasan_tags_claim(uintptr_t base, uint8_t tag);

/** kasan_tags_open() - make @size bytes at @addr accessible to pointers with @tag, to the byte where the
 *  backend can, and clear them if @init. @addr: a granule's. */
void kasan_tags_open(uintptr_t addr, size_t size, uint8_t tag, bool init);

/* --- Policy: core/tag_policy.c --- */

/** kasan_tag_random() - Return: any valid tag. */
uint8_t kasan_tag_random(void);

/** kasan_tag_for_slot() - the tag of a slab object
 *  @parity: 0 or 1, different for neighbouring slots; @last: tag of its last life, KASAN_TAG_KERNEL: none. */
uint8_t kasan_tag_for_slot(unsigned int parity, uint8_t last);

/** kasan_tag_beside() - Return: @tag, or if it is one of the three the next one of its parity that is none. */
uint8_t kasan_tag_beside(uint8_t tag, uint8_t a, uint8_t b, uint8_t c);

/** kasan_tag_avoiding() - a tag that is none of the three (KASAN_TAG_KERNEL, KASAN_TAG_INVALID: no matter). */
uint8_t kasan_tag_avoiding(uint8_t a, uint8_t b, uint8_t c);

/** kasan_tags_entropy() - Return: a random word of this CPU. The start is by kasan_port_entropy(). */
uint32_t kasan_tags_entropy(void);

#endif /* CONFIG_KASAN_TAGS */
#endif /* KASAN_TAGS_H */
