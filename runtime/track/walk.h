/* SPDX-License-Identifier: MIT */
/*
 * walk.h - following frame pointers, inline because every allocation and every free does it.
 *
 * The very bug that is being reported may have broken the chain, or the chain may run through code built without frame
 * pointers. So a record is read only inside the bounds that the port gives for the running stack, and the chain must
 * climb: garbage ends the trace and can neither fault nor loop.
 */
#ifndef KASAN_WALK_H
#define KASAN_WALK_H

#include "track.h"

/* The most frames of an allocator between a hook and the function that it reports, rarely more than three. */
#define KASAN_SEARCH_FRAMES 8

/**
 * struct kasan_bounds - where a frame pointer may lie so that its record is inside the stack. @low: the lowest; @span:
 * distance to the highest. One compare tests both.
 */
struct kasan_bounds {
	uintptr_t low, span;
};

static inline bool kasan_is_frame(const struct kasan_bounds *bounds, uintptr_t fp)
{
	return fp - bounds->low <= bounds->span && !(fp & (KASAN_FRAME_ALIGN - 1));
}

/** kasan_get_bounds() - Return: false if the stack [@start, @end) is not known, or smaller than a record, whose span
 *  would wrap around. */
static inline bool kasan_get_bounds(uintptr_t start, uintptr_t end, struct kasan_bounds *bounds)
{
	if (!start || end < start + 256)
		return false;
	/* kasan_frame_room() assumes that the bits below a unit are those of the frame pointer alone. With an odd @end,
	 * which only a broken task has, it would follow a record that points out of the stack. */
	end &= ~((uintptr_t)KASAN_FRAME_ALIGN - 1);
	bounds->low = start - (uintptr_t)KASAN_FRAME_RECORD_LOW;
	bounds->span = end - (uintptr_t)KASAN_FRAME_RECORD_HIGH - bounds->low;
	return true;
}

/** kasan_frame_room() - Return: the distance from @fp up to the highest frame pointer, in units of KASAN_FRAME_ALIGN.
 *  It is huge if @fp is above that or not aligned, because the bits below a unit, and a sign, end up at the top. So a
 *  caller's frame is good if its room is less than that of the good one below it. */
static inline uintptr_t kasan_frame_room(const struct kasan_bounds *bounds, uintptr_t fp)
{
	const unsigned int shift = __builtin_ctz(KASAN_FRAME_ALIGN);
	const uintptr_t left = bounds->low + bounds->span - fp;

	return left >> shift | left << (sizeof(left) * 8 - shift);
}

/** kasan_frame_left() - kasan_frame_room() for comparing a stack with a trace that kasan_follow() has collected. If the
 *  CPU reads frames that are not aligned, there is no need to test for them: the return addresses do not fit. */
static inline uintptr_t kasan_frame_left(const struct kasan_bounds *bounds, uintptr_t fp)
{
	return KASAN_ARCH_READS_UNALIGNED ? bounds->low + bounds->span - fp
					  : kasan_frame_room(bounds, fp);
}

/** kasan_hook_frame() - Return: the frame of the hook that has called a function whose frame is @fp. @ip: the hook's return
 *  address. The compiler may have turned the call into a jump; then @fp itself returns there. */
static inline uintptr_t kasan_hook_frame(uintptr_t ip, uintptr_t fp)
{
#if KASAN_FOLLOWS_FRAMES
	return kasan_arch_frame_ra(fp) == ip ? fp : kasan_arch_frame_prev(fp);
#else
	(void)ip;
	return fp;
#endif
}

uintptr_t kasan_skip_far(const struct kasan_bounds *bounds, uintptr_t ip, uintptr_t fp);

/** kasan_skip_to() - Return: the frame above the one that returns to @ip; @fp itself if none of the first few does.
 *  Nearly always it is the first, the hook's own; kasan_skip_far() handles the others. */
static kasan_always_inline uintptr_t kasan_skip_to(const struct kasan_bounds *bounds, uintptr_t ip,
						   uintptr_t fp)
{
	uintptr_t prev;

	if (kasan_likely(kasan_is_frame(bounds, fp) && kasan_arch_frame_ra(fp) == ip)) {
		prev = kasan_arch_frame_prev(fp);
		return prev > fp ? prev : 0;
	}
	return kasan_skip_far(bounds, ip, fp);
}

/** kasan_follow() - collect return addresses from the record at @fp on, after the @count entries of @pcs. Return: the
 *  new number of entries. */
static kasan_always_inline size_t kasan_follow(const struct kasan_bounds *bounds, uintptr_t fp,
					       uintptr_t *pcs, size_t count, size_t max)
{
	struct kasan_bounds highest = {0, bounds->low + bounds->span};
	uintptr_t *at = pcs + count, *const end = pcs + max;
	uintptr_t room, next;

	if (!kasan_is_frame(bounds, fp))
		return count;
	/* Otherwise the compiler adds these up again for each frame. */
	__asm__("" : "+r"(highest.span));
	room = kasan_frame_room(&highest, fp);
	while (at < end) {
		const uintptr_t ra = kasan_arch_frame_ra(fp);

		if (!ra)
			break;
		*at++ = ra;
		fp = kasan_arch_frame_prev(fp);
		next = kasan_frame_room(&highest, fp);
		if (next >= room)
			break;
		room = next;
	}
	return (size_t)(at - pcs);
}

