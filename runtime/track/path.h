/* SPDX-License-Identifier: MIT */
/*
 * path.h - comparing a stack with a known trace in a system that walks its stacks itself (kasan_port_walk()). Elsewhere
 * walk.h follows frame records.
 *
 * A walk says where it has found each return address: its path. With a trace's path the running stack is compared with
 * that trace word by word, and need not be walked.
 */
#ifndef KASAN_PATH_H
#define KASAN_PATH_H

#include "depot.h"
#include "walk.h"

#ifdef KASAN_PORT_HAS_WALK

/* Where the return address into the caller of a function lies, from its frame pointer. */
#define KASAN_PATH_START ((uintptr_t)KASAN_FRAME_RA * sizeof(uintptr_t))

/* The span of a record whose path is being written. No stack is that large. */
#define KASAN_SPAN_IS_COMING UINT16_MAX

static inline uint16_t *kasan_record_path(struct kasan_record *record)
{
	return (uint16_t *)(record->pcs + kasan_record_count(record));
}

/* Where the return address into the caller of a function lies, by the function: in the upper 48 bits its address, below them the
 * distance of the two return addresses. */
extern uint64_t kasan_path_first[64];

/** kasan_path_first_of() - Return: the entry for the return address @ip. */
static inline uint64_t *kasan_path_first_of(uintptr_t ip)
{
	return &kasan_path_first[(uint32_t)ip * 0x9e3779b1U >> 26];
}

/** kasan_path_key() - the key of the trace that starts with @ip, which lies at @at. @last: the highest word of the stack. Hooks
 *  are called from few functions, so their caller is in the key too. */
static inline uint32_t kasan_path_key(uintptr_t ip, uintptr_t at, uintptr_t last)
{
	const uint64_t distance =
		__atomic_load_n(kasan_path_first_of(ip), __ATOMIC_RELAXED) ^ (uint64_t)ip << 16;
	const uint32_t key = (uint32_t)(ip + ((last - at) << 16));

	if (kasan_unlikely(distance > last - at))
		return key;
	return kasan_known_mix(key, *(const uintptr_t *)(at + (uintptr_t)distance));
}

/* Is each of the @words saved registers at *@path what it says? *@at: the place of the return address, plus @words; left without
 * them. *@path: left after them. */
static kasan_always_inline bool kasan_same_words(uintptr_t *at, const uint16_t **path,
						 uintptr_t words)
{
	*at -= words;
	/* There are one or two. */
#pragma GCC unroll 1
	do {
		if (kasan_unlikely(*(const uintptr_t *)(*at - (*path)[0]) !=
				   *at + sizeof(*at) - (*path)[1]))
			return false;
		*path += 2;
	} while (--words);
	return true;
}

/**
 * kasan_same_path() - is @record the whole trace that starts with the return address at @at?
 * @record: its path is known, and that return address is its first. @last: the highest word of the stack.
 *
 * The answer is exact. The first return address says where the second must be, or which saved registers say it. If these
 * lead there and the second is the same, it says where the third must be, and so on. These are the words that a walk
 * reads, and no others.
 */
static kasan_always_inline bool kasan_same_path(const struct kasan_record *record, uintptr_t at,
						uintptr_t last)
{
	const uintptr_t *pc = record->pcs + 1;
	const uintptr_t *const end = pc + record->more / sizeof(*pc);
	const uint16_t *path = (const uint16_t *)end;

	if (kasan_unlikely(record->span > last - at))
		return false;
	for (; pc != end; pc++) {
		const uintptr_t step = *path++;

		at += step;
		if (kasan_unlikely(step & KASAN_PATH_WORDS)) {
			if (!kasan_same_words(&at, &path, step & KASAN_PATH_WORDS))
				return false;
		}
		if (kasan_unlikely(*(const uintptr_t *)at != *pc))
			return false;
	}
	return true;
}

#endif

#endif /* KASAN_PATH_H */
