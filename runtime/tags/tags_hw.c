/* SPDX-License-Identifier: MIT */
/*
 * tags_hw.c - memory tags in the CPU, for hardware tags.
 *
 * Slab objects are a few granules, so one instruction tags two of them. Pages take instructions that cover a block:
 * stgm, which writes the tags of up to 256 bytes, and dc gzva where memory must be cleared too.
 */
#include "tags_hot.h"

unsigned int kasan_opt_hw_mode;
unsigned int kasan_opt_write_only;

#ifdef CONFIG_KASAN_HW_TAGS

/* The CPU has tags, so the instructions of mte.h may be used. */
static bool present;

/* Bytes of a block for tags alone, and for tags and zeroes. Powers of two, or more than any range. */
static size_t multiple_size = SIZE_MAX, zero_size = SIZE_MAX;
size_t kasan_tags_page_step;

/* As the first CPU has them. */
static size_t first_multiple, first_zero;

/* Below this, looking for blocks costs more than it saves. */
#define SMALL 512U

void kasan_seed_hw_tags(void)
{
	kasan_mte_set_random(KASAN_HW_NO_TAGS,
			     kasan_tags_cpu_seed(kasan_port_seed(), kasan_port_cpu()));
}

void kasan_init_hw_tags(bool has_tags)
{
	if (has_tags) {
		const size_t zero = kasan_mte_zero_size();

		first_multiple = kasan_mte_multiple_size();
		first_zero = zero;

		/* The architecture allows blocks smaller than those of st2g, which would not help. */
		multiple_size =
			kasan_mte_multiple_size() > 32 ? kasan_mte_multiple_size() : SIZE_MAX;
		zero_size = zero > 32 ? zero : SIZE_MAX;
		if (CONFIG_KASAN_PAGE_SIZE % (16 * kasan_mte_multiple_size()) == 0)
			kasan_tags_page_step = kasan_mte_multiple_size();
		kasan_seed_hw_tags();
	}
	present = has_tags;
	if (!has_tags)
		kasan_set_hooks_off(true);
}

bool kasan_tags_limit_blocks(size_t multiple, size_t zero)
{
	/* Without tags, or after a call of this function, these are not sizes. */
	if (multiple_size != SIZE_MAX && multiple != multiple_size) {
		multiple_size = SIZE_MAX;
		kasan_tags_page_step = 0;
	}
	if (zero_size != SIZE_MAX && zero != zero_size)
		zero_size = SIZE_MAX;
	return multiple == first_multiple && zero == first_zero;
}

bool kasan_hw_tags_join(void)
{
	return kasan_tags_limit_blocks(kasan_mte_multiple_size(), kasan_mte_zero_size());
}

bool kasan_hw_tags_work(void *memory)
{
	const uintptr_t at = (uintptr_t)memory;

	kasan_mte_stg(kasan_tag_addr(at, 0xf5));
	kasan_mte_stg(kasan_tag_addr(at + 2 * KASAN_GRANULE_SIZE, 0xf6));
	return (kasan_mte_ldg(at) >> 56 & 15) == 5 &&
	       (kasan_mte_ldg(at + 2 * KASAN_GRANULE_SIZE) >> 56 & 15) == 6;
}

void kasan_no_write_only(void)
{
	kasan_opt_write_only = false;
}

bool kasan_write_only_enabled(void)
{
	return kasan_on() && kasan_opt_write_only;
}

bool kasan_tags_possible(void)
{
	return present;
}

bool kasan_tags_take_async_fault(void)
{
	unsigned long flags;
	bool noted;

	if (!kasan_on() || kasan_opt_hw_mode == KASAN_MODE_SYNC ||
	    kasan_likely(!kasan_mte_async_fault()))
		return false;
	/* Look again: an interrupt may have taken the note meanwhile, or moved this task to another CPU. */
	flags = kasan_port_irq_save();
	noted = kasan_mte_async_fault();
	if (noted)
		kasan_mte_clear_async_fault();
	kasan_port_irq_restore(flags);
	return noted;
}

static inline uintptr_t fill_small(uintptr_t at, uintptr_t end)
{
	while (end - at >= 2 * KASAN_GRANULE_SIZE)
		at = kasan_mte_st2g(at);
	if (at != end)
		at = kasan_mte_stg(at);
	return at;
}

/* What does not start or end with a block. */
static kasan_noinline uintptr_t fill_uneven(uintptr_t addr, size_t size)
{
	const size_t step = multiple_size, mask = step - 1;
	const uintptr_t end = addr + size;
	uintptr_t at = addr, last;

	if (size < step + mask) {
		fill_small(at, end);
		return addr;
	}
	at = fill_small(at, (at + mask) & ~mask);
	last = at + ((end - at) & ~mask);
	kasan_tags_fill_blocks(at, last - at, step);
	fill_small(last, end);
	return addr;
}

uintptr_t kasan_tags_fill_large(uintptr_t addr, size_t size)
{
	/* A copy, because compilers must assume that storing tags changes globals. */
	const size_t step = multiple_size;

	if (kasan_unlikely((addr | size) & (step - 1)))
		return fill_uneven(addr, size);
	kasan_tags_fill_blocks(addr, size, step);
	return addr;
}

void kasan_fill_pages(uintptr_t addr, size_t size, uint8_t value)
{
	if (size)
		kasan_tags_fill_pages_fast(kasan_tag_addr(addr, value), size);
}

void kasan_tags_fill(uintptr_t addr, size_t size, uint8_t tag)
{
	kasan_tags_fill_fast(addr, size, tag);
}

