/* SPDX-License-Identifier: MIT */
/*
 * hw_slack.h - kasan.slack=check: the unused bytes in an object's last granule hold a pattern.
 *
 * Hardware compares the tags of whole granules, so it misses an overflow that stays in the last granule of an object
 * whose size 16 does not divide. hw_slack.c finds such a write later.
 */
#ifndef KASAN_HW_SLACK_H
#define KASAN_HW_SLACK_H

#include "meta.h"

extern unsigned int kasan_opt_slack; /* kasan.slack=check */

/**
 * struct kasan_slack - unused bytes that were overwritten
 * @found: for the report's second line: "at free", "at krealloc", "in a walk".
 * @granule: its address, without a tag. @unused: how many of its last bytes are unused, 1 to 15.
 * @is, @was: the granule as it was found; what its unused bytes should be.
 */
struct kasan_slack {
	const char *found;
	uintptr_t granule;
	unsigned int unused;
	uint8_t is[KASAN_GRANULE_SIZE], was[KASAN_GRANULE_SIZE];
};

/** kasan_slack_caches() - are caches that are created now to be checked? */
static inline bool kasan_slack_caches(void)
{
#ifdef CONFIG_KASAN_HW_TAGS
	return kasan_opt_slack;
#else
	return false;
#endif
}

#ifdef CONFIG_KASAN_HW_TAGS

/** kasan_slack_arm() - an object begins its life or has a new size: write the pattern. @start: its address, with any
 *  tag. @size: bytes asked for. Its slack must not be armed. Any context. */
void kasan_slack_arm(uintptr_t start, size_t size);

/**
 * kasan_slack_end() - an object's life or size ends: check the pattern, report, and forget it
 * @start: its address, with the tag of its pointer. @span: the most bytes that it may have.
 * @found: as in struct kasan_slack. @ip, @fp: where the report's trace starts.
 *
 * Nothing happens if it is not armed. Any context. Like any report, may not return.
 */
void kasan_slack_end(uintptr_t start, size_t span, const char *found, uintptr_t ip, uintptr_t fp);

/** kasan_slack_unused() - Return: the unused bytes before @end, the end of an object by its tags; 0 if it is not armed.
 *  */
unsigned int kasan_slack_unused(uintptr_t end);

/* Was any object armed since boot? */
extern bool kasan_slack_used;

void kasan_slack_end_large(const void *ptr, const struct kasan_large_meta *meta, const char *found,
			   uintptr_t ip, uintptr_t fp);

/** kasan_slack_large_arm(), kasan_slack_large_end() - the same for allocations of whole pages with their size in @meta;
 *  NULL: they have no slack to check. */
static inline void kasan_slack_large_arm(const void *ptr, const struct kasan_large_meta *meta)
{
	if (kasan_unlikely(kasan_opt_slack) && meta && meta->size & KASAN_GRANULE_MASK)
		kasan_slack_arm((uintptr_t)ptr, meta->size);
}

static inline void kasan_slack_large_end(const void *ptr, const struct kasan_large_meta *meta,
					 const char *found, uintptr_t ip, uintptr_t fp)
{
	if (kasan_unlikely(kasan_slack_used) && meta)
		kasan_slack_end_large(ptr, meta, found, ip, fp);
}

#else

#define kasan_slack_arm(start, size)			((void)(start), (void)(size))
#define kasan_slack_end(start, span, found, ip, fp)	((void)(start), (void)(ip), (void)(fp))
#define kasan_slack_unused(end)				((void)(end), 0U)
#define kasan_slack_large_arm(ptr, meta)		((void)(ptr), (void)(meta))
#define kasan_slack_large_end(ptr, meta, found, ip, fp) ((void)(meta), (void)(ip), (void)(fp))
#endif

#endif /* KASAN_HW_SLACK_H */
