/* SPDX-License-Identifier: MIT */
/* depot.h - the stack depot's records, for the files of track/ that compare a stack with one in place. */
#ifndef KASAN_DEPOT_H
#define KASAN_DEPOT_H

#include "../base/base.h"

/* Bounds of kasan.depot_size=, in bytes. */
#define KASAN_DEPOT_LEAST (KASAN_DEPOT_BLOCK > 2048 ? KASAN_DEPOT_BLOCK + 0UL : 2048UL)
#ifdef KASAN_DEPOT_IS_SMALL
#define KASAN_DEPOT_MOST ((CONFIG_KASAN_DEPOT_SIZE) + 0UL)
#else
#define KASAN_DEPOT_MOST (KASAN_DEPOT_MAX_MIB * (1UL << 20))
#endif

/**
 * struct kasan_record - one stack trace; never freed, and once it can be found only @next and @key change
 * @next: in its bucket. The depot may move a record to another bucket.
 * @handle: its name. With @hash it proves that a handle from corrupted metadata leads to the start of a record.
 * @more: bytes of the return addresses in @pcs after the first, for 0 to CONFIG_KASAN_STACK_DEPTH - 1 of them.
 * @key: where known.c has entered it.
 * @pcs: newest first, none of them 0.
 * @span: see kasan_record_slots(). With path.h: bytes of the stack from the first return address to the last one; 0: not known.
 */
struct kasan_record {
	struct kasan_record *next;
	uint32_t handle;
#if !KASAN_FOLLOWS_FRAMES
	uint16_t more, span;
#else
	uint32_t more;
#endif
	uint32_t hash;
#ifndef KASAN_DEPOT_IS_SMALL
	uint32_t key;
#endif
	uintptr_t pcs[];
};

static inline size_t kasan_record_count(const struct kasan_record *record)
{
	return 1 + record->more / sizeof(record->pcs[0]);
}

#if KASAN_ARCH_UNWINDS
/**
 * kasan_record_slots() - where the return addresses of @record were found, a byte for each of them
 *
 * Distances are in words. The first byte is the distance of the second return address from the word below the stack
 * pointer of @pcs[0]'s function; each following one is the distance from the return address before. The last byte is
 * the distance of the word that ended the trace, or 0 if its last function or its length ended it. If the first byte is
 * 0, nothing is known. @span: bytes from the starting word to the last return address. All of this depends only on the
 * return addresses, so it is written once, later.
 */
static inline const uint8_t *kasan_record_slots(const struct kasan_record *record)
{
	return (const uint8_t *)(record->pcs + kasan_record_count(record));
}

/* Bytes after the return addresses. */
#define KASAN_RECORD_SLOTS(count) (count)
#elif defined(KASAN_PORT_HAS_WALK)
/* The most entries of a path that its record has room for. */
#define KASAN_PATH_ENTRIES(count) (2 * (count))
#define KASAN_RECORD_SLOTS(count) (KASAN_PATH_ENTRIES(count) * sizeof(uint16_t))
#else
#define KASAN_RECORD_SLOTS(count) 0
#endif

/** kasan_depot_get() - Return: the record of a trace of 1 to CONFIG_KASAN_STACK_DEPTH return addresses, which is made
 *  if there is none; NULL: the depot is full. */
struct kasan_record *kasan_depot_get(const uintptr_t *pcs, size_t count);

/** kasan_depot_traces() - Return: the number of different traces. A hint, because other CPUs add some. */
size_t kasan_depot_traces(void);

/** kasan_depot_max_bytes() - Return: the bound in bytes. */
size_t kasan_depot_max_bytes(void);

#endif /* KASAN_DEPOT_H */
