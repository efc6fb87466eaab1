/* SPDX-License-Identifier: MIT */
/* sampled.h - what reports ask about sampled objects. */
#ifndef KASAN_SAMPLED_H
#define KASAN_SAMPLED_H

#include "../track/track.h"

#include <kasan/sample.h>

#ifdef CONFIG_KASAN_SAMPLE

extern unsigned int kasan_opt_sample_interval; /* kasan.sample= */

/** struct kasan_sampled - the object that an address of the pool belongs to. @name: a constant or what its allocator gave;
 *  @at_end: it ends where its page does, if its alignment lets it. */
struct kasan_sampled {
	uintptr_t start;
	size_t size, cache_size;
	const char *name;
	bool live, at_end;
	struct kasan_track alloc, free;
};

/** kasan_sample_find() - fill @sampled with the nearest object that a bad access at @addr can be of. For reports: takes no
 *  lock. Return: false: @addr is outside of the pool, or no object lies near it. */
bool kasan_sample_find(uintptr_t addr, struct kasan_sampled *sampled);

#endif
#endif /* KASAN_SAMPLED_H */
