/* SPDX-License-Identifier: MIT */
/*
 * shadow.h - where the shadow byte of an address lies, and the check that runs on every access.
 *
 * There are two layouts (<kasan/config.h>). In the full one, translation is an addition, and an address outside
 * [CONFIG_KASAN_SHADOW_LOW, CONFIG_KASAN_SHADOW_HIGH] is inaccessible. In the windowed one, an address outside of every
 * window is accessible, and the first window is checked without a loop.
 *
 * Addresses are uintptr_t throughout: an int or a 32-bit mask would lose the upper half on 64-bit systems.
 */
#ifndef KASAN_SHADOW_H
#define KASAN_SHADOW_H

#include "../base/fill.h"

/* --- Translation --- */

/**
 * struct kasan_window - a range of memory with shadow (windowed layout)
 * @start: first address.
 * @size: bytes. 0: unused, which needs no separate test on the hot path.
 * @offset: the shadow of address a is at (a >> 3) + @offset.
 */
struct kasan_window {
	uintptr_t start;
	uintptr_t size;
	uintptr_t offset;
};

#if defined(CONFIG_KASAN_SHADOW_PIECES)

static kasan_always_inline bool kasan_shadow_run(uintptr_t addr, size_t size, uint8_t **shadow)
{
	uintptr_t last;

	*shadow = (uint8_t *)kasan_port_shadow(addr, &last);
	return *shadow && size - 1 <= last - addr;
}

#elif defined(CONFIG_KASAN_SHADOW_FULL)

/** kasan_shadow_run() - kasan_shadow_at() if all of [@addr, @addr + @size) has contiguous shadow. @size > 0. */
static inline bool kasan_shadow_run(uintptr_t addr, size_t size, uint8_t **shadow)
{
	addr = kasan_untag_addr(addr);
	return kasan_shadow_at(addr, shadow) && size - 1 <= KASAN_FULL_HIGH - addr;
}

#elif defined(CONFIG_KASAN_SHADOW_WINDOWED)

extern struct kasan_window kasan_windows[CONFIG_KASAN_MAX_WINDOWS];
extern unsigned int kasan_window_count;

/* The first window for checks of an access, which are the hottest code. As constants they take no load. They hold from
 * the start, so before the window is added a check may read what is not shadow yet. If that is not 0, kasan_find_bad()
 * looks closer, which finds no window. */
#ifdef CONFIG_KASAN_WINDOW_START
#define KASAN_FIRST_START ((uintptr_t)(CONFIG_KASAN_WINDOW_START))
#define KASAN_FIRST_SIZE  ((uintptr_t)(CONFIG_KASAN_WINDOW_SIZE))
#else
#define KASAN_FIRST_START (kasan_windows[0].start)
#define KASAN_FIRST_SIZE  (kasan_windows[0].size)
#endif
#if defined(CONFIG_KASAN_WINDOW_START) && !defined(CONFIG_KASAN_SHADOW_COMPACT)
#define KASAN_FIRST_OFFSET ((uintptr_t)(CONFIG_KASAN_SHADOW_OFFSET))
#else
#define KASAN_FIRST_OFFSET (kasan_windows[0].offset)
#endif

/** kasan_is_refused() - does a check refuse @addr, which lies in no window? Null pointers: see CONFIG_KASAN_NULL_CHECK.
 *  What cannot be an address: the access faults without one, and in a copy it faults in a function of the system's. */
static inline bool kasan_is_refused(uintptr_t addr)
{
#if CONFIG_KASAN_NULL_CHECK + 0
	if (addr < CONFIG_KASAN_NULL_CHECK)
		return true;
#endif
	return !kasan_arch_is_address(addr);
}

/* Return: the window that holds @addr and is not the first, or NULL. Not inline: many places ask, but few get that
 * far. */
const struct kasan_window *kasan_later_window(uintptr_t addr);

static kasan_always_inline const struct kasan_window *kasan_window_of(uintptr_t addr)
{
	if (kasan_likely(addr - kasan_windows[0].start < kasan_windows[0].size))
		return &kasan_windows[0];
	return kasan_later_window(addr);
}

