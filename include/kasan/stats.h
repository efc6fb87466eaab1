/* SPDX-License-Identifier: MIT */
/*
 * stats.h - how much the runtime's own tables hold, for tests, benchmarks and memory monitors. Each
 * function takes a snapshot, in any context. The numbers of a table that a mode does not have are 0.
 */
#ifndef KASAN_STATS_H
#define KASAN_STATS_H

#include <kasan/hook.h>

/** struct kasan_depot_stats - @traces: number of different traces; @bytes: that they take; @refused: traces
 *  that were not recorded because @max_bytes are taken. */
struct kasan_depot_stats {
	size_t traces, bytes, max_bytes, refused;
};

/** struct kasan_quarantine_stats - @bytes: of the slots of its @objects; @max_bytes: its bound. Generic mode. */
struct kasan_quarantine_stats {
	size_t bytes, max_bytes, objects;
};

KASAN_HOOK void kasan_depot_stats(struct kasan_depot_stats *stats)
	KASAN_OFF(*stats = (struct kasan_depot_stats){0});

#ifdef CONFIG_KASAN_GENERIC
void kasan_quarantine_stats(struct kasan_quarantine_stats *stats);
#else
static inline void kasan_quarantine_stats(struct kasan_quarantine_stats *stats)
{
	*stats = (struct kasan_quarantine_stats){0};
}
#endif

#endif /* KASAN_STATS_H */