/* --- Comparing a stack with a known trace --- */

/** kasan_known_mix() - add the next word to the key of a stack. Its low 32 bits suffice: the code of a system is
 *  smaller than 4 GiB, and a signature is in the upper half. */
static inline uint32_t kasan_known_mix(uint32_t key, uintptr_t word)
{
#if defined(__riscv) && !defined(__riscv_zbb)
	/* It has no instruction for a rotation, and takes three. */
	return key * 0x9e3779b1U ^ (uint32_t)word;
#else
	return (key >> 13 | key << 19) ^ (uint32_t)word;
#endif
}

/* How many frames are compared without a loop. A small CPU has few registers and little flash for more than one. */
#if UINTPTR_MAX > UINT32_MAX
#define KASAN_NEAR (CONFIG_KASAN_NEAR_FRAMES)
_Static_assert(KASAN_NEAR >= 1 && KASAN_NEAR <= 7, "the loop over them is unrolled eight times");
#else
#define KASAN_NEAR 1
#endif

/**
 * struct kasan_near_frames - the frames after the hook's own
 * @ra: return addresses of the first KASAN_NEAR, if @far: there are so many and one more. They may be signed, and 0, which
 * ends a trace, from the third on. @fp: the next frame. @room: kasan_frame_left() of @fp. @key: where known.c enters the trace.
 */
struct kasan_near_frames {
	uintptr_t ra[KASAN_NEAR];
	uintptr_t fp, room;
	uint32_t key;
	bool far;
};

/** kasan_start_frames() - look at the frames of a trace that starts with @ip. @fp: the first one; it may follow a frame
 *  that has @room left. Return: false if there are not two. */
static kasan_always_inline bool kasan_start_frames(const struct kasan_bounds *bounds, uintptr_t ip,
						   uintptr_t fp, uintptr_t room,
						   struct kasan_near_frames *start)
{
	/* Not in @start, which may be in memory. */
	uint32_t key = (uint32_t)ip;
	unsigned int i;

	start->fp = start->room = 0;
	start->far = false;
	/* All of these are in the key, because the nearest are often malloc() and functions around it, the same for all
	 * callers. */
#pragma GCC unroll 8
	for (i = 0; i <= KASAN_NEAR; i++) {
		const uintptr_t next = kasan_frame_left(bounds, fp);
		uintptr_t ra;

		if (kasan_unlikely(next >= room)) {
			start->key = key;
			return i >= 2;
		}
		room = next;
		ra = kasan_arch_frame_raw_ra(fp);
		key = kasan_known_mix(key, ra);
		if (i == KASAN_NEAR)
			break;
		start->ra[i] = ra;
		fp = kasan_arch_frame_prev(fp);
	}
	start->far = true;
	start->fp = fp;
	start->room = room;
	/* The depth in bytes depends on all functions of the trace. */
	start->key = key + (uint32_t)room;
	return true;
}

/* Compares the raw word first: a return address without signature does not change by stripping. */
static kasan_always_inline bool kasan_is_ra(uintptr_t raw, uintptr_t pc)
{
	return kasan_likely(raw == pc) || (KASAN_ARCH_SIGNS_RA && kasan_arch_strip_ra(raw) == pc);
}

static kasan_always_inline bool kasan_returns_to(uintptr_t fp, uintptr_t pc)
{
	return kasan_is_ra(kasan_arch_frame_raw_ra(fp), pc);
}

/* One branch for two conditions, of which a compiler that thinks them predictable makes two. So does a small CPU, and
 * RISC-V, where making a number of each condition takes longer. */
#if UINTPTR_MAX <= UINT32_MAX || defined(__riscv)
#define kasan_either(a, b) ((a) || (b))
#elif defined(__clang__)
#define kasan_either(a, b) __builtin_unpredictable((a) | (b))
#else
#define kasan_either(a, b) ((a) | (b))
#endif

/* kasan_follow() stops at so many bytes after the first return address. */
#define KASAN_MOST_BYTES ((CONFIG_KASAN_STACK_DEPTH - 1) * sizeof(uintptr_t))

/* kasan_same_frames() for any frames: those from @fp on, and @bytes of return addresses at @pcs. @most: kasan_follow()
 * would stop after them. */
static kasan_always_inline bool kasan_same_any(const struct kasan_bounds *bounds, uintptr_t fp,
					       const uintptr_t *pcs, size_t bytes, bool most)
{
	const uintptr_t *const end = (const uintptr_t *)((uintptr_t)pcs + bytes);
	uintptr_t room = kasan_frame_left(bounds, fp), prev, next;

	for (; pcs != end; pcs++) {
		prev = kasan_arch_frame_prev(fp);
		next = kasan_frame_left(bounds, prev);
		/* One branch for both, because branches are most of the work here, above all in an emulator. */
		if (kasan_either(kasan_arch_frame_raw_ra(fp) != *pcs, next >= room)) {
			if (!kasan_returns_to(fp, *pcs))
				return false;
			/* The chain ends here, and so must the trace. */
			if (next >= room)
				return pcs + 1 == end;
		}
		fp = prev;
		room = next;
	}
	/* The stack must end here too. */
	return most || !kasan_arch_frame_ra(fp);
}

