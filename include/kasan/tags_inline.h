/* SPDX-License-Identifier: MIT */
/*
 * tags_inline.h - tag memory and tag policy, as far as <kasan/slab_inline.h> inlines them.
 *
 * Each function does only the common case, calls nothing, and says whether it did, so that a hook has few registers to
 * save. Functions of the runtime do the rest, with the same results. The including file must not be instrumented.
 */
#ifndef KASAN_TAGS_INLINE_H
#define KASAN_TAGS_INLINE_H

#include <kasan/core.h>
#include <kasan/port.h>
#include <kasan/shadow_inline.h>

#ifdef CONFIG_KASAN_TAGS

#ifdef CONFIG_KASAN_HW_TAGS
#include <kasan/mte.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --- Policy --- */

#define KASAN_TAG_COUNT (KASAN_TAG_MAX - KASAN_TAG_MIN + 1)
/* Half of them are even. */
#define KASAN_TAG_KIND_COUNT (KASAN_TAG_COUNT / 2)

/**
 * struct kasan_tag_generator - a linear congruential generator, one for each CPU
 * @state: 0: not seeded yet.
 * @factor, @step: constants. They are here because loading all three together takes the fewest instructions.
 *
 * Each has a cache line, because every allocation writes its CPU's.
 */
struct kasan_tag_generator {
	uint32_t state, factor, step;
} __attribute__((__aligned__(64)));
extern struct kasan_tag_generator kasan_tag_generators[CONFIG_KASAN_NR_CPUS];

/** kasan_tag_spread() - Return: a number in [0, @bound), evenly spread. @bound is at most 256. Uses the upper bits of
 *  @random, which are the random ones. */
static inline unsigned int kasan_tag_spread(uint32_t random, unsigned int bound)
{
	return ((random >> 8) * bound) >> 24;
}

/** kasan_tag_next() - Return: the next tag of the same parity; after the last one, the first. */
static inline unsigned int kasan_tag_next(unsigned int tag)
{
	return tag + 2 > KASAN_TAG_MAX ? KASAN_TAG_MIN + (tag & 1) : tag + 2;
}

/** kasan_tags_cpu_seed() - Return: where the sequence of CPU number @cpu starts, 16 bits, never 0. Up to 65535 CPUs
 *  start at different places, whatever the port's @seed. */
uint16_t kasan_tags_cpu_seed(uint64_t seed, unsigned int cpu);

/* --- Tag memory --- */

/** kasan_tags_fill() - give all granules of the range a tag. @addr, @size: whole granules whose tags can be written.
 *  Without tag memory nothing happens. Hot. */
void kasan_tags_fill(uintptr_t addr, size_t size, uint8_t tag);

/** kasan_tags_fill_zero() - the same, and clear the memory. */
void kasan_tags_fill_zero(uintptr_t addr, size_t size, uint8_t tag);

/** kasan_tags_owner() - Return: the tag that a pointer to the granule at @addr must have, also if the granule is short;
 *  KASAN_TAG_INVALID if it is free or has no tag. */
uint8_t kasan_tags_owner(uintptr_t addr);

/*
 * kasan_tags_owner_fast() - kasan_tags_owner()
 *
 * kasan_tags_fill_fast() - kasan_tags_fill() for the granules of an object, which have tag memory. @size: rounded up to
 * whole granules.
 *
 * kasan_tags_open_fast() - kasan_tags_open() for the tag of @addr, without clearing. Return: @addr.
 *
 * kasan_tags_whole_owner() - is @object, which has a tag, certainly the pointer that owns its slot, and would it have
 * no short granule with @size bytes?
 *
 * kasan_tags_claim_here() - end the life of @object, which starts at its slot, if it is the pointer that owns the slot.
 * Interrupts are off, and @cpu is this CPU. Return: false if it does not, or if another CPU claims an object of the same
 * page; then nothing has changed.
 */

/* Hardware tags take a lock for each free of a slab object, so there are many. All allocations in a page share one, because
 * CPUs tend to free in pages of their own. */
#if CONFIG_KASAN_NR_CPUS > 1
#define KASAN_CLAIM_LOCKS 64U
#else
#define KASAN_CLAIM_LOCKS 1U
#endif

