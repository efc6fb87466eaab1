/* SPDX-License-Identifier: MIT */
/*
 * slab_inline.h - the hooks of slab objects as inline functions, in the tag modes.
 *
 * kasan_slab_alloc() and kasan_slab_free() work for every allocator. One that includes this file can do most of their
 * work on its own fast path, without two calls, and with interrupts off once for both. It first looks at
 * kasan_slab_flags, and calls the hook if they are not 0 or if the inline function says so. Both ways can be mixed,
 * object by object.
 *
 * The including file must not be instrumented, and has the same CONFIG_KASAN_* as the runtime. kernel/mm/slab_entry.c is
 * an example.
 */
#ifndef KASAN_SLAB_INLINE_H
#define KASAN_SLAB_INLINE_H

#include <kasan/slab.h>
#include <kasan/tags_inline.h>

#ifdef CONFIG_KASAN_TAGS

#ifdef __cplusplus
extern "C" {
#endif

/* --- The tag of the next life --- */

/* Is the slot of @cache at @addr the first or last one of its page, or larger? Its neighbours may then belong to
 * another owner, which knows nothing of even and odd tags. */
static kasan_always_inline bool kasan_slab_at_edge(const struct kasan_cache *cache, uintptr_t addr)
{
	return (addr & (CONFIG_KASAN_PAGE_SIZE - 1)) - 1 >= cache->inner_offsets;
}

/**
 * kasan_slab_retag() - choose the tag of a slot by the policy "adjacent"
 * @object: its address with the last owner's tag; gets another tag of the same parity.
 *
 * Return: false if kasan_slab_alloc() has to find a tag, because there is no random number yet, or with software tags
 * because this is the first owner.
 */
#ifdef CONFIG_KASAN_HW_TAGS

/* Bits 15:0 are the tags that no pointer may get, repeated because this is an instruction's immediate operand. */
#define KASAN_TAGS_NEVER 0xc003c003c003c003ULL
/* Rotated right by 16 less the last tag, bits 15:0 are that tag and all tags of the other parity. */
#define KASAN_TAGS_OTHERS (0xaaaaaaaaaaaaaaaaULL | 1ULL << 16)
#define KASAN_TAGS_ODD	  0xaaaaULL

/* Return: @exclude with the tag of the memory at @addr, if it has one. */
static kasan_always_inline uint64_t kasan_slab_exclude(uintptr_t addr, uint64_t exclude)
{
	const unsigned long flags = kasan_port_irq_save();
	const bool tagged = kasan_mte_is_tagged(addr);

	kasan_port_irq_restore(flags);
	return tagged ? kasan_mte_gmi(kasan_mte_ldg(addr), exclude) : exclude;
}

/* Return: @exclude with the tags on those sides of an edge slot where no slot of the same slab is. */
static kasan_always_inline uint64_t kasan_slab_exclude_beside(const struct kasan_cache *cache,
							      uintptr_t addr, uint64_t exclude)
{
	addr = kasan_untag_addr(addr);
	if (!(addr & (CONFIG_KASAN_PAGE_SIZE - 1))) {
		exclude = kasan_slab_exclude(addr - KASAN_GRANULE_SIZE, exclude);
		if (kasan_likely(cache->slot_size < CONFIG_KASAN_PAGE_SIZE))
			return exclude;
	}
	return kasan_slab_exclude(addr + cache->slot_size, exclude);
}

static kasan_always_inline bool kasan_slab_retag(const struct kasan_cache *cache, uintptr_t *object)
{
	/* 48 more than the CPU's tag, which is the rotation to the left. */
	const unsigned int last = (unsigned int)(*object >> KASAN_TAG_SHIFT);
	uint64_t exclude;

	/* A first owner has no last tag. Slots are counted from address 0, and the number of this one gives the parity. */
	if (kasan_unlikely(last == KASAN_TAG_KERNEL))
		exclude = KASAN_TAGS_ODD >> (kasan_untag_addr(*object) / cache->slot_size & 1);
	else
		exclude = KASAN_TAGS_OTHERS << (last & 63) | KASAN_TAGS_OTHERS >> (-last & 63);
	exclude |= KASAN_TAGS_NEVER;
	if (kasan_unlikely(kasan_slab_at_edge(cache, *object)))
		exclude = kasan_slab_exclude_beside(cache, *object, exclude);
	*object = kasan_mte_irg(*object, exclude);
	/* The CPU returns 0 if its own register excludes all other tags, or is not set up yet. */
	return kasan_likely(*object & (uintptr_t)15 << KASAN_TAG_SHIFT);
}

#else

/* The tags on both sides of an edge slot; KASAN_TAG_INVALID for a side where a slot of the same slab is. */
static kasan_always_inline void kasan_slab_look_beside(const struct kasan_cache *cache,
						       uintptr_t addr, unsigned int *before,
						       unsigned int *after)
{
	*before = *after = KASAN_TAG_INVALID;
	if (!(addr & (CONFIG_KASAN_PAGE_SIZE - 1))) {
		*before = kasan_tags_owner_fast(addr - KASAN_GRANULE_SIZE);
		if (kasan_likely(cache->slot_size < CONFIG_KASAN_PAGE_SIZE))
			return;
	}
	*after = kasan_tags_owner_fast(addr + cache->slot_size);
}

static kasan_always_inline bool kasan_slab_retag(const struct kasan_cache *cache, uintptr_t *object)
{
	struct kasan_tag_generator *generator = &kasan_tag_generators[kasan_port_cpu()];
	uint32_t state = __atomic_load_n(&generator->state, __ATOMIC_RELAXED);
	const unsigned int last = kasan_addr_tag(*object);
	unsigned int tag, before, after;

	if (kasan_unlikely(!state || last - KASAN_TAG_MIN >= KASAN_TAG_COUNT))
		return false;
	state = state * generator->factor + generator->step;
	__atomic_store_n(&generator->state, state, __ATOMIC_RELAXED);
	/* One to all but one steps further in the circle of tags of one parity. */
	tag = last + 2 + 2 * kasan_tag_spread(state, KASAN_TAG_KIND_COUNT - 1);
	if (tag > KASAN_TAG_MAX)
		tag -= KASAN_TAG_COUNT;
	if (kasan_unlikely(kasan_slab_at_edge(cache, *object))) {
		kasan_slab_look_beside(cache, *object, &before, &after);
		/* The tag differs from the last one already. */
		while (tag == before || tag == after) {
			do {
				tag = kasan_tag_next(tag);
			} while (tag == last);
		}
	}
	*object = kasan_tag_addr(*object, (uint8_t)tag);
	return true;
}

#endif

/* --- The hooks --- */

/**
 * kasan_slab_tag_inline(), kasan_slab_open_inline() - the two halves of kasan_slab_alloc() while kasan_slab_flags is 0
 * @object: the first half takes the slot, not NULL, and fills in the tagged pointer, which the second half takes. Not
 * for memory that must be cleared while it is tagged.
 * @size: as for kasan_slab_alloc().
 *
 * The first half returns false if nothing has happened and kasan_slab_alloc() must be called. The second half returns
 * the user's pointer; a caller that only passes it on needs no registers for that.
 */
static kasan_always_inline bool kasan_slab_tag_inline(const struct kasan_cache *cache,
						      void **object, size_t size)
{
	uintptr_t addr = (uintptr_t)*object;

	if (kasan_unlikely(size > cache->plain_size || !kasan_slab_retag(cache, &addr)))
		return false;
	*object = (void *)addr;
	return true;
}

static kasan_always_inline void *kasan_slab_open_inline(void *object, size_t size)
{
	return (void *)kasan_tags_open_fast((uintptr_t)object, size);
}

/**
 * kasan_slab_realloc_inline() - kasan_slab_realloc() while kasan_slab_flags is 0, for an object at the start of a slot
 * of @cache
 *
 * Return: true: the object now has @size bytes. False: nothing has happened, and the allocator must check the pointer
 * and perhaps move the object.
 */
static kasan_always_inline bool kasan_slab_realloc_inline(const struct kasan_cache *cache,
							  const void *object, size_t size)
{
	const uintptr_t addr = (uintptr_t)object;
	/* Read once: compilers must assume that reading tags changes memory. */
	const size_t most = cache->plain_size;

	return kasan_likely(size - 1 < most && kasan_tags_whole_owner(addr, size)) &&
	       kasan_tags_resize(addr, size, most);
}

/**
 * kasan_slab_free_inline() - kasan_slab_free() while kasan_slab_flags is 0
 * @object: starts at a slot of @cache, whose plain_free is not 0. @cpu: this CPU. Interrupts are off.
 *
 * If two CPUs free the same object at the same time, exactly one of them gets true.
 *
 * Return: true: as KASAN_FREE_NOW. False: nothing has happened; call kasan_slab_free() with interrupts on again, which
 * handles pointers that match all memory and short granules, waits for other CPUs, and reports.
 */
static kasan_always_inline bool kasan_slab_free_inline(const struct kasan_cache *cache,
						       const void *object, unsigned int cpu)
{
	const uintptr_t addr = (uintptr_t)object;
	const size_t size =
		((size_t)cache->plain_free + KASAN_GRANULE_MASK) & ~(size_t)KASAN_GRANULE_MASK;
	size_t step = 0;

	/* A function that calls nothing saves no registers, so what needs any is left to the hook. */
	if (kasan_unlikely(size > KASAN_TAGS_FEW)) {
		step = kasan_tags_blocks(addr, size);
		if (kasan_unlikely(!step))
			return false;
	}
	if (kasan_unlikely(!kasan_tags_claim_here(addr, cpu)))
		return false;
	if (kasan_unlikely(step))
		kasan_tags_fill_blocks(kasan_tag_addr(addr, KASAN_SLAB_FREE), size, step);
	else
		kasan_tags_fill_few(kasan_tag_addr(addr, KASAN_SLAB_FREE), size);
	return true;
}

#ifdef __cplusplus
}
#endif

#endif /* CONFIG_KASAN_TAGS */
#endif /* KASAN_SLAB_INLINE_H */
