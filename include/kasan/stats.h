/* SPDX-License-Identifier: MIT */
/* stats.h - how much the runtime's own tables hold, for tests, benchmarks and memory monitors. Each function takes a
 * snapshot, in any context. The numbers of a table that a mode does not have are 0. */
#ifndef KASAN_STATS_H
#define KASAN_STATS_H

#include <kasan/hook.h>

#ifdef __cplusplus
extern "C" {
#endif

/** struct kasan_depot_stats - @traces: number of different traces; @bytes: that they take; @refused: traces that were
 *  not recorded because @max_bytes are taken. @buckets: of its hash table; @index_bytes: that the port gave to find
 *  traces by, beside @bytes. */
struct kasan_depot_stats {
	size_t traces, bytes, max_bytes, refused;
	size_t buckets, index_bytes;
};

/** struct kasan_quarantine_stats - @bytes: of the slots of its @objects; @max_bytes: its bound. Generic mode. */
struct kasan_quarantine_stats {
	size_t bytes, max_bytes, objects;
};

KASAN_HOOK void kasan_depot_stats(struct kasan_depot_stats *stats)
	KASAN_OFF(__builtin_memset(stats, 0, sizeof(*stats)));

#ifdef CONFIG_KASAN_GENERIC
void kasan_quarantine_stats(struct kasan_quarantine_stats *stats);
#else
static inline void kasan_quarantine_stats(struct kasan_quarantine_stats *stats)
{
	__builtin_memset(stats, 0, sizeof(*stats));
}
#endif

/** kasan_print_trace_compare() - where the runtime is built with CONFIG_KASAN_TRACE_COMPARE: print how many traces were
 *  made both from the shadow call stack and by frame pointers, and those that were not the same. In a context that may
 *  print. Return: the number of different ones. */
#ifdef CONFIG_KASAN_TRACE_COMPARE
size_t kasan_print_trace_compare(void);
#endif

#ifdef __cplusplus
}
#endif

#endif /* KASAN_STATS_H */