#if UINTPTR_MAX > UINT32_MAX

#ifndef KASAN_ARCH_HAS_SAME_CHAIN
/* See arch.h. As long as nothing is special, two at a time, because what is known of a frame stays in the same registers:
 * 17 instructions instead of 26. */
static kasan_always_inline bool kasan_arch_same_chain(uintptr_t *fp, uintptr_t *left, uintptr_t top,
						      const uintptr_t *pcs, size_t bytes)
{
	const uintptr_t *const end = (const uintptr_t *)((uintptr_t)pcs + bytes);
	const struct kasan_bounds bounds = {0, top};
	uintptr_t at = *fp, room = *left, prev, next;

	if ((end - pcs) % 2) {
		prev = kasan_arch_frame_prev(at);
		next = kasan_frame_left(&bounds, prev);
		if (kasan_either(kasan_arch_frame_raw_ra(at) != *pcs, next >= room))
			return false;
		at = prev;
		room = next;
		pcs++;
	}
	for (; pcs != end; pcs += 2) {
		prev = kasan_arch_frame_prev(at);
		next = kasan_frame_left(&bounds, prev);
		if (kasan_either(kasan_arch_frame_raw_ra(at) != pcs[0], next >= room))
			return false;
		at = kasan_arch_frame_prev(prev);
		room = kasan_frame_left(&bounds, at);
		if (kasan_either(kasan_arch_frame_raw_ra(prev) != pcs[1], room >= next))
			return false;
	}
	*fp = at;
	*left = room;
	return true;
}
#endif

/* kasan_same_frames() if nothing is special: no signature, and more than the near frames. False says nothing. */
static kasan_always_inline bool kasan_same_plain(const struct kasan_bounds *bounds,
						 const struct kasan_near_frames *start,
						 uintptr_t ip, const uintptr_t *pcs, size_t bytes)
{
	const size_t near = KASAN_NEAR * sizeof(ip), far = bytes - near - sizeof(ip);
	uintptr_t fp = start->fp, room = start->room, prev;
	bool same = ip == pcs[0];
	unsigned int i;

	if (kasan_unlikely(bytes <= near))
		return false;
#pragma GCC unroll 8
	for (i = 0; i < KASAN_NEAR; i++)
		same &= start->ra[i] == pcs[1 + i];
	if (kasan_either(!same, false))
		return false;
	if (!kasan_arch_same_chain(&fp, &room, bounds->low + bounds->span, pcs + 1 + KASAN_NEAR,
				   far))
		return false;
	/* The last one: the chain ends with it, or with a record of 0. */
	prev = kasan_arch_frame_prev(fp);
	if (kasan_unlikely(kasan_arch_frame_raw_ra(fp) !=
			   *(const uintptr_t *)((uintptr_t)pcs + bytes)))
		return false;
	return kasan_frame_left(bounds, prev) >= room ||
	       kasan_likely(!kasan_arch_frame_raw_ra(prev)) || bytes == KASAN_MOST_BYTES;
}

#else

static kasan_always_inline bool kasan_same_plain(const struct kasan_bounds *bounds,
						 const struct kasan_near_frames *start,
						 uintptr_t ip, const uintptr_t *pcs, size_t bytes)
{
	_Static_assert(KASAN_NEAR == 1, "compared without a loop");
	return bytes > sizeof(ip) && pcs[0] == ip && kasan_is_ra(start->ra[0], pcs[1]) &&
	       kasan_same_any(bounds, start->fp, pcs + 2, bytes - sizeof(ip),
			      bytes == KASAN_MOST_BYTES);
}

#endif

/* kasan_same_frames() from the @first frame on, if kasan_same_plain() does not help. */
static kasan_always_inline bool kasan_same_whole(const struct kasan_bounds *bounds, uintptr_t ip,
						 uintptr_t first, const uintptr_t *pcs,
						 size_t bytes)
{
	return pcs[0] == ip &&
	       kasan_same_any(bounds, first, pcs + 1, bytes, bytes == KASAN_MOST_BYTES);
}

/** kasan_same_frames() - is the trace at @pcs, of @ip and @bytes of return addresses more, what kasan_follow() would
 *  collect from @start on? @first: as for kasan_start_frames(). */
static kasan_always_inline bool kasan_same_frames(const struct kasan_bounds *bounds,
						  const struct kasan_near_frames *start,
						  uintptr_t ip, uintptr_t first,
						  const uintptr_t *pcs, size_t bytes)
{
	return (start->far && kasan_same_plain(bounds, start, ip, pcs, bytes)) ||
	       kasan_same_whole(bounds, ip, first, pcs, bytes);
}

#endif /* KASAN_WALK_H */