static inline uintptr_t zero_small(uintptr_t at, uintptr_t end)
{
	while (end - at >= 2 * KASAN_GRANULE_SIZE)
		at = kasan_mte_stz2g(at);
	if (at != end)
		at = kasan_mte_stzg(at);
	return at;
}

/* As many rounds of @count blocks as fit. Return: the address after them. */
static kasan_always_inline uintptr_t zero_blocks(uintptr_t at, uintptr_t end, size_t step,
						 const unsigned int count)
{
	while (end - at >= count * step) {
#pragma GCC unroll 16
		for (unsigned int i = 0; i < count; i++) {
			kasan_mte_dc_gzva(at);
			at += step;
		}
	}
	return at;
}

/* Whole blocks, at least one. */
static kasan_always_inline void zero_all_blocks(uintptr_t at, uintptr_t end, size_t step)
{
	/* A page of 4 KiB has 64 blocks of 64 bytes. */
	at = zero_blocks(at, end, step, 16);
	at = zero_blocks(at, end, step, 4);
	zero_blocks(at, end, step, 1);
}

/* What does not start or end with a block. */
static kasan_noinline void zero_uneven(uintptr_t at, size_t size)
{
	const size_t step = zero_size, mask = step - 1;
	const uintptr_t end = at + size;
	uintptr_t last;

	if (size < step + mask) {
		zero_small(at, end);
		return;
	}
	at = zero_small(at, (at + mask) & ~mask);
	last = at + ((end - at) & ~mask);
	zero_all_blocks(at, last, step);
	zero_small(last, end);
}

void kasan_tags_fill_zero(uintptr_t addr, size_t size, uint8_t tag)
{
	const size_t step = zero_size;
	uintptr_t at = kasan_tag_addr(addr, tag);

	if (size < SMALL) {
		if (size & 256) {
			at = kasan_mte_stz2g(kasan_mte_stz2g(at));
			at = kasan_mte_stz2g(kasan_mte_stz2g(at));
			at = kasan_mte_stz2g(kasan_mte_stz2g(at));
			at = kasan_mte_stz2g(kasan_mte_stz2g(at));
		}
		if (size & 128) {
			at = kasan_mte_stz2g(kasan_mte_stz2g(at));
			at = kasan_mte_stz2g(kasan_mte_stz2g(at));
		}
		if (size & 64)
			at = kasan_mte_stz2g(kasan_mte_stz2g(at));
		if (size & 32)
			at = kasan_mte_stz2g(at);
		if (size & 16)
			kasan_mte_stzg(at);
	} else if (kasan_unlikely((at | size) & (step - 1))) {
		zero_uneven(at, size);
	} else {
		zero_all_blocks(at, at + size, step);
	}
}

bool kasan_tags_read(uintptr_t addr, uint8_t *tag)
{
	unsigned long flags;
	bool tagged;

	if (!present)
		return false;
	addr = kasan_untag_addr(addr);
	flags = kasan_port_irq_save();
	tagged = kasan_mte_is_tagged(addr);
	if (tagged)
		*tag = (uint8_t)(kasan_mte_ldg(addr) >> 56) | 0xf0;
	kasan_port_irq_restore(flags);
	return tagged;
}

/* One instruction reads the tags of so many bytes on all CPUs that have tags so far. Others read granule by granule. */
#define BLOCK 256UL

bool kasan_tags_all(uintptr_t first, uintptr_t last, uint8_t tag)
{
	const uint64_t wanted = (tag & 15) * 0x1111111111111111ULL;
	uintptr_t at = first & ~(BLOCK - 1);
	uint64_t mask = ~0ULL << (first - at) / KASAN_GRANULE_SIZE * 4;
	uint64_t different = 0;

	if (kasan_unlikely(!present || multiple_size != BLOCK || last < first))
		return false;
	for (;;) {
		const uintptr_t page_end = at | (CONFIG_KASAN_PAGE_SIZE - 1);
		const uintptr_t end = last < page_end ? last : page_end;
		const unsigned long flags = kasan_port_irq_save();
		/* Blocks do not cross pages. */
		const bool tagged = kasan_mte_is_tagged(at);

		if (tagged) {
			for (; end - at >= BLOCK; at += BLOCK) {
				different |= (kasan_mte_ldgm(at) ^ wanted) & mask;
				mask = ~0ULL;
			}
			mask &= ~0ULL >> (60 - (end - at) / KASAN_GRANULE_SIZE * 4);
			different |= (kasan_mte_ldgm(at) ^ wanted) & mask;
			mask = ~0ULL;
			at += BLOCK;
		}
		kasan_port_irq_restore(flags);
		if (!tagged || different || end == last)
			return tagged && !different;
	}
}

/* No instruction exchanges tags. Memory that was handed out has tags; if this has none after all, both instructions do
 * nothing. */
bool kasan_tags_claim(uintptr_t base, uint8_t tag)
{
	const uintptr_t addr = kasan_untag_addr(base);
	struct kasan_lock *lock = kasan_claim_lock_of(addr);
	const unsigned long flags = kasan_lock(lock);
	const bool ok = kasan_tag_owns(tag, (uint8_t)(kasan_mte_ldg(addr) >> 56) | 0xf0);

	if (kasan_likely(ok))
		kasan_mte_stg(kasan_tag_addr(addr, KASAN_TAG_INVALID));
	kasan_unlock(lock, flags);
	return ok;
}

void kasan_tags_short(uintptr_t granule, unsigned int bytes, uint8_t tag)
{
	if (bytes)
		kasan_mte_stg(kasan_tag_addr(granule, tag));
}

#endif /* CONFIG_KASAN_HW_TAGS */
