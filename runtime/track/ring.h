/* SPDX-License-Identifier: MIT */
/*
 * ring.h - the stack ring: the last allocations and frees of objects on all CPUs, in order.
 *
 * The tag modes keep nothing beside a slab object. Reports look here, by address and pointer tag, for the task that
 * allocated it, its size, and the task that freed it.
 */
#ifndef KASAN_RING_H
#define KASAN_RING_H

#include "known.h"
#include "track.h"

extern unsigned int kasan_opt_stack_ring_size; /* kasan.stack_ring_size=, entries */

#ifdef CONFIG_KASAN_TAGS

/* --- Records --- */

/**
 * struct kasan_ring_record - one allocation or free
 * @ptr: the user's pointer to the object, with its tag.
 * @size: bytes asked for; at the free of a slab object the cache's object size.
 * @is_free: true for a free.
 * @track: task and stack.
 */
struct kasan_ring_record {
	uintptr_t ptr;
	size_t size;
	bool is_free;
	struct kasan_track track;
};

/* --- Writing --- */

#define KASAN_RING_BUSY UINT64_MAX
#define KASAN_RING_FREE 0x80000000U

struct kasan_ring_entry {
	uint64_t seq; /* number of its record, from 1 on; 0: never written; KASAN_RING_BUSY */
	uintptr_t ptr;
	struct kasan_track track;
	uint32_t size; /* and KASAN_RING_FREE */
};

#define KASAN_RING_BLOCK_BYTES	 65536UL
#define KASAN_RING_BLOCK_ENTRIES (KASAN_RING_BLOCK_BYTES / sizeof(struct kasan_ring_entry))

/**
 * struct kasan_ring - @mask: the number of entries, a power of two, minus 1
 * @blocks: of KASAN_RING_BLOCK_ENTRIES entries each.
 * @last: number of the newest record. It has a cache line of its own, because all CPUs write it.
 */
struct kasan_ring {
	uint64_t mask;
	struct kasan_ring_entry **blocks;
	uint64_t last __attribute__((__aligned__(64)));
};
extern struct kasan_ring kasan_ring;

/* Hides where a value comes from. Otherwise compilers compute the address of each member anew, and split scaled indices
 * into a shift and a mask. */
#define kasan_ring_keep(value) __asm__("" : "+r"(value))

/** kasan_ring_entry_of() - Return: the entry of record @number in a ring of @mask + 1 entries. */
static inline struct kasan_ring_entry *kasan_ring_entry_of(const struct kasan_ring *ring,
							   uint64_t number, uint64_t mask)
{
	const size_t index = (size_t)(number & mask);
	size_t block = index / KASAN_RING_BLOCK_ENTRIES;

	kasan_ring_keep(block);
	return &ring->blocks[block][index % KASAN_RING_BLOCK_ENTRIES];
}

/**
 * struct kasan_ring_stack - a stack to be recorded. @handle: its name in the depot. @wanted: kasan.stacktrace= is not
 * off.
 */
struct kasan_ring_stack {
	uint32_t handle;
	bool wanted;
};

/** kasan_ring_find() - fill @stack for kasan_ring_write() if that takes no call. @ip, @fp: as for kasan_known_stack().
 *  Return: false if kasan_ring_add() must do it all. */
static kasan_always_inline bool kasan_ring_find(struct kasan_ring_stack *stack, uintptr_t ip,
						uintptr_t fp)
{
#ifdef KASAN_PORT_HAS_TASK_ID
	char *const table = __atomic_load_n(&kasan_known, __ATOMIC_RELAXED);

	stack->wanted = table;
	stack->handle = 0;
	return !table || kasan_likely(kasan_known_stack(table, ip, fp, &stack->handle));
#else
	(void)stack;
	(void)ip;
	(void)fp;
	return false;
#endif
}

/**
 * kasan_ring_put() - record an allocation or free, inline in the hooks of slab objects
 * @size: with KASAN_RING_FREE if it is a free. @track: filled before the call, because an entry must not stay BUSY
 * while a stack is walked.
 *
 * Takes no lock. Before kasan_ring_init(), or without memory for a ring, the record is lost.
 */
static kasan_always_inline void kasan_ring_put(const void *ptr, uint32_t size,
					       struct kasan_track track)
{
	struct kasan_ring *ring = &kasan_ring;
	struct kasan_ring_entry *entry;
	uint64_t mask, number;

	kasan_ring_keep(ring);
	/* With acquire, so that a writer that sees the mask sees the blocks too. */
	mask = __atomic_load_n(&ring->mask, __ATOMIC_ACQUIRE);
	number = __atomic_add_fetch(&ring->last, 1, __ATOMIC_RELAXED);
	entry = kasan_ring_entry_of(ring, number, mask);
	if (kasan_unlikely(__atomic_exchange_n(&entry->seq, KASAN_RING_BUSY, __ATOMIC_ACQUIRE) ==
			   KASAN_RING_BUSY))
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	entry->ptr = (uintptr_t)ptr;
	entry->track = track;
	entry->size = size;
	__atomic_store_n(&entry->seq, number, __ATOMIC_RELEASE);
}

/** kasan_ring_write() - the same with a @stack from kasan_ring_find(), if it is wanted. */
static kasan_always_inline void kasan_ring_write(const void *ptr, uint32_t size,
						 const struct kasan_ring_stack *stack)
{
	struct kasan_track track = {0};

	if (!stack->wanted)
		return;
	kasan_put_track(&track, stack->handle);
	kasan_ring_put(ptr, size, track);
}

/** kasan_ring_add() - the same with the stack that starts at @ip, @fp. */
void kasan_ring_add(const void *ptr, size_t size, bool is_free, uintptr_t ip, uintptr_t fp);

/** kasan_ring_record() - the same for a caller that already has its @track. */
void kasan_ring_record(const void *ptr, size_t size, bool is_free, const struct kasan_track *track);

/* --- Life cycle and reading --- */

/** kasan_ring_init() - get memory for the ring; if there is not enough, try half as much, and so on. */
void kasan_ring_init(void);

/** kasan_ring_entries() - Return: the capacity in records. */
size_t kasan_ring_entries(void);

/** kasan_ring_lives() - does the newest record of the object at @ptr's address say that it was allocated with @ptr's
 *  tag? Walks through the ring, so not for hot paths. */
bool kasan_ring_lives(const void *ptr);

/** kasan_ring_newest() - Return: the number of the newest record; 0: there is none. */
static inline uint64_t kasan_ring_newest(void)
{
	return __atomic_load_n(&kasan_ring.last, __ATOMIC_ACQUIRE);
}

/**
 * struct kasan_ring_cursor - the place of a reader. @number: of the record to read next. @passed: records read.
 */
struct kasan_ring_cursor {
	uint64_t number;
	size_t passed;
};

/** kasan_ring_next() - read the next older record; the first call reads record @cursor->number. Skips records that are
 *  overwritten meanwhile. Return: false if there is none. */
bool kasan_ring_next(struct kasan_ring_cursor *cursor, struct kasan_ring_record *record);

/** kasan_ring_each() - loop over the records from @from on, which is kasan_ring_newest(), now or earlier. */
#define kasan_ring_each(cursor, record, from)                   \
	for (*(cursor) = (struct kasan_ring_cursor){(from), 0}; \
	     kasan_ring_next((cursor), (record));)

#endif /* CONFIG_KASAN_TAGS */
#endif /* KASAN_RING_H */