/** struct kasan_claim_lock - held while an allocation's life ends. @owner: the number of the CPU that holds it, plus 1; 0:
 *  free. */
struct kasan_claim_lock {
	unsigned int owner;
} __attribute__((__aligned__(64)));
extern struct kasan_claim_lock kasan_claim_locks[KASAN_CLAIM_LOCKS];

/** kasan_claim_lock_at() - Return: the lock of the allocation at @addr. */
static inline struct kasan_claim_lock *kasan_claim_lock_at(uintptr_t addr)
{
	return &kasan_claim_locks[addr / CONFIG_KASAN_PAGE_SIZE % KASAN_CLAIM_LOCKS];
}

/* Return: @size rounded up to whole granules. */
static kasan_always_inline size_t kasan_tags_whole(size_t size)
{
	return (size + KASAN_GRANULE_MASK) & ~(size_t)KASAN_GRANULE_MASK;
}

#ifdef CONFIG_KASAN_HW_TAGS

static kasan_always_inline unsigned int kasan_tags_owner_fast(uintptr_t addr)
{
	unsigned long flags;
	bool tagged;

	addr = kasan_untag_addr(addr);
	flags = kasan_port_irq_save();
	tagged = kasan_mte_is_tagged(addr);
	kasan_port_irq_restore(flags);
	return tagged ? (unsigned int)(kasan_mte_ldg(addr) >> 56) | 0xf0 : KASAN_TAG_INVALID;
}

/* kasan_tags_fill() of more bytes than kasan_tags_fill_fast() does. Return: @addr, so that the caller need not keep
 * it. */
uintptr_t kasan_tags_fill_large(uintptr_t addr, size_t size);

/* The most bytes that are tagged without a loop. */
#define KASAN_TAGS_FEW (512U - KASAN_GRANULE_SIZE)

/* Tag the part of @size that is 128 bytes or more, and the part that is less. The first returns the address after
 * it. */
static kasan_always_inline uintptr_t kasan_tags_fill_upper(uintptr_t addr, size_t size)
{
	if (size & 256) {
		addr = kasan_mte_st2g(kasan_mte_st2g(addr));
		addr = kasan_mte_st2g(kasan_mte_st2g(addr));
		addr = kasan_mte_st2g(kasan_mte_st2g(addr));
		addr = kasan_mte_st2g(kasan_mte_st2g(addr));
	}
	if (size & 128) {
		addr = kasan_mte_st2g(kasan_mte_st2g(addr));
		addr = kasan_mte_st2g(kasan_mte_st2g(addr));
	}
	return addr;
}

static kasan_always_inline void kasan_tags_fill_lower(uintptr_t addr, size_t size)
{
	if (size & 64)
		addr = kasan_mte_st2g(kasan_mte_st2g(addr));
	if (size & 32)
		addr = kasan_mte_st2g(addr);
	if (size & 16)
		kasan_mte_stg(addr);
}

/* kasan_tags_fill() with the tag of @addr for at most KASAN_TAGS_FEW bytes, whole granules. */
static kasan_always_inline void kasan_tags_fill_few(uintptr_t addr, size_t size)
{
	if (kasan_unlikely(size >= 128))
		addr = kasan_tags_fill_upper(addr, size);
	kasan_tags_fill_lower(addr, size);
}

/* The size of stgm's block if a page is a multiple of 16 of these, else 0. Constant after the start. */
extern size_t kasan_tags_page_step;

/* Return: the size of stgm's block if [@addr, @addr + @size) consists of such blocks; 0 if not, or if they are too
 * small to help. */
static kasan_always_inline size_t kasan_tags_blocks(uintptr_t addr, size_t size)
{
	const size_t step = kasan_tags_page_step;

	return kasan_likely(step && !((addr | size) & (step - 1))) ? step : 0;
}

