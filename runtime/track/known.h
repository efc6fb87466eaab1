/* SPDX-License-Identifier: MIT */
/*
 * known.h - does the depot already have the running stack? Inline, because every allocation and every free asks.
 *
 * Programs allocate from few places, so the answer is nearly always yes. Copying the stack and hashing the copy would
 * cost more than the rest of an allocation. Instead a table leads from the newest few return addresses and the depth of
 * the stack to the record that had them last, and the record is compared with the stack in place, word by word. So a
 * wrong answer is impossible, whatever the table holds. If the record does not match, known.c looks further.
 *
 * All CPUs share the table without a lock or an order: an entry is a pointer to a record that never changes and is
 * never freed. If two CPUs race for an entry, the last writer wins.
 */
#ifndef KASAN_KNOWN_H
#define KASAN_KNOWN_H

#include "depot.h"
#include "scs.h"
#include "track.h"
#include "exidx.h"
#include "path.h"
#include "walk.h"

/* The table of pointers to records, aligned to 64 bytes. Its low bits say how far to shift a hash of 32 bits to get an
 * index, so that one load reads both. NULL: kasan.stacktrace=off. */
extern char *kasan_known;

/* The entries of a set, side by side. This file looks into the first only. */
#define KASAN_KNOWN_WAYS 4U

/** kasan_known_way() - Return: entry @way of the set of @entry; 0: @entry itself. */
static inline const struct kasan_record **kasan_known_way(const struct kasan_record **entry,
							  unsigned int way)
{
	return (const struct kasan_record **)((uintptr_t)entry ^ way * sizeof(*entry));
}

/** kasan_known_entry() - Return: the entry of @table for the stack with @key. Beside a far part, save_frames() also looks
 *  into the one next to it. */
static inline const struct kasan_record **kasan_known_entry(char *table, uint32_t key)
{
	const uint32_t index = key * 0x9e3779b1U >> ((uintptr_t)table & 31);

	return (const struct kasan_record **)((uintptr_t)table & ~(uintptr_t)63) + index;
}

/* With frame pointers a table has a second part, so many times larger: see save_frames(). Not where flash and memory
 * are small. */
#if !KASAN_FOLLOWS_FRAMES || defined(KASAN_DEPOT_IS_SMALL) || UINTPTR_MAX <= UINT32_MAX
#define KASAN_KNOWN_FAR_SHIFT 0U
#define KASAN_KNOWN_HAS_FAR   0U
#else
#define KASAN_KNOWN_FAR_SHIFT 2U
#define KASAN_KNOWN_HAS_FAR   1U
#endif
/* The entries of both parts. */
#define KASAN_KNOWN_ENTRIES(entries) \
	((entries) + KASAN_KNOWN_HAS_FAR * ((entries) >> KASAN_KNOWN_FAR_SHIFT))

/** kasan_known_far() - Return: the first entry of the set for the far key @key. */
static inline const struct kasan_record **kasan_known_far(char *table, uint32_t key)
{
	const unsigned int shift = (uintptr_t)table & 31;
	const uint32_t index = key * 0x9e3779b1U >> (shift + KASAN_KNOWN_FAR_SHIFT);

	return (const struct kasan_record **)((uintptr_t)table & ~(uintptr_t)63) +
	       KASAN_KNOWN_HAS_FAR * ((size_t)1 << (32 - shift)) + index;
}

static inline const struct kasan_record *kasan_known_read(const struct kasan_record **entry)
{
	/* The record was written before the pointer, and the address dependency orders the loads. */
	return __atomic_load_n(entry, __ATOMIC_RELAXED);
}

#ifdef KASAN_PORT_HAS_SHADOW_STACK

/** kasan_known_scs_key() - the key of the trace @ip, @scs, which has at least KASAN_SCS_LEAST entries. */
static kasan_always_inline uint32_t kasan_known_scs_key(uintptr_t ip, const struct kasan_scs *scs)
{
	uint32_t key = kasan_known_mix((uint32_t)ip, scs->top[-1]);

	key = kasan_known_mix(key, scs->top[-2]);
	key = kasan_known_mix(key, scs->top[-3]);
	return key + (uint32_t)scs->size;
}

