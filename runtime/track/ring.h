/* SPDX-License-Identifier: MIT */
/*
 * ring.h - the stack ring: the last allocations and frees of objects on all CPUs.
 *
 * The tag modes keep nothing beside a slab object. Reports look here, by address and pointer tag, for the task that
 * allocated it, its size, and the task that freed it. ring.c says how CPUs share the ring, and how records are ordered.
 */
#ifndef KASAN_RING_H
#define KASAN_RING_H

#include "known.h"
#include "track.h"

extern unsigned int kasan_opt_stack_ring_size; /* kasan.stack_ring_size=, entries */

#ifdef CONFIG_KASAN_TAGS

/* --- Records --- */

/**
 * struct kasan_ring_order - when a record was made: see kasan_ring_newer()
 * @stamp: the ring's epoch then. @place: number of its entry. @is_free: true for a free.
 */
struct kasan_ring_order {
	uint64_t stamp;
	uint32_t place;
	bool is_free;
};

/**
 * struct kasan_ring_record - one allocation or free
 * @ptr: the user's pointer to the object, with its tag.
 * @size: bytes asked for; at the free of a slab object the cache's object size.
 * @track: task and stack.
 */
struct kasan_ring_record {
	uintptr_t ptr;
	size_t size;
	struct kasan_ring_order order;
	struct kasan_track track;
};

/* --- Writing --- */

#define KASAN_RING_FREE 0x80000000U

/**
 * struct kasan_ring_entry - a record as it is stored
 * @stamp: the epoch of its record, from 1 on; 0: it has none, or is being written.
 * @size: and KASAN_RING_FREE.
 * @taken: of the first entry of a segment: some CPU writes there.
 */
struct kasan_ring_entry {
	uint64_t stamp;
	uintptr_t ptr;
	struct kasan_track track;
	uint32_t size, taken;
};

/* The entries that a CPU takes at once. With 16, two CPUs that did nothing but record spent two thirds of their time on the
 * shared words; with 64 a third. Few entries where many CPUs would make a ring of the default size grow. */
#define KASAN_RING_SEGMENT     (CONFIG_KASAN_NR_CPUS <= 256 ? 64U : 16U)
#define KASAN_RING_BLOCK_BYTES 65536UL
#define KASAN_RING_BLOCK_ENTRIES                                                         \
	(KASAN_RING_BLOCK_BYTES / sizeof(struct kasan_ring_entry) / KASAN_RING_SEGMENT * \
	 KASAN_RING_SEGMENT)

/**
 * struct kasan_ring - what all CPUs share, and write once for each segment
 * @epoch: grows with each segment that a CPU takes.
 * @drawn: the segments that CPUs have looked at.
 * @entries: a power of two; 0: there is no memory. @blocks: of KASAN_RING_BLOCK_ENTRIES entries each.
 */
struct kasan_ring {
	uint64_t epoch, drawn;
	size_t entries;
	struct kasan_ring_entry **blocks;
} __attribute__((__aligned__(64)));
extern struct kasan_ring kasan_ring;

/** struct kasan_ring_cpu - the segment that a CPU fills, with interrupts off. @next: where its next record goes; @end: the
 *  segment is full there; @first: its first entry, NULL before the first record. */
struct kasan_ring_cpu {
	struct kasan_ring_entry *next, *end, *first;
} __attribute__((__aligned__(64)));
extern struct kasan_ring_cpu kasan_ring_cpus[CONFIG_KASAN_NR_CPUS];

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
 * @size: with KASAN_RING_FREE if it is a free. @track: filled before the call, because interrupts are off while the entry
 * is written.
 *
 * Takes no lock and calls nothing. Return: false if this CPU needs another segment: kasan_ring_record() must do it.
 */
static kasan_always_inline bool kasan_ring_put(const void *ptr, uint32_t size,
					       struct kasan_track track)
{
	const unsigned long irq = kasan_port_irq_save();
	struct kasan_ring_cpu *const cpu = &kasan_ring_cpus[kasan_port_cpu()];
	struct kasan_ring_entry *const entry = cpu->next;