/** kasan_window_gap_end() - Return: the end, at most @last, of the gap between windows that @addr lies in. */
uintptr_t kasan_window_gap_end(uintptr_t addr, uintptr_t last);

#ifndef CONFIG_KASAN_SHADOW_COMPACT
static inline bool kasan_shadow_at(uintptr_t addr, uint8_t **shadow)
{
	const struct kasan_window *window = kasan_window_of(addr);

	if (!window)
		return false;
	*shadow = (uint8_t *)((addr >> KASAN_SHADOW_SCALE_SHIFT) + window->offset);
	return true;
}

static kasan_always_inline bool kasan_shadow_run(uintptr_t addr, size_t size, uint8_t **shadow)
{
	const struct kasan_window *window = &kasan_windows[0];
	uintptr_t distance = addr - window->start, room = window->size, offset = window->offset;

	/* Copied numbers: through a pointer to either window compilers would load those of the first again. */
	if (kasan_unlikely(distance >= room)) {
		window = kasan_later_window(addr);
		if (!window)
			return false;
		distance = addr - window->start;
		room = window->size;
		offset = window->offset;
	}
	*shadow = (uint8_t *)((addr >> KASAN_SHADOW_SCALE_SHIFT) + offset);
	return kasan_likely(size <= room - distance);
}
#endif

#endif

#if defined(CONFIG_KASAN_HW_TAGS) || defined(CONFIG_KASAN_SHADOW_COMPACT)
/* No granule has a shadow byte of its own. */
static inline bool kasan_shadow_at(uintptr_t addr, uint8_t **shadow)
{
	(void)addr;
	(void)shadow;
	return false;
}
#endif

/* --- Writing shadow (shadow/poison.c) --- */

/** kasan_fill_pages() - write the shadow or tags of whole pages, all of which have some. @size is rounded up to
 *  pages. */
void kasan_fill_pages(uintptr_t addr, size_t size, uint8_t value);

/** kasan_poison_always(), kasan_poison_tail_always() - kasan_poison(), kasan_poison_tail() even with kasan=off, for
 *  memory whose users depend on it. */
void kasan_poison_always(const void *addr, size_t size, uint8_t value);
void kasan_poison_tail_always(const void *addr, size_t size, size_t span, uint8_t value);

/** kasan_poison_chunk() - write the shadow of a simple heap's chunk [@raw, @end), aligned to granules, even with
 *  kasan=off: KASAN_HEAP_LEFT_REDZONE, @size accessible bytes from @object on, KASAN_SLAB_REDZONE. heap.c does most
 *  chunks itself. */
void kasan_poison_chunk(uintptr_t raw, uintptr_t object, size_t size, uintptr_t end);

/** kasan_clear_granules() - make all granules that [@low, @high) touches accessible as a whole, where they have shadow.
 *  Unlike kasan_unpoison() it leaves no partial granule. */
void kasan_clear_granules(uintptr_t low, uintptr_t high);

/* The frame pointer that belongs to @ip, the return address of an ABI function. That function has no frame on its fast
 * path, nor where the compiler turns its last call into a jump: then our own return address is @ip. Otherwise our
 * return address lies inside the ABI function, and our frame record points to its frame. Both cases work whatever the
 * build flags are. The port's walk starts at our own frame. */
static inline uintptr_t kasan_abi_frame(uintptr_t ip, uintptr_t own_ip, uintptr_t own_fp)
{
#ifdef KASAN_PORT_HAS_WALK
	(void)ip;
	(void)own_ip;
	return own_fp;
#else
	return ip == own_ip ? own_fp : kasan_arch_frame_prev(own_fp);
#endif
}

#ifdef CONFIG_KASAN_GENERIC
/* --- Checks (shadow/shadow_check.c) --- */

/* Keeps an intermediate result. Otherwise compilers join operations with immediate operands into one whose constant
 * arm64 must first build in a register. */
#ifdef __aarch64__
#define kasan_keep(value) __asm__("" : "+r"(value))
#else
#define kasan_keep(value) ((void)0)
#endif