#endif

#if KASAN_ARCH_UNWINDS

/** kasan_known_slots_key() - the key of a trace that starts with @ip, @room bytes below the end of the stack. */
static inline uint32_t kasan_known_slots_key(uintptr_t ip, uintptr_t room)
{
	return (uint32_t)(ip + (room << 16));
}

#endif

/* How many words of a trace its far key covers. */
#define KASAN_FAR_WORDS 16

/**
 * kasan_known_put() - enter @record, which was not found in @table. @key: of its stack. @far: its far key, under which
 * it is entered; NULL: enter it under @key.
 */
void kasan_known_put(char *table, uint32_t key, const uint32_t *far, struct kasan_record *record);

/** kasan_known_table() - Return: the table, even with kasan.stacktrace=off, on which some stacks do not depend. */
char *kasan_known_table(void);

/** kasan_known_bytes() - Return: bytes that the port gave for tables. */
size_t kasan_known_bytes(void);

/** kasan_known_stack_of() - kasan_known_stack() for any @ip and @fp. @own: they are certainly those of the hook that this
 *  is inlined into. */
static kasan_always_inline bool kasan_known_stack_of(char *table, uintptr_t ip, uintptr_t fp,
						     bool own, uint32_t *handle)
{
#ifdef KASAN_PORT_HAS_SHADOW_STACK
	const struct kasan_record *record;
	struct kasan_scs scs;

	(void)fp;
	(void)own;
	if (kasan_unlikely(!kasan_scs_here(&scs)))
		return false;
	/* A hook that is compiled with the sanitizer has an entry of its own. */
	if (KASAN_SCS_HAS_HOOKS && scs.top[-1] == ip) {
		scs.top--;
		scs.size -= sizeof(ip);
	}
	/* The size is nearly always in these bounds. */
	if (kasan_unlikely(scs.size - KASAN_SCS_LEAST > KASAN_SCS_MOST - KASAN_SCS_LEAST))
		return false;
	record = kasan_known_read(kasan_known_entry(table, kasan_known_scs_key(ip, &scs)));
	if (kasan_unlikely(!record || record->more != scs.size || record->pcs[0] != ip ||
			   !kasan_scs_same(&scs, record->pcs + 1)))
		return false;
	*handle = record->handle;
	return true;
#elif KASAN_ARCH_UNWINDS && defined(KASAN_PORT_HAS_TASK_STACK)
	const struct kasan_record *record;
	uintptr_t low, high;

	(void)own;
	fp -= sizeof(fp);
	if (kasan_unlikely(!kasan_port_task_stack(fp, &low, &high)))
		return false;
	high -= sizeof(high);
	record = kasan_known_read(kasan_known_entry(table, kasan_known_slots_key(ip, high - fp)));
	if (kasan_unlikely(!record || record->pcs[0] != ip || !kasan_same_slots(record, fp, high)))
		return false;
	*handle = record->handle;
	return true;
#elif defined(KASAN_PORT_HAS_WALK) && defined(KASAN_PORT_HAS_TASK_STACK)
	const uintptr_t at = fp + KASAN_PATH_START;
	const struct kasan_record *record;
	uintptr_t low, high;

	if (kasan_unlikely(!kasan_port_task_stack(fp, &low, &high)))
		return false;
	high -= sizeof(high);
	record = kasan_known_read(kasan_known_entry(table, kasan_path_key(ip, at, high)));
	if (kasan_unlikely(!record || record->pcs[0] != ip ||
			   (!own && *(const uintptr_t *)at != ip) ||
			   !kasan_same_path(record, at, high)))
		return false;
	*handle = record->handle;
	return true;
#elif KASAN_FOLLOWS_FRAMES && defined(KASAN_PORT_HAS_TASK_ID) && defined(KASAN_PORT_HAS_TASK_STACK)
	const struct kasan_record *record;
	struct kasan_near_frames start;
	struct kasan_bounds bounds;
	uintptr_t low, high, first;

	if (kasan_unlikely(!kasan_port_task_stack(fp, &low, &high)))
		return false;
	if (!(own && KASAN_ARCH_RECORDS_RA) && kasan_unlikely(!kasan_returns_to(fp, ip)))
		return false;
	/* @fp is a frame in the stack, so all good ones are above it. */
	bounds.low = low - (uintptr_t)KASAN_FRAME_RECORD_LOW;
	bounds.span = high - (uintptr_t)KASAN_FRAME_RECORD_HIGH - bounds.low;
	/* Precomputed, because otherwise each round of the loop below does it. */
	bounds.span += bounds.low;
	bounds.low = 0;
	__asm__("" : "+r"(bounds.span));
	first = kasan_arch_frame_prev(fp);
	if (kasan_unlikely(
		    !kasan_start_frames(&bounds, ip, first, kasan_frame_left(&bounds, fp), &start)))
		return false;
	/* The same twice, or the usual case would have to remember that it is that. */
	if (kasan_unlikely(!start.far)) {
		record = kasan_known_read(kasan_known_entry(table, start.key));
		if (!record || !kasan_same_whole(&bounds, ip, first, record->pcs, record->more))
			return false;
		*handle = record->handle;
		return true;
	}
	record = kasan_known_read(kasan_known_entry(table, start.key));
	if (kasan_unlikely(!record))
		return false;
	if (kasan_unlikely(!kasan_same_plain(&bounds, &start, ip, record->pcs, record->more))) {
		/* Read again, or the usual case would have to keep it. */
		__asm__("" : "+r"(fp));
		if (!kasan_same_whole(&bounds, ip, kasan_arch_frame_prev(fp), record->pcs,
				      record->more))
			return false;
	}
	*handle = record->handle;
	return true;
#else
	(void)table;
	(void)ip;
	(void)fp;
	(void)own;
	(void)handle;
	return false;
#endif
}

