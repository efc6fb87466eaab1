// SPDX-License-Identifier: MIT
/*
 * trace.c - where dependencies were made: stack traces of the validator, each stored once.
 *
 * Not the runtime's depot: kernels without KASAN have none.
 */
#include <kernel/arch.h>
#include <kernel/kallsyms.h>
#include <kernel/module.h>
#include <kernel/stacktrace.h>

#include "internal.h"

#define NR_WORDS    CONFIG_LOCKDEP_TRACE_WORDS
#define NR_BUCKETS  1024U
#define TRACE_DEPTH 24U

/* A trace is a word that tells how many code places follow, and the handle of the next trace of its bucket. Its handle is the
 * index of that word. */
static u64 words[NR_WORDS];
static u32 buckets[NR_BUCKETS];
/* Word 0 stays free, because 0 is not a handle. */
static u32 used = 1;
unsigned int nr_traces;

#define TRACE_HEAD(count, next) ((u64)(count) << 32 | (next))

static u32 hash_of(const uintptr_t *pcs, size_t count)
{
	u64 hash = count;

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ pcs[i]) * 0x9e3779b97f4a7c15UL;
	return (u32)(hash >> 40) % NR_BUCKETS;
}

static bool same(u32 trace, const uintptr_t *pcs, size_t count)
{
	if (words[trace] >> 32 != count)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (words[trace + 1 + i] != pcs[i])
			return false;
	}
	return true;
}

size_t trace_own_frames(const uintptr_t *pcs, size_t count, unsigned long ip)
{
	unsigned long start, size;

	for (size_t i = 0; i < count; i++) {
		if (pcs[i] == ip)
			return i;
	}
	/* It is not a return address, but a place in a function that is in the trace. */
	if (!kallsyms_lookup(ip, NULL, &start, &size)) {
		start = module_text_start(ip);
		size = start ? ip - start + 1 : 0;
	}
	for (size_t i = 0; i < count; i++) {
		if (pcs[i] - 1 - start < size || (start && pcs[i] > ip && pcs[i] - ip < 64))
			return i;
	}
	return 0;
}

u32 trace_save(unsigned long ip, bool ip_only)
{
	uintptr_t all[TRACE_DEPTH + 8];
	size_t count, skip, bucket;
	const uintptr_t *pcs;
	u32 trace;

	if (ip_only) {
		all[0] = ip;
		count = 1;
	} else {
		count = stack_trace_save(all, ARRAY_SIZE(all), NULL);
	}
	skip = trace_own_frames(all, count, ip);
	pcs = all + skip;
	count = min(count - skip, (size_t)TRACE_DEPTH);
	if (!count)
		return 0;
	bucket = hash_of(pcs, count);
	for (trace = buckets[bucket]; trace; trace = (u32)words[trace]) {
		if (same(trace, pcs, count))
			return trace;
	}
	if (NR_WORDS - used < count + 1) {
		bound_reached("REDZONE_LOCKDEP_TRACE_WORDS", "words of stack traces", NR_WORDS);
		return 0;
	}
	trace = used;
	used += (u32)count + 1;
	words[trace] = TRACE_HEAD(count, buckets[bucket]);
	for (size_t i = 0; i < count; i++)
		words[trace + 1 + i] = pcs[i];
	buckets[bucket] = trace;
	nr_traces++;
	return trace;
}

unsigned int trace_get(u32 trace, const uintptr_t **pcs)
{
	if (!trace)
		return 0;
	*pcs = (const uintptr_t *)&words[trace + 1];
	return (unsigned int)(words[trace] >> 32);
}