/**
 * kasan_access_ok() - is an access of constant @size (1, 2, 4, 8 or 16) certainly accessible?
 *
 * One shadow load and one compare. For an access in a partly accessible granule, and for an unaligned one that needs a
 * closer look, it returns false and kasan_find_bad() decides.
 */
static kasan_always_inline bool kasan_access_ok(uintptr_t addr, size_t size)
{
#ifdef CONFIG_KASAN_SHADOW_PIECES
	uintptr_t last;
	const uintptr_t shadow = kasan_port_shadow(addr, &last);

	if (kasan_unlikely(!shadow || (addr & KASAN_GRANULE_MASK & (size - 1))))
		return false;
	if (size == 16)
		return kasan_likely(last - addr >= 15 && *(const kasan_u16_any *)shadow == 0);
	return kasan_likely(*(const uint8_t *)shadow == 0);
#elif defined(CONFIG_KASAN_SHADOW_FAULTS)
	const uintptr_t shadow = kasan_shadow_blind(addr);
	uint16_t pair;

	if (size == 1)
		return kasan_likely(*(const uint8_t *)shadow == 0);
	/* The shadow of this granule and the next. Nearly always both are 0, and then alignment does not matter,
	 * because the access ends in one of them. */
	pair = *(const kasan_u16_any *)shadow;
	if (size == 16)
		return kasan_likely(!(pair | (uint32_t)(addr & KASAN_GRANULE_MASK) << 16));
	if (kasan_likely(!pair))
		return true;
	/* In the last granule of an object an aligned access stays inside. */
	return !(addr & (size - 1)) && !*(const uint8_t *)shadow;
#else
	/* The range test and the alignment test are one. Rotating the address right by 3 gives the granule's number
	 * with the low bits, which must be 0, on top, where they make it too large. */
	const uintptr_t rotated = (addr >> KASAN_SHADOW_SCALE_SHIFT) |
				  (addr << (KASAN_UINTPTR_BITS - KASAN_SHADOW_SCALE_SHIFT));
	/* The low bits that an aligned access within a granule may have set. */
	const uintptr_t loose = (KASAN_GRANULE_MASK & ~(uintptr_t)(size - 1))
				<< (KASAN_UINTPTR_BITS - KASAN_SHADOW_SCALE_SHIFT);
	uintptr_t shadow;

#ifdef CONFIG_KASAN_SHADOW_FULL
	const uintptr_t first = KASAN_FULL_LOW >> KASAN_SHADOW_SCALE_SHIFT;
	const uintptr_t last = KASAN_FULL_SPAN >> KASAN_SHADOW_SCALE_SHIFT;
	const uintptr_t base = first + KASAN_FULL_OFFSET;

	if (KASAN_FULL_CONSTANT && !(last & (last + 1)) && !((first | base) & last) &&
	    !(loose & ~base)) {
		/* Memory and shadow are aligned powers of two, as on most 64-bit kernels: differences become XOR, sums
		 * become OR, and the loose bits vanish in the ones of the shadow's address. The conditions are
		 * constants, and on arm64 every mask below is an immediate operand. */
		const uintptr_t split = ~(uintptr_t)0 << (KASAN_UINTPTR_BITS - 16);
		const uintptr_t granule = rotated ^ first;
		uintptr_t outside = granule & ~(last | loose);

		kasan_keep(outside);
		/* Two granules need two shadow bytes, so the last granule alone is too short. */
		if (kasan_unlikely(size == 16 ? granule >= last : outside))
			return false;
		shadow = granule | (base & split);
		kasan_keep(shadow);
		shadow |= base & ~split;
	} else {
		const uintptr_t granule = (rotated & ~loose) - first;

		if (kasan_unlikely(size == 16 ? granule >= last : granule > last))
			return false;
		shadow = granule + base;
	}
#else
	uintptr_t distance = addr - KASAN_FIRST_START;

#ifdef CONFIG_KASAN_WINDOW_START
	/* Or Clang compares other sums of the constants, which take more instructions to build. */
	__asm__("" : "+r"(distance));
#endif
	if (kasan_unlikely(rotated & ~(UINTPTR_MAX >> KASAN_SHADOW_SCALE_SHIFT) & ~loose))
		return false;
	if (distance >= KASAN_FIRST_SIZE) {
		/* Windows start and end at granules, so an access within one granule is either in or out. */
		return size <= KASAN_GRANULE_SIZE && kasan_window_count <= 1 &&
		       !kasan_is_refused(addr);
	}
	if (size == 16 && kasan_unlikely(KASAN_FIRST_SIZE - distance < 16))
		return false;
#ifdef CONFIG_KASAN_SHADOW_COMPACT
	/* Mostly the other granules of its shadow byte are accessible too. */
	return size <= KASAN_GRANULE_SIZE &&
	       kasan_likely(!*(const uint8_t *)((addr >> KASAN_WINDOW_SHIFT) + KASAN_FIRST_OFFSET));
#endif
	shadow = (addr >> KASAN_SHADOW_SCALE_SHIFT) + KASAN_FIRST_OFFSET;
#endif
	if (size == 16)
		return kasan_likely(*(const kasan_u16_any *)shadow == 0);
	return kasan_likely(*(const uint8_t *)shadow == 0);
#endif
}

