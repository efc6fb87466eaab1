/* SPDX-License-Identifier: MIT */
/*
 * walk.h - following frame pointers, inline: every allocation and every free does it.
 *
 * The very bug that is being reported may have broken the chain, or the chain may run through code built
 * without frame pointers. So a record is read only inside the bounds that the port gives for the running
 * stack, and the chain must climb: garbage ends the trace and can neither fault nor loop.
 */
#ifndef KASAN_WALK_H
#define KASAN_WALK_H

#include "track.h"

#include "../arch/arch.h"

/* An allocator's own frames between a hook and the function it reports: rarely more than three. */
#define KASAN_SEARCH_FRAMES 8

/**
 * struct kasan_bounds - where a frame pointer may lie so that its record is inside the stack
 * @low: the lowest; @span: distance to the highest. One compare tests both.
 */
struct kasan_bounds {
	uintptr_t low, span;
};

static inline bool kasan_is_frame(const struct kasan_bounds *bounds, uintptr_t fp)
{
	return fp - bounds->low <= bounds->span && !(fp & (KASAN_FRAME_ALIGN - 1));
}

/** kasan_get_bounds() - Return: false if the stack [@start, @end) is not known, or smaller than a record:
 *  then the span would wrap around. */
static inline bool kasan_get_bounds(uintptr_t start, uintptr_t end, struct kasan_bounds *bounds)
{
	if (!start || end < start + 64)
		return false;
	bounds->low = start - (uintptr_t)KASAN_FRAME_RECORD_LOW;
	bounds->span = end - (uintptr_t)KASAN_FRAME_RECORD_HIGH - bounds->low;
	return true;
}

/** kasan_skip_far() - kasan_skip_to() where it is not the first. */
static __attribute__((__noinline__, __unused__)) uintptr_t
kasan_skip_far(const struct kasan_bounds *bounds, uintptr_t ip, uintptr_t fp)
{
	uintptr_t at = fp, prev;
	unsigned int i;

	for (i = 0; i < KASAN_SEARCH_FRAMES && kasan_is_frame(bounds, at); i++) {
		prev = kasan_arch_frame_prev(at);
		if (kasan_arch_frame_ra(at) == ip)
			return prev > at ? prev : 0;
		if (prev <= at)
			break;
		at = prev;
	}
	return fp;
}

/** kasan_skip_to() - Return: the frame above the one that returns to @ip; @fp itself if none of the first
 *  few does. Nearly always the first one does: the hook's own. */
static inline __attribute__((always_inline)) uintptr_t
kasan_skip_to(const struct kasan_bounds *bounds, uintptr_t ip, uintptr_t fp)
{
	uintptr_t prev;

	if (kasan_likely(kasan_is_frame(bounds, fp) && kasan_arch_frame_ra(fp) == ip)) {
		prev = kasan_arch_frame_prev(fp);
		return prev > fp ? prev : 0;
	}
	return kasan_skip_far(bounds, ip, fp);
}

/** kasan_follow() - collect return addresses from the record at @fp on, behind the @count that @pcs has
 *  already. @hash: the hash of those, continued. Return: the new number of entries. */
static inline __attribute__((always_inline)) size_t kasan_follow(const struct kasan_bounds *bounds,
								 uintptr_t fp, uintptr_t *pcs,
								 size_t count, size_t max,
								 uintptr_t *hash)
{
	const unsigned int shift = __builtin_ctz(KASAN_FRAME_ALIGN);
	uintptr_t left, step, sum = *hash;

	if (!kasan_is_frame(bounds, fp))
		return count;
	left = (bounds->low + bounds->span - fp) >> shift;
	while (count < max) {
		const uintptr_t ra = kasan_arch_frame_ra(fp);
		const uintptr_t prev = kasan_arch_frame_prev(fp);

		if (!ra)
			break;
		pcs[count++] = ra;
		sum = kasan_hash_step(sum, ra);
		/*
		 * Up, aligned, and not past the end, in one comparison: if the distance is 0, negative or
		 * not a multiple, the rotated value is large, or becomes large when 1 is subtracted.
		 */
		step = prev - fp;
		step = step >> shift | step << (sizeof(step) * 8 - shift);
		if (step - 1 >= left)
			break;
		left -= step;
		fp = prev;
	}
	*hash = sum;
	return count;
}

#endif /* KASAN_WALK_H */
