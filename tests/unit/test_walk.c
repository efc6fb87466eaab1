/* SPDX-License-Identifier: MIT */
/* test_walk.c - a stack compared in place with a trace is the same if and only if following its frames gives that trace:
 * for every depth and every kind of end, and if any word of either is another one. */
#include <string.h>

#include "../../runtime/track/walk.h"
#include "unit.h"

#define IP   ((uintptr_t)0x10000)
#define MOST (CONFIG_KASAN_STACK_DEPTH + 3)
/* Words from one frame to the next, at least: a record's length, so that frames do not overlap. */
#define STEP  (size_t)((KASAN_FRAME_RECORD_HIGH - KASAN_FRAME_RECORD_LOW) / sizeof(uintptr_t))
#define WORDS (MOST * (STEP + 4) + 8)

/* How a chain ends. */
enum end {
	ZEROS, /* with a record of zeros */
	NO_RA, /* without a return address, but with a frame after it */
	NO_FP, /* without a frame after the last return address */
	DOWN,  /* with one below */
	ABOVE, /* with one above the stack */
	EDGE,  /* with one whose record would reach out of the stack */
	ENDS
};

static uintptr_t stack[WORDS];
static uintptr_t frames[MOST + 1];

static uintptr_t *fp_word(uintptr_t fp)
{
	return (uintptr_t *)fp + KASAN_FRAME_RECORD;
}

static uintptr_t *ra_word(uintptr_t fp)
{
	return (uintptr_t *)fp + KASAN_FRAME_RA;
}

static struct kasan_bounds bounds_of(void)
{
	struct kasan_bounds bounds;

	REQUIRE(kasan_get_bounds((uintptr_t)stack, (uintptr_t)(stack + WORDS), &bounds));
	return bounds;
}

/* A stack of @count frames and its end. Return: the first frame. */
static uintptr_t make(size_t count, enum end end)
{
	const struct kasan_bounds bounds = bounds_of();
	uintptr_t fp = (uintptr_t)(stack + 4);

	memset(stack, 0x5a, sizeof(stack));
	for (size_t i = 0; i <= count; i++) {
		frames[i] = fp;
		*ra_word(fp) = 0x20000 + 16 * i;
		fp += (STEP + i % 4) * sizeof(fp);
		*fp_word(frames[i]) = fp;
	}
	fp = frames[count];
	if (end == ZEROS)
		*fp_word(fp) = *ra_word(fp) = 0;
	else if (end == NO_RA)
		*ra_word(fp) = 0;
	else
		*fp_word(fp) = end == NO_FP  ? 0
			       : end == DOWN ? frames[0]
			       : end == EDGE ? bounds.low + bounds.span + sizeof(fp)
					     : (uintptr_t)(stack + WORDS) + 64;
	return frames[0];
}

/* Do what a hook does. @known: is the stack the trace of the @count return addresses @pcs? */
static bool same(uintptr_t first, const uintptr_t *pcs, size_t count)
{
	const struct kasan_bounds bounds = bounds_of();
	struct kasan_near_frames start;

	if (!kasan_start_frames(&bounds, IP, first, UINTPTR_MAX, &start))
		return false;
	return kasan_same_frames(&bounds, &start, IP, first, pcs, (count - 1) * sizeof(*pcs));
}

static size_t follow(uintptr_t first, uintptr_t *pcs)
{
	const struct kasan_bounds bounds = bounds_of();

	pcs[0] = IP;
	return kasan_follow(&bounds, first, pcs, 1, CONFIG_KASAN_STACK_DEPTH);
}

/* Is the stack's own trace the only one that compares as the same? @count of @pcs is another one. */
static void check_other(uintptr_t first, const uintptr_t *pcs, size_t count, const char *what)
{
	uintptr_t now[CONFIG_KASAN_STACK_DEPTH];
	const size_t found = follow(first, now);
	const bool is_same = found == count && !memcmp(now, pcs, count * sizeof(*pcs));

	CHECKF(same(first, pcs, count) == is_same, "%s: %zu functions, now %zu", what, count,
	       found);
}

static void every_depth(void)
{
	uintptr_t pcs[CONFIG_KASAN_STACK_DEPTH + 1];
	size_t depth, count;
	enum end end;

	for (end = 0; end < ENDS; end++) {
		for (depth = 2; depth < MOST; depth++) {
			const uintptr_t first = make(depth, end);

			count = follow(first, pcs);
			CHECKF(same(first, pcs, count), "end %d, depth %zu", end, depth);
			pcs[count] = pcs[count - 1] + 16;
			if (count < CONFIG_KASAN_STACK_DEPTH)
				check_other(first, pcs, count + 1, "one more");
			check_other(first, pcs, count - 1, "one less");
		}
	}
}

static void every_word(void)
{
	uintptr_t pcs[CONFIG_KASAN_STACK_DEPTH], first, old;
	size_t depth, count, i;
	enum end end;

	for (end = 0; end < ENDS; end++) {
		for (depth = 2; depth < MOST; depth++) {
			first = make(depth, end);
			count = follow(first, pcs);
			for (i = 0; i < count; i++) {
				pcs[i] ^= 4;
				check_other(first, pcs, count, "another return address");
				pcs[i] ^= 4;
			}
			for (i = 0; i <= depth; i++) {
				old = *ra_word(frames[i]);
				*ra_word(frames[i]) = old ^ 4;
				check_other(first, pcs, count, "a return address in the stack");
				*ra_word(frames[i]) = 0;
				check_other(first, pcs, count, "none in the stack");
				*ra_word(frames[i]) = old;
				old = *fp_word(frames[i]);
				for (enum end bad = NO_FP; bad < ENDS; bad++) {
					const struct kasan_bounds bounds = bounds_of();

					*fp_word(frames[i]) =
						bad == NO_FP  ? 0
						: bad == DOWN ? frames[0]
						: bad == EDGE
							? bounds.low + bounds.span + sizeof(old)
							: UINTPTR_MAX - 63;
					check_other(first, pcs, count, "a broken chain");
				}
				*fp_word(frames[i]) = old;
			}
		}
	}
}

/* Whether it is followed or not, it does not lead to the trace of the stack without it. */
static void frames_that_are_not_aligned(void)
{
	uintptr_t pcs[CONFIG_KASAN_STACK_DEPTH], first;
	size_t depth, count, i;

	for (depth = 2; depth < 24; depth++) {
		first = make(depth, ZEROS);
		count = follow(first, pcs);
		/* After the last one the trace ends anyway. */
		for (i = 0; i + 1 < depth; i++) {
			*fp_word(frames[i]) += 4;
			CHECKF(!same(first, pcs, count), "frame %zu of %zu", i, depth);
			*fp_word(frames[i]) -= 4;
		}
	}
}

UNIT_MAIN(every_depth, every_word, frames_that_are_not_aligned)