#endif /* CONFIG_KASAN_GENERIC */

/* --- Scanning shadow --- */

#define KASAN_WORD(shadow, i) (((const kasan_u64_any *)(shadow))[i])
#define KASAN_WORDS2(shadow)  (KASAN_WORD(shadow, 0) | KASAN_WORD(shadow, 1))
#define KASAN_WORDS4(shadow)  (KASAN_WORDS2(shadow) | KASAN_WORD(shadow, 2) | KASAN_WORD(shadow, 3))

#define KASAN_WORDS8(shadow) (KASAN_WORDS4(shadow) | KASAN_WORDS4((shadow) + 32))

/**
 * kasan_shadow_clear() - are all of @count shadow bytes 0?
 *
 * It reads no byte outside, because a hole may follow the shadow. Loads that overlap cover the rest of a run without a
 * loop.
 */
static kasan_always_inline bool kasan_shadow_clear(const uint8_t *shadow, size_t count)
{
	const uint8_t *end = shadow + count;

#if UINTPTR_MAX <= UINT32_MAX
	/* Larger steps gain nothing on a small CPU, and this is inlined in many places. */
	if (count >= 4) {
		for (; shadow < end - 4; shadow += 4) {
			if (kasan_unlikely(*(const kasan_u32_any *)shadow))
				return false;
		}
		return !*(const kasan_u32_any *)(end - 4);
	}
#endif
	if (count > 64) {
		for (; kasan_unlikely(count > 128); count -= 64, shadow += 64) {
			if (kasan_unlikely(KASAN_WORDS8(shadow)))
				return false;
		}
		return !(KASAN_WORDS8(shadow) | KASAN_WORDS8(end - 64));
	}
	if (count > 16) {
		if (count > 32)
			return !(KASAN_WORDS4(shadow) | KASAN_WORDS4(end - 32));
		return !(KASAN_WORDS2(shadow) | KASAN_WORDS2(end - 16));
	}
	if (count >= 8)
		return !(KASAN_WORD(shadow, 0) | KASAN_WORD(end - 8, 0));
	if (count >= 4)
		return !(*(const kasan_u32_any *)shadow | *(const kasan_u32_any *)(end - 4));
	return !count || !(shadow[0] | shadow[count / 2] | end[-1]);
}

/** kasan_granule_allows() - may the byte at offset @byte of a granule with shadow @value be accessed? */
static inline bool kasan_granule_allows(uint8_t value, uintptr_t byte)
{
	return !value || (value < KASAN_GRANULE_SIZE && byte < value);
}

#if defined(CONFIG_KASAN_GENERIC) && defined(KASAN_FULL_LINEAR)
/* If the range is the top 2^n bytes, one AND per operand replaces the range test: an address inside has all upper bits
 * set, and a sane size has none. If every address has shadow, there are no such bits. */
