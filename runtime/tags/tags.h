/* SPDX-License-Identifier: MIT */
/*
 * tags.h - memory tags: the interface between the code that both tag modes share and the storage of the tags.
 *
 * The storage is tags_sw.c (a shadow byte for each granule) or tags_hw.c (allocation tags of the CPU); the code above
 * does not know which. tag_policy.c decides which tag an allocation gets.
 *
 * Addresses may carry pointer tags everywhere: remove them before you dereference or compare.
 */
#ifndef KASAN_TAGS_H
#define KASAN_TAGS_H

#include "../base/base.h"

#include <kasan/tags_inline.h>

/** kasan_tags_possible() - does the CPU have tags? Always true with software tags. */
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

/* Boot parameters. Builds without tags only check their values. */
extern unsigned int kasan_opt_tag_policy; /* kasan.tag_policy=, enum kasan_tag_policy */
extern unsigned int kasan_opt_hw_mode;	  /* kasan.mode=, enum kasan_hw_mode */
extern unsigned int kasan_opt_write_only; /* kasan.write_only= */

void kasan_set_tag_policy(enum kasan_tag_policy policy);

#ifdef CONFIG_KASAN_TAGS

/* --- Backend --- */

/* Bad accesses that the CPU notes and reports later: kasan.mode=async, asymm. */
#ifdef CONFIG_KASAN_HW_TAGS
/** kasan_tags_take_async_fault() - has the CPU noted a failed tag check since the last call? */
bool kasan_tags_take_async_fault(void);

/** kasan_report_async_faults() - report it if so. @ip, @fp: as for any report. */
void kasan_report_async_faults(uintptr_t ip, uintptr_t fp);
#endif

/** kasan_tags_read() - @tag: filled with the tag of the granule at @addr; with software tags its shadow byte, which may
 *  be the length of a short granule. Return: false if there is no tag memory. */
bool kasan_tags_read(uintptr_t addr, uint8_t *tag);

/** kasan_tags_owner_beside() - kasan_tags_owner() of the granule at @addr, which is next to memory that has shadow, at
 *  @own. Asks the port whether there is shadow only where it is on another page. */
static inline uint8_t kasan_tags_owner_beside(uintptr_t addr, uintptr_t own)
{
#ifdef CONFIG_KASAN_SHADOW_HOLES
	if (kasan_unlikely((kasan_untag_addr(addr) ^ kasan_untag_addr(own)) >>
			   KASAN_SHADOW_SCALE_SHIFT >= CONFIG_KASAN_PAGE_SIZE))
		return kasan_tags_owner(addr);
	return (uint8_t)kasan_tags_owner_fast(addr);
#else
	(void)own;
	return kasan_tags_owner(addr);
#endif
}

/** kasan_tags_all() - hardware tags: do all granules of [@first, @last], addresses without tags, certainly have @tag? Reads
 *  16 granules at a time, and asks once for each page whether it has tags. */
bool kasan_tags_all(uintptr_t first, uintptr_t last, uint8_t tag);

/**
 * kasan_tags_short() - only the first @bytes (0 to 15) of an object's last granule are accessible
 * @granule: its address. @tag: the object's.
 *
 * With software tags the shadow byte becomes @bytes, and the granule's last byte of memory, which nothing may access,
 * holds the tag. The compilers' checks know this encoding, also for 0 bytes. Hardware has no such encoding: all of the
 * granule becomes accessible.
 */
void kasan_tags_short(uintptr_t granule, unsigned int bytes, uint8_t tag);

/* --- Checks: tags/tags_check.c --- */

/** kasan_granule_matches() - may a pointer with @tag access bytes up to offset @last of the granule at @granule, whose
 *  state is @state? */
static inline bool kasan_granule_matches(uintptr_t granule, uint8_t state, uint8_t tag,
					 uintptr_t last)
{
	if (state == tag)
		return true;
#ifdef CONFIG_KASAN_SW_TAGS
	/* Through a pointer without a tag, and not by instrumented code. */
	return state < KASAN_GRANULE_SIZE && last < state &&
	       *(const volatile uint8_t *)(kasan_untag_addr(granule) | KASAN_GRANULE_MASK) == tag;
#else
	(void)granule;
	(void)last;
	return false;
#endif
}

/** kasan_tag_owns() - may a pointer with @tag free an allocation whose owner's tag is @owner? If its user has poisoned
 *  the start, the owner's tag is lost, and any pointer may. */
static inline bool kasan_tag_owns(uint8_t tag, uint8_t owner)
{
	return kasan_likely(tag == owner) || owner == KASAN_USER_POISON ||
	       (tag == KASAN_TAG_KERNEL && owner != KASAN_TAG_INVALID);
}

/**
 * kasan_tags_claim() - end the life of the allocation at @base exactly once, whatever other CPUs do meanwhile
 * @base: its first granule. @tag: of the pointer that is freed. Return: true if @tag owns it; the first granule is now
 * KASAN_TAG_INVALID, and the caller poisons the others. Hot.
 */
bool kasan_tags_claim(uintptr_t base, uint8_t tag);

/** kasan_tags_open() - make @size bytes at @addr, the start of a granule, accessible to pointers with @tag, to the byte
 *  where that is possible, and clear them if @init. */
void kasan_tags_open(uintptr_t addr, size_t size, uint8_t tag, bool init);

/* --- Policy: tags/tag_policy.c --- */

uint8_t kasan_tag_random(void);

/** kasan_tag_for_slot() - Return: the tag of a slab object. @parity: 0 or 1, different for neighbouring slots; @last:
 *  the tag of its last life, KASAN_TAG_KERNEL if there was none. */
uint8_t kasan_tag_for_slot(unsigned int parity, uint8_t last);

/** kasan_tag_beside() - Return: @tag, or the next tag of its parity that differs from @a, @b and @c. */
uint8_t kasan_tag_beside(uint8_t tag, uint8_t a, uint8_t b, uint8_t c);

/** kasan_tag_avoiding() - Return: a tag that differs from all three. KASAN_TAG_KERNEL and KASAN_TAG_INVALID exclude
 *  nothing. */
uint8_t kasan_tag_avoiding(uint8_t a, uint8_t b, uint8_t c);

/** kasan_tags_entropy() - Return: a random word of this CPU. kasan_port_seed() starts the sequence. */
uint32_t kasan_tags_entropy(void);

#endif /* CONFIG_KASAN_TAGS */
#endif /* KASAN_TAGS_H */