	if (kasan_unlikely(entry == cpu->end)) {
		kasan_port_irq_restore(irq);
		return false;
	}
	cpu->next = entry + 1;
	__atomic_store_n(&entry->stamp, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	entry->ptr = (uintptr_t)ptr;
	entry->track = track;
	entry->size = size;
	__atomic_store_n(&entry->stamp, __atomic_load_n(&kasan_ring.epoch, __ATOMIC_RELAXED),
			 __ATOMIC_RELEASE);
	kasan_port_irq_restore(irq);
	return true;
}

/** kasan_ring_write() - the same with a @stack from kasan_ring_find(), if it is wanted. */
static kasan_always_inline bool kasan_ring_write(const void *ptr, uint32_t size,
						 const struct kasan_ring_stack *stack)
{
	struct kasan_track track = {0};

	if (!stack->wanted)
		return true;
	kasan_put_track(&track, stack->handle);
	return kasan_likely(kasan_ring_put(ptr, size, track));
}

/** kasan_ring_add() - record an allocation or free with the stack that starts at @ip, @fp. Before kasan_ring_init(), or
 *  without memory for a ring, the record is lost. */
void kasan_ring_add(const void *ptr, size_t size, bool is_free, uintptr_t ip, uintptr_t fp);

/** kasan_ring_record() - the same for a caller that already has its @track. */
void kasan_ring_record(const void *ptr, size_t size, bool is_free, const struct kasan_track *track);

/** kasan_ring_correct() - set the @size in this CPU's newest record, if that is the allocation of the object at @ptr.
 *  Return: false if it is another record, which is left alone. */
static kasan_always_inline bool kasan_ring_correct(const void *ptr, size_t size)
{
	const unsigned long irq = kasan_port_irq_save();
	struct kasan_ring_cpu *const cpu = &kasan_ring_cpus[kasan_port_cpu()];
	struct kasan_ring_entry *const next = cpu->next;
	const bool found = next != cpu->first && next[-1].ptr == (uintptr_t)ptr &&
			   !(next[-1].size & KASAN_RING_FREE);

	/* Readers take either size, so the stamp stays. */
	if (kasan_likely(found))
		__atomic_store_n(&next[-1].size, (uint32_t)size, __ATOMIC_RELAXED);
	kasan_port_irq_restore(irq);
	return found;
}

/* --- Life cycle and reading --- */

/** kasan_ring_init() - get memory for the ring; if there is not enough, try half as much, and so on. */
void kasan_ring_init(void);

/** kasan_ring_entries() - Return: the capacity in records. */
size_t kasan_ring_entries(void);

/** kasan_ring_lives() - does the newest record of the object at @ptr's address say that it was allocated with @ptr's
 *  tag? Walks through the ring, so not for hot paths. */
bool kasan_ring_lives(const void *ptr);

/* For a reader that takes all records. */
#define KASAN_RING_NOW UINT64_MAX

/** kasan_ring_mark() - Return: a stamp that all records so far have at most, and all later ones exceed. For reports. */
uint64_t kasan_ring_mark(void);

/**
 * kasan_ring_newer() - was record @a made after record @b?
 * @free_first: the answer if two CPUs have made them at about the same time, and one is an allocation and the other a
 * free: is the free the newer one?
 *
 * A record whose maker knew of the other one, because the object went from CPU to CPU, never looks older than that.
 */
static inline bool kasan_ring_newer(const struct kasan_ring_order *a,
				    const struct kasan_ring_order *b, bool free_first)
{
	if (a->stamp != b->stamp)
		return a->stamp > b->stamp;
	/* A CPU takes no two segments in one epoch. */
	if (a->place / KASAN_RING_SEGMENT == b->place / KASAN_RING_SEGMENT)
		return a->place > b->place;
	return a->is_free != b->is_free && a->is_free == free_first;
}

/** kasan_ring_next() - read the next record, in no order, that is not newer than @newest: see kasan_ring_mark(). @place:
 *  where to look first; moves on. Skips records that are overwritten meanwhile. Return: false if there is none. */
bool kasan_ring_next(size_t *place, struct kasan_ring_record *record, uint64_t newest);

/** kasan_ring_each() - loop over the records that are not newer than @newest, in no order. */
#define kasan_ring_each(place, record, newest) \
	for (*(place) = 0; kasan_ring_next((place), (record), (newest));)

#endif /* CONFIG_KASAN_TAGS */
#endif /* KASAN_RING_H */