#define KASAN_FULL_BITS_TELL                                                        \
	(KASAN_FULL_CONSTANT && KASAN_FULL_LOW && KASAN_FULL_HIGH == UINTPTR_MAX && \
	 !(KASAN_FULL_SPAN & (KASAN_FULL_SPAN + 1)))
/* Does a size that is negative as a signed number fit into the range? */
#define KASAN_FULL_FITS_NEGATIVE (KASAN_FULL_SPAN >= (uintptr_t)PTRDIFF_MAX)

#if UINTPTR_MAX > UINT32_MAX && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define KASAN_SHORT_RANGES 1
#else
#define KASAN_SHORT_RANGES 0
#endif
/* The most bytes whose shadow lies in at most two aligned words, wherever the range starts. */
#define KASAN_SHORT_MAX 64U

/* The aligned word with the shadow byte at @shadow. It crosses no page, so it can be read. */
static kasan_always_inline uint64_t kasan_word_around(const uint8_t *shadow)
{
	return *(const kasan_u64_alias *)((uintptr_t)shadow & ~(uintptr_t)7);
}

/**
 * kasan_short_shadow() - Return: not 0 if [@shadow, @end), of a range of 1 to KASAN_SHORT_MAX bytes, has a byte that is
 * not 0
 *
 * There is no branch: most ranges are short, and a branch costs more than all this arithmetic, above all in an
 * emulator. The words may contain other shadow, which is masked out.
 */
static kasan_always_inline uint64_t kasan_short_shadow(const uint8_t *shadow, const uint8_t *end)
{
	const uintptr_t first = (uintptr_t)shadow, last = (uintptr_t)end;
	const uint64_t low = kasan_word_around(shadow) & UINT64_MAX << first % 8 * 8;
	const uint64_t high = kasan_word_around(end) & ~(UINT64_MAX << last % 8 * 8);

	/* If both are one word, each mask hides what the other does not. */
	return first / 8 == last / 8 ? low & high : low | high;
}

/** kasan_word_ok() - kasan_range_ok() for few bytes in one or two granules, the operand of an atomic operation above all.
 *  The last granule may be partly accessible, as that of a variable of 4 bytes. False for larger ranges. */
static kasan_always_inline bool kasan_word_ok(uintptr_t addr, size_t size)
{
	const uintptr_t last = addr + size - 1;
	const uint8_t *shadow, *end;

	if (kasan_unlikely(size - 1 >= KASAN_GRANULE_SIZE))
		return false;
	if (KASAN_FULL_BITS_TELL ? ~(addr & last) & KASAN_FULL_LOW
				 : addr - KASAN_FULL_LOW > KASAN_FULL_SPAN - KASAN_GRANULE_SIZE)
		return false;
	shadow = (const uint8_t *)kasan_shadow_blind(addr);
	end = (const uint8_t *)kasan_shadow_blind(last);
	if (kasan_likely(!(*shadow | *end)))
		return true;
	return (shadow == end || !*shadow) && kasan_granule_allows(*end, last & KASAN_GRANULE_MASK);
}

/** kasan_range_ok() - is all of the range certainly accessible? False for a @size of 0, which the caller's slow path
 *  handles. */