/* Give all granules the tag of @addr. @step: from kasan_tags_blocks(), not 0. */
static kasan_always_inline void kasan_tags_fill_blocks(uintptr_t addr, size_t size, size_t step)
{
	const uint64_t tags = (addr >> 56 & 15) * 0x1111111111111111ULL;
	uintptr_t block = kasan_untag_addr(addr);
	const uintptr_t end = block + size;

	while (end - block >= 4 * step) {
#pragma GCC unroll 4
		for (unsigned int i = 0; i < 4; i++) {
			kasan_mte_stgm(block, tags);
			block += step;
		}
	}
	for (; block != end; block += step)
		kasan_mte_stgm(block, tags);
}

static kasan_always_inline uintptr_t kasan_tags_fill_fast(uintptr_t addr, size_t size,
							  unsigned int tag)
{
	const uintptr_t start = kasan_tag_addr(addr, (uint8_t)tag);

	addr = start;
	size += KASAN_GRANULE_MASK;
	if (kasan_unlikely(size >= 128)) {
		if (kasan_unlikely(size >= KASAN_TAGS_FEW + KASAN_GRANULE_SIZE)) {
			size_t step;

			size &= ~(size_t)KASAN_GRANULE_MASK;
			step = kasan_tags_blocks(addr, size);
			if (kasan_unlikely(!step))
				return kasan_tags_fill_large(addr, size);
			kasan_tags_fill_blocks(addr, size, step);
			return start;
		}
		addr = kasan_tags_fill_upper(addr, size);
	}
	kasan_tags_fill_lower(addr, size);
	return start;
}

/* Resize the object at @addr, which has @most bytes, to @size bytes; kasan_tags_whole_owner() is true. Return: false if
 * that takes more than a few instructions; then nothing has happened. */
static kasan_always_inline bool kasan_tags_resize(uintptr_t addr, size_t size, size_t most)
{
	const size_t whole = kasan_tags_whole(size), span = kasan_tags_whole(most);

	if (kasan_likely(span == 64)) {
		/* All of it first, because that does not depend on the size. */
		addr = kasan_mte_st2g(kasan_mte_st2g(addr));
		if (whole == 64)
			return true;
		/* At most 48 bytes are left. */
		addr = kasan_tag_addr(addr - 64 + whole, KASAN_TAG_INVALID);
		if (whole <= 32)
			addr = kasan_mte_st2g(addr);
		if (whole & 16)
			kasan_mte_stg(addr);
		return true;
	}
	if (kasan_unlikely(span > KASAN_TAGS_FEW))
		return false;
	kasan_tags_fill_few(addr, whole);
	kasan_tags_fill_few(kasan_tag_addr(addr + whole, KASAN_TAG_INVALID), span - whole);
	return true;
}

static kasan_always_inline uintptr_t kasan_tags_open_fast(uintptr_t addr, size_t size)
{
	/* The CPU checks whole granules. */
	return kasan_tags_fill_fast(addr, size, kasan_addr_tag(addr));
}

/* No instruction exchanges tags, so there is a lock. Memory that was handed out has tags; if this has none after all,
 * both instructions do nothing. */
static kasan_always_inline bool kasan_tags_whole_owner(uintptr_t object, size_t size)
{
	(void)size;
	return kasan_mte_ldg(object) == object;
}

static kasan_always_inline bool kasan_tags_claim_here(uintptr_t object, unsigned int cpu)
{
	unsigned int *owner = &kasan_claim_lock_at(object)->owner, unowned = 0;
	bool ok;

	if (kasan_unlikely(!__atomic_compare_exchange_n(owner, &unowned, cpu + 1U, false,
							__ATOMIC_ACQUIRE, __ATOMIC_RELAXED)))
		return false;
	/* These instructions ignore the tag of the pointer itself. */
	ok = kasan_mte_ldg(object) == object;
	if (kasan_likely(ok))
		kasan_mte_stg_as(object, (uintptr_t)KASAN_TAG_INVALID << KASAN_TAG_SHIFT);
	__atomic_store_n(owner, 0U, __ATOMIC_RELEASE);
	return ok;
}

#else

/* kasan_tags_open_fast() of an object that ends with a short granule. */
uintptr_t kasan_tags_open_short(uintptr_t addr, size_t size);