/**
 * kasan_known_stack() - find the trace of the hook's caller
 * @table: the value of kasan_known, not NULL.
 * @ip, @fp: KASAN_CALLER_IP() and KASAN_CALLER_FP() of the hook that this is inlined into.
 * @handle: filled.
 *
 * Return: false if kasan_save_track_stack() must be called.
 */
static kasan_always_inline bool kasan_known_stack(char *table, uintptr_t ip, uintptr_t fp,
						  uint32_t *handle)
{
	return kasan_known_stack_of(table, ip, fp, true, handle);
}

/** kasan_find_stack() - fill @stack for kasan_put_track() if that takes no call. @ip, @fp: as for kasan_known_stack().
 *  Return: false if kasan_set_track() must do it all. */
static kasan_always_inline bool kasan_find_stack(uint32_t *stack, uintptr_t ip, uintptr_t fp)
{
#ifdef KASAN_PORT_HAS_TASK_ID
	char *const table = __atomic_load_n(&kasan_known, __ATOMIC_RELAXED);

	*stack = 0;
	if (!table)
		return true;
	if (kasan_unlikely(!kasan_known_stack(table, ip, fp, stack)))
		return false;
	kasan_compare_stored(*stack, ip, fp);
	return true;
#else
	(void)stack;
	(void)ip;
	(void)fp;
	return false;
#endif
}

/** kasan_put_track() - fill @track with the @stack that kasan_find_stack() has found. */
static kasan_always_inline void kasan_put_track(struct kasan_track *track, uint32_t stack)
{
#ifdef KASAN_PORT_HAS_TASK_ID
	track->pid = kasan_port_task_id();
#endif
	track->stack = stack;
#ifdef CONFIG_KASAN_EXTRA_INFO
	track->cpu = stack ? kasan_port_cpu() : 0;
	track->when = stack ? kasan_port_clock() >> KASAN_TRACK_CLOCK_SHIFT : 0;
#endif
}

#endif /* KASAN_KNOWN_H */