static kasan_always_inline bool kasan_range_ok(uintptr_t addr, size_t size)
{
	const uintptr_t last = addr + size - 1;
	const uint8_t *shadow, *end;

	if (KASAN_FULL_BITS_TELL) {
		if (kasan_unlikely(~(addr & last & ~size) & KASAN_FULL_LOW))
			return false;
	} else if (kasan_unlikely(addr - KASAN_FULL_LOW > KASAN_FULL_SPAN ||
				  size - 1 > KASAN_FULL_HIGH - addr ||
				  (KASAN_FULL_FITS_NEGATIVE && size > (size_t)PTRDIFF_MAX))) {
		/* This includes ranges that wrap around. */
		return false;
	}
	shadow = (const uint8_t *)kasan_shadow_blind(addr);
	end = (const uint8_t *)kasan_shadow_blind(last);
	if (KASAN_SHORT_RANGES && size - 1 < KASAN_SHORT_MAX) {
		uint64_t before;

		/* Mostly what lies beside the range is accessible too, and no mask is needed. */
		if (!(kasan_word_around(shadow) | kasan_word_around(end)))
			return true;
		before = kasan_short_shadow(shadow, end);
		return kasan_likely(!(before | *end)) ||
		       (!before && kasan_granule_allows(*end, last & KASAN_GRANULE_MASK));
	}
	if (kasan_unlikely(*end) && !kasan_granule_allows(*end, last & KASAN_GRANULE_MASK))
		return false;
	return (size || !KASAN_FULL_BITS_TELL) &&
	       kasan_shadow_clear(shadow, (size_t)(end - shadow));
}

/** kasan_copy_ok() - kasan_range_ok() for both ranges of a copy, sharing the common work. */
static kasan_always_inline bool kasan_copy_ok(uintptr_t dst, uintptr_t src, size_t size)
{
#ifdef CONFIG_KASAN_SHADOW_FAULTS
	const uintptr_t dst_last = dst + size - 1, src_last = src + size - 1;

	if (KASAN_FULL_BITS_TELL) {
		const uintptr_t outside = ~(dst & src & dst_last & src_last & ~size);
		const uint8_t *d, *s, *d_end, *s_end;

		if (kasan_unlikely(outside & KASAN_FULL_LOW))
			return false;
		d_end = (const uint8_t *)kasan_shadow_blind(dst_last);
		s_end = (const uint8_t *)kasan_shadow_blind(src_last);
		d = (const uint8_t *)kasan_shadow_blind(dst);
		s = (const uint8_t *)kasan_shadow_blind(src);
		if (KASAN_SHORT_RANGES && size - 1 < KASAN_SHORT_MAX) {
			const uint64_t before =
				kasan_short_shadow(d, d_end) | kasan_short_shadow(s, s_end);

			return kasan_likely(!(before | *d_end | *s_end)) ||
			       (!before &&
				kasan_granule_allows(*d_end, dst_last & KASAN_GRANULE_MASK) &&
				kasan_granule_allows(*s_end, src_last & KASAN_GRANULE_MASK));
		}
		if (kasan_unlikely(*d_end | *s_end)) {
			if (!kasan_granule_allows(*d_end, dst_last & KASAN_GRANULE_MASK) ||
			    !kasan_granule_allows(*s_end, src_last & KASAN_GRANULE_MASK))
				return false;
		}
		/* Two runs of loads that may overlap cover such a size, wherever the ranges start. */
		if (size - 513 <= 1024 - 513)
			return !(KASAN_WORDS8(s) | KASAN_WORDS8(s_end - 64) | KASAN_WORDS8(d) |
				 KASAN_WORDS8(d_end - 64));
		if (size - 257 <= 512 - 257)
			return !(KASAN_WORDS4(s) | KASAN_WORDS4(s_end - 32) | KASAN_WORDS4(d) |
				 KASAN_WORDS4(d_end - 32));
		if (size - 129 <= 256 - 129)
			return !(KASAN_WORDS2(s) | KASAN_WORDS2(s_end - 16) | KASAN_WORDS2(d) |
				 KASAN_WORDS2(d_end - 16));
		return size && kasan_shadow_clear(s, (size_t)(s_end - s)) &&
		       kasan_shadow_clear(d, (size_t)(d_end - d));
	}
#endif
	return kasan_range_ok(src, size) && kasan_range_ok(dst, size);
}
#elif defined(CONFIG_KASAN_GENERIC)
static inline bool kasan_range_ok(uintptr_t addr, size_t size)
{
	(void)addr;
	(void)size;
	return false;
}

static inline bool kasan_copy_ok(uintptr_t dst, uintptr_t src, size_t size)
{
	(void)dst;
	(void)src;
	(void)size;
	return false;
}
#endif

#endif /* KASAN_SHADOW_H */
