/* SPDX-License-Identifier: MIT */
/*
 * tags.h - memory tags: the interface between the code that the two tag-based modes share and the storage
 * of the tags.
 *
 * The backend is tags/tags_sw.c (a shadow byte for each granule) or the architecture's (allocation tags of
 * the CPU). The code above it does not know which. tags/tag_policy.c decides which tag an allocation gets.
 *
 * Addresses may carry pointer tags everywhere: remove them before you dereference or compare.
 */
#ifndef KASAN_TAGS_H
#define KASAN_TAGS_H

#include "../base/base.h"

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

/* Boot parameters. A build without tags checks their values, but does not use them. */
extern enum kasan_tag_policy kasan_opt_tag_policy; /* kasan.tag_policy= */
extern unsigned int kasan_opt_hw_mode;		   /* kasan.mode=, enum kasan_hw_mode */
extern unsigned int kasan_opt_write_only;	   /* kasan.write_only= */

/** kasan_set_tag_policy() - set kasan_opt_tag_policy, which others only read. */
void kasan_set_tag_policy(enum kasan_tag_policy policy);

#ifdef CONFIG_KASAN_TAGS

/* --- Backend --- */

/* Bad accesses that the CPU only notes: kasan.mode=async, asymm. */
#ifdef CONFIG_KASAN_HW_TAGS
/** kasan_tags_take_async_fault() - has a tag check failed on this CPU since the last call, one of those
 *  that are not reported at once? */
bool kasan_tags_take_async_fault(void);

/** kasan_report_async_faults() - report it if so. @ip, @fp: as for any report. */
void kasan_report_async_faults(uintptr_t ip, uintptr_t fp);
#endif

/** kasan_tags_fill() - give all granules of the range a tag. @addr, @size: whole granules, all with tag
 *  memory that can be written; without tag memory nothing happens. Hot. */
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
 * Software mode: its shadow byte becomes @bytes, and its last byte of memory, which nobody may access,
 * becomes the tag. The compilers' checks know this encoding, including 0: an object without a byte.
 * Hardware has no such encoding: all of the granule becomes accessible.
 */
void kasan_tags_short(uintptr_t granule, unsigned int bytes, uint8_t tag);

/* --- Checks: tags/tags_check.c --- */

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

/** kasan_tags_match() - do the tags of @addr and of its memory allow a pointer @addr to touch the byte
 *  there? No report; true for pointers that match all memory and for memory without tags. */
bool kasan_tags_match(uintptr_t addr);

/** kasan_tags_owner() - Return: the tag that a pointer to the granule at @addr must have: its memory tag;
 *  for a short granule the tag that it keeps; KASAN_TAG_INVALID if it is free or has no tag. */
uint8_t kasan_tags_owner(uintptr_t addr);

/** kasan_tag_owns() - may a pointer with @tag free an allocation whose owner's tag is @owner? If the start is poisoned
 *  by its user, the owner's tag is lost, and any pointer may. */
static inline bool kasan_tag_owns(uint8_t tag, uint8_t owner)
{
	return kasan_likely(tag == owner) || owner == KASAN_USER_POISON ||
	       (tag == KASAN_TAG_KERNEL && owner != KASAN_TAG_INVALID);
}

/** kasan_tags_claim() - end the life of the allocation at @base, once, whatever other CPUs do at the same time
 *  @base: its first granule. @tag: of the pointer that is freed. Return: true if that is the owner's tag;
 *  then the first granule is KASAN_TAG_INVALID now, and the caller poisons the others. Hot. */
bool kasan_tags_claim(uintptr_t base, uint8_t tag);

/** kasan_tags_open() - make @size bytes at @addr accessible to pointers with @tag, to the byte where the
 *  backend can, and clear them if @init. @addr: start of a granule. */
void kasan_tags_open(uintptr_t addr, size_t size, uint8_t tag, bool init);

/* --- Policy: tags/tag_policy.c --- */

/** kasan_tag_random() - Return: any valid tag. */
uint8_t kasan_tag_random(void);

/** kasan_tag_for_slot() - the tag of a slab object
 *  @parity: 0 or 1, different for neighbouring slots; @last: tag of its last life, or KASAN_TAG_KERNEL if
 *  there was none. */
uint8_t kasan_tag_for_slot(unsigned int parity, uint8_t last);

/** kasan_tag_beside() - Return: @tag, or, if @a, @b or @c is the same, the next tag of its parity that
 *  differs from all three. */
uint8_t kasan_tag_beside(uint8_t tag, uint8_t a, uint8_t b, uint8_t c);

/** kasan_tag_avoiding() - Return: a tag that differs from all three (KASAN_TAG_KERNEL and KASAN_TAG_INVALID
 *  are allowed and exclude nothing). */
uint8_t kasan_tag_avoiding(uint8_t a, uint8_t b, uint8_t c);

/** kasan_tags_entropy() - Return: a random word of this CPU. kasan_port_seed() gives the start of the
 *  sequence. */
uint32_t kasan_tags_entropy(void);

#ifdef CONFIG_KASAN_HW_TAGS
/** kasan_tags_limit_blocks() - do without instructions for blocks of memory unless theirs are of these sizes, in bytes.
 *  Return: false if they are not those of the first CPU. */
bool kasan_tags_limit_blocks(size_t multiple, size_t zero);
#endif

/** kasan_tags_cpu_seed() - Return: where the sequence of 16 bits of CPU number @cpu starts, from 1 to 65535. It is
 *  another one for each of 65535 CPUs, whatever the port's @seed. */
uint16_t kasan_tags_cpu_seed(uint64_t seed, unsigned int cpu);

#endif /* CONFIG_KASAN_TAGS */
#endif /* KASAN_TAGS_H */
