/* SPDX-License-Identifier: MIT */
/*
 * hw_slack.h - kasan.slack=check: the unused bytes in the last granule of an object hold a pattern.
 *
 * Hardware compares the tags of whole granules. So it does not see an overflow that stays in the last granule of
 * an object whose size is no multiple of 16. hw_slack.c has how such a write is found later.
 */
#ifndef KASAN_HW_SLACK_H
#define KASAN_HW_SLACK_H

#include "meta.h"

extern unsigned int kasan_opt_slack; /* kasan.slack=check */

/**
 * struct kasan_slack - unused bytes that were overwritten
 * @found: for the report's second line: "at free", "at krealloc", "in a walk".
 * @granule: address of the granule, without tag. @unused: number of unused bytes, which are its last ones; 1 to 15.
 * @is, @was: the granule as it was found; what its unused bytes should be.
 */
struct kasan_slack {
	const char *found;
	uintptr_t granule;
	unsigned int unused;
	uint8_t is[KASAN_GRANULE_SIZE], was[KASAN_GRANULE_SIZE];
};

/** kasan_slack_caches() - is a cache that is laid out now to be checked? */
static inline bool kasan_slack_caches(void)
{
#ifdef CONFIG_KASAN_HW_TAGS
	return kasan_opt_slack;
#else
	return false;
#endif
}

#ifdef CONFIG_KASAN_HW_TAGS

/** kasan_slack_arm() - an object begins its life, or has a new size: write the pattern. @start: its address, with
 *  any tag. @size: bytes asked for. Its slack must not be armed. Any context. */
void kasan_slack_arm(uintptr_t start, size_t size);

/**
 * kasan_slack_end() - an object's life, or its size, ends: check the pattern, report, and forget it
 * @start: its address, with the tag of its pointer. @span: all bytes that it may have.
 * @found: as in struct kasan_slack. @ip, @fp: where the report's trace starts.
 *
 * Nothing happens if it is not armed. Any context. May not return, as any report.
 */
void kasan_slack_end(uintptr_t start, size_t span, const char *found, uintptr_t ip, uintptr_t fp);

/** kasan_slack_unused() - Return: unused bytes of the granule that ends at or behind @end, the end of an
 *  object by its tags; 0 if it is not armed. */
unsigned int kasan_slack_unused(uintptr_t end);

/* Was any object armed since the boot? */
extern bool kasan_slack_used;

void kasan_slack_end_large(const void *ptr, const struct kasan_large_meta *meta, const char *found,
			   uintptr_t ip, uintptr_t fp);

/** kasan_slack_large_arm(), kasan_slack_large_end() - the same for allocations of whole pages, whose size is
 *  in @meta; NULL: they have no slack that could be checked. */
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

static inline void kasan_slack_arm(uintptr_t start, size_t size)
{
	(void)start;
	(void)size;
}

static inline void kasan_slack_end(uintptr_t start, size_t span, const char *found, uintptr_t ip,
				   uintptr_t fp)
{
	(void)start;
	(void)span;
	(void)found;
	(void)ip;
	(void)fp;
}

static inline unsigned int kasan_slack_unused(uintptr_t end)
{
	(void)end;
	return 0;
}

static inline void kasan_slack_large_arm(const void *ptr, const struct kasan_large_meta *meta)
{
	(void)ptr;
	(void)meta;
}

static inline void kasan_slack_large_end(const void *ptr, const struct kasan_large_meta *meta,
					 const char *found, uintptr_t ip, uintptr_t fp)
{
	(void)ptr;
	(void)meta;
	(void)found;
	(void)ip;
	(void)fp;
}

#endif

#endif /* KASAN_HW_SLACK_H */