/* For memory that certainly has shadow. */
static kasan_always_inline uint8_t *kasan_tags_shadow(uintptr_t addr)
{
#ifdef CONFIG_KASAN_SHADOW_FAULTS
	return (uint8_t *)kasan_shadow_blind(addr);
#else
	uint8_t *shadow = NULL;

	return kasan_shadow_at(addr, &shadow) ? shadow : NULL;
#endif
}

static kasan_always_inline unsigned int kasan_tags_owner_fast(uintptr_t addr)
{
	uint8_t *shadow, state;

	if (!kasan_shadow_at(addr, &shadow))
		return KASAN_TAG_INVALID;
	state = __atomic_load_n(shadow, __ATOMIC_RELAXED);
	if (state < KASAN_GRANULE_SIZE)
		return *(const volatile uint8_t *)(kasan_untag_addr(addr) | KASAN_GRANULE_MASK);
	return state;
}

static kasan_always_inline void kasan_tags_fill_fast(uintptr_t addr, size_t size, unsigned int tag)
{
	uint8_t *shadow = kasan_tags_shadow(addr);
	const size_t count = (size + KASAN_GRANULE_MASK) >> KASAN_SHADOW_SCALE_SHIFT;

	/* Two stores that may overlap, for objects of 64 to 128 bytes. */
	if (kasan_likely(count - 4 <= 4)) {
		*(kasan_u32_any *)shadow = tag * 0x01010101U;
		*(kasan_u32_any *)(shadow + count - 4) = tag * 0x01010101U;
	} else {
		kasan_fill_inline(shadow, (uint8_t)tag, count);
	}
}

/* No range is too long. */
#define KASAN_TAGS_FEW				 SIZE_MAX
#define kasan_tags_blocks(addr, size)		 ((size_t)1)
#define kasan_tags_fill_blocks(addr, size, step) ((void)0)

static kasan_always_inline void kasan_tags_fill_few(uintptr_t addr, size_t size)
{
	kasan_tags_fill_fast(addr, size, kasan_addr_tag(addr));
}

static kasan_always_inline bool kasan_tags_resize(uintptr_t addr, size_t size, size_t most)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	/* Its shadow is one word, in which the bytes from @size / 16 on are of granules that the object does not have. */
	if (kasan_likely(most == 64)) {
		const uint32_t own = kasan_addr_tag(addr) * 0x01010101U;
		const uint64_t other = own ^ KASAN_TAG_INVALID * 0x01010101U;

		*(kasan_u32_any *)kasan_tags_shadow(addr) = own ^ (uint32_t)(other << size / 2);
		return true;
	}
#endif
	/* No granule is short. */
	kasan_tags_fill_few(addr, size);
	kasan_tags_fill_few(kasan_tag_addr(addr + size, KASAN_TAG_INVALID),
			    kasan_tags_whole(most) - size);
	return true;
}

static kasan_always_inline uintptr_t kasan_tags_open_fast(uintptr_t addr, size_t size)
{
	if (kasan_unlikely((size & KASAN_GRANULE_MASK) || !size))
		return kasan_tags_open_short(addr, size);
	kasan_tags_fill_fast(addr, size, kasan_addr_tag(addr));
	return addr;
}

static kasan_always_inline bool kasan_tags_whole_owner(uintptr_t object, size_t size)
{
	const uint8_t tag = kasan_addr_tag(object);

	return tag >= KASAN_TAG_MIN && !(size & KASAN_GRANULE_MASK) &&
	       __atomic_load_n(kasan_tags_shadow(object), __ATOMIC_RELAXED) == tag;
}

static kasan_always_inline bool kasan_tags_claim_here(uintptr_t object, unsigned int cpu)
{
	uint8_t *shadow = kasan_tags_shadow(object), tag = kasan_addr_tag(object);

	(void)cpu;
	/* A state below the smallest tag is the length of a short granule. If another CPU is faster, the object is
	 * free, or already has another owner and tag. */
	return kasan_likely(tag >= KASAN_TAG_MIN) &&
	       __atomic_compare_exchange_n(shadow, &tag, KASAN_TAG_INVALID, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

#endif

#ifdef __cplusplus
}
#endif

#endif /* CONFIG_KASAN_TAGS */
#endif /* KASAN_TAGS_INLINE_H */
