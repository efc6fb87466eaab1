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
	/* kasan_frame_room() takes the bits below a unit for those of the frame pointer alone. With an odd @end, which only a
	 * broken task has, it would follow a record that points out of the stack. */
	end &= ~((uintptr_t)KASAN_FRAME_ALIGN - 1);
	bounds->low = start - (uintptr_t)KASAN_FRAME_RECORD_LOW;
	bounds->span = end - (uintptr_t)KASAN_FRAME_RECORD_HIGH - bounds->low;
	return true;
}

/** kasan_frame_room() - Return: the distance from @fp up to the highest frame pointer, in units of
 *  KASAN_FRAME_ALIGN. Huge if @fp is above that or not aligned, because the bits below a unit, and a sign, end up at the
 *  top. So a caller's frame is a good one if its room is less than that of the good one below it. */
static inline uintptr_t kasan_frame_room(const struct kasan_bounds *bounds, uintptr_t fp)
{
	const unsigned int shift = __builtin_ctz(KASAN_FRAME_ALIGN);
	const uintptr_t left = bounds->low + bounds->span - fp;

	return left >> shift | left << (sizeof(left) * 8 - shift);
}

/** kasan_skip_far() - kasan_skip_to() where it is not the first. */
uintptr_t kasan_skip_far(const struct kasan_bounds *bounds, uintptr_t ip, uintptr_t fp);

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
 *  already. Return: the new number of entries. */
static inline __attribute__((always_inline)) size_t kasan_follow(const struct kasan_bounds *bounds,
								 uintptr_t fp, uintptr_t *pcs,
								 size_t count, size_t max)
{
	uintptr_t room, next;

	if (!kasan_is_frame(bounds, fp))
		return count;
	room = kasan_frame_room(bounds, fp);
	while (count < max) {
		const uintptr_t ra = kasan_arch_frame_ra(fp);

		if (!ra)
			break;
		pcs[count++] = ra;
		fp = kasan_arch_frame_prev(fp);
		next = kasan_frame_room(bounds, fp);
		if (next >= room)
			break;
		room = next;
	}
	return count;
}

/* --- Comparing a stack with a known trace --- */

/**
 * struct kasan_two_frames - the frames behind the hook's own, by their addresses; both may be read
 * @room: of the second.
 */
struct kasan_two_frames {
	uintptr_t first, second, room;
};

/** kasan_start_frames() - @first: the frame that may follow one whose room is @room. Return: false if there are not two. */
static inline __attribute__((always_inline)) bool
kasan_start_frames(const struct kasan_bounds *bounds, uintptr_t first, uintptr_t room,
		   struct kasan_two_frames *start)
{
	const uintptr_t middle = kasan_frame_room(bounds, first);

	if (kasan_unlikely(middle >= room))
		return false;
	start->first = first;
	start->second = kasan_arch_frame_prev(first);
	start->room = kasan_frame_room(bounds, start->second);
	return kasan_likely(start->room < middle);
}

/* Raw first: a return address that carries no signature is the same without stripping. */
static inline __attribute__((always_inline)) bool kasan_returns_to(uintptr_t fp, uintptr_t pc)
{
	const uintptr_t raw = kasan_arch_frame_raw_ra(fp);

	return kasan_likely(raw == pc) || (KASAN_ARCH_SIGNS_RA && kasan_arch_strip_ra(raw) == pc);
}

/** kasan_same_frames() - are the @count return addresses at @pcs what kasan_follow() would collect from @start on?
 *  @count + 1 is the length of a trace in the depot, so kasan_follow() stops at CONFIG_KASAN_STACK_DEPTH - 1. */
static inline __attribute__((always_inline)) bool
kasan_same_frames(const struct kasan_bounds *bounds, const struct kasan_two_frames *start,
		  const uintptr_t *pcs, size_t count)
{
	const uintptr_t *const end = pcs + count;
	uintptr_t fp = start->second, room = start->room, next;

	if (kasan_unlikely(count < 2 || !kasan_returns_to(start->first, pcs[0]) ||
			   !kasan_returns_to(fp, pcs[1])))
		return false;
	for (pcs += 2; pcs != end; pcs++) {
		fp = kasan_arch_frame_prev(fp);
		next = kasan_frame_room(bounds, fp);
		if (kasan_unlikely(next >= room || !kasan_returns_to(fp, *pcs)))
			return false;
		room = next;
	}
	/* It must also end here. */
	if (kasan_unlikely(count == CONFIG_KASAN_STACK_DEPTH - 1))
		return true;
	fp = kasan_arch_frame_prev(fp);
	return kasan_frame_room(bounds, fp) >= room || !kasan_arch_frame_ra(fp);
}

#endif /* KASAN_WALK_H */
